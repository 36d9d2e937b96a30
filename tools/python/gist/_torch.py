"""Models in PyTorch: exported by torch-mlir, compiled, and called with tensors."""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ._compile import compile
from ._errors import BadArgumentError, CompileError, UnsupportedError
from ._model import Model

# The name of the function, and so of the module's entry.
_ENTRY = "main"


class TorchModel:
    """A model of PyTorch that is compiled. It is called as the model was.

    `model` is the module: its targets, its plan, its sessions.
    """

    def __init__(self, model: Model, rebuild: Callable[[list[Any]], Any]) -> None:
        self.model = model
        self._session = model.session()
        self._rebuild = rebuild

    def __call__(self, *inputs: Any) -> Any:
        torch = _import("torch")
        arrays = [value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else value for value in inputs]
        results = self._session.call(_ENTRY, *arrays)
        # The runtime's memory is not to be written; a tensor is.
        return self._rebuild([torch.from_numpy(array.copy()) for array in results])

    def __repr__(self) -> str:
        return f"<gist.TorchModel {self.model!r}>"


def from_torch(
    module: Any,
    example_inputs: Any,
    *,
    dynamic: bool | Any = False,
    output: str | os.PathLike[str] | None = None,
    plan: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    target: str | Sequence[str] = "cpu",
    context: int = 0,
    options: Sequence[str] = (),
) -> TorchModel:
    """Compiles a `torch.nn.Module`, or what `torch.export.export` made of one.

    `example_inputs` is a tensor or a tuple of tensors, as the module is called.
    With `dynamic=True` the first dimension of them that is not one may have any
    size later: the number of tokens. `dynamic` may also be what `torch.export`
    calls `dynamic_shapes`. `context` is the largest number of tokens.

    `output`, `plan`, `target` and `options` are those of `compile`. Weights are
    taken as they are now.

    Needs the packages torch and torch-mlir. What they or the compiler refuse is a
    `CompileError`.
    """
    torch = _import("torch")
    inputs = tuple(example_inputs) if isinstance(example_inputs, (tuple, list)) else (example_inputs,)
    if isinstance(module, torch.export.ExportedProgram):
        program = module
    else:
        program = _export(torch, module, inputs, dynamic)
    text, rebuild = _lower(torch, program)
    with tempfile.TemporaryDirectory(prefix="gist-") as folder:
        path = Path(folder, "torch.mlir")
        path.write_text(text)
        model = compile(path, output, plan=plan, target=target, context=context, options=options)
    return TorchModel(model, rebuild)


def torch_backend(graph: Any, example_inputs: list[Any]) -> Callable[..., Any]:
    """A backend of `torch.compile`: `torch.compile(model, backend="gist", dynamic=False)`.

    For inference: parameters are taken as they are when a graph is compiled.
    """
    torch = _import("torch")
    if not all(isinstance(value, torch.Tensor) for value in example_inputs):
        raise UnsupportedError("the graph has sizes as inputs; call torch.compile with dynamic=False")
    names = [node.name for node in graph.graph.nodes if node.op == "placeholder"]
    # Parameters and buffers of the model come as inputs.
    frozen = {
        i: value.detach()
        for i, (name, value) in enumerate(zip(names, example_inputs))
        if isinstance(value, torch.nn.Parameter) or "_buffers_" in name
    }
    free = [value for i, value in enumerate(example_inputs) if i not in frozen]

    class Bound(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.graph_module = graph
            for i, value in frozen.items():
                self.register_buffer(f"given_{i}_{names[i]}", value)

        def forward(self, *inputs: Any) -> Any:
            rest = iter(inputs)
            return self.graph_module(
                *(
                    getattr(self, f"given_{i}_{name}") if i in frozen else next(rest)
                    for i, name in enumerate(names)
                )
            )

    compiled = from_torch(Bound().eval(), tuple(free))

    def run(*inputs: Any) -> Any:
        with torch.no_grad():
            return compiled(*(value for i, value in enumerate(inputs) if i not in frozen))

    return run


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        wanted = name.split(".")[0]
        package = wanted.replace("_", "-")
        missing = (error.name or wanted).split(".")[0]
        if missing != wanted:
            # The package is there, and something that it imports is not.
            raise CompileError(
                f"the package {package} needs the package {missing}: pip install {missing}"
            ) from error
        raise CompileError(f"models of PyTorch need the package {package}: pip install {package}") from error


def _export(torch: Any, module: Any, inputs: tuple[Any, ...], dynamic: bool | Any) -> Any:
    shapes = dynamic
    if dynamic is True:
        # Whatever torch.export finds out about the sizes; looked at below.
        shapes = tuple(
            {_tokens_of(value): torch.export.Dim.AUTO} if isinstance(value, torch.Tensor) and value.ndim else None
            for value in inputs
        )
    try:
        with torch.no_grad():
            program = torch.export.export(module, inputs, dynamic_shapes=shapes or None)
    except Exception as error:
        raise CompileError(f"torch.export refused the model: {error}") from error
    if dynamic is True and not program.range_constraints:
        raise CompileError(
            "torch.export made the model one for the size of the example alone; "
            "somewhere it depends on the number of tokens"
        )
    return program


def _tokens_of(value: Any) -> int:
    """The first dimension that is not one; the last where all are."""
    return next((i for i, size in enumerate(value.shape) if size != 1), int(value.ndim) - 1)


def _lower(torch: Any, program: Any) -> tuple[str, Callable[[list[Any]], Any]]:
    """The program as linalg on tensors, and what makes its results of tensors."""
    fx = _import("torch_mlir.fx")
    decompositions = _import("torch_mlir.extras.fx_decomp_util").get_decomposition_table()
    # torch-mlir has another constant in it: docs/upstream/torch-mlir-gelu-tanh.py.
    decompositions.update(_import("torch._decomp").get_decompositions([torch.ops.aten.gelu.default]))
    try:
        program = program.run_decompositions(decompositions)
        signature = program.graph_signature
        if signature.buffers_to_mutate or signature.user_inputs_to_mutate:
            raise UnsupportedError("the model changes its buffers or inputs, which a compiled one does not do")
        # torch-mlir looks for all buffers there: docs/upstream/torch-mlir-buffers.py.
        for name in signature.inputs_to_buffers.values():
            if name not in program.state_dict:
                program.state_dict[name] = program.constants[name]
        lowered = fx.export_and_import(
            program,
            output_type="linalg-on-tensors",
            decomposition_table={},
            func_name=_ENTRY,
            hooks=_name_weights(program),
        )
    except UnsupportedError:
        raise
    except Exception as error:
        raise CompileError(f"torch-mlir refused the model: {error}") from error
    spec = program.call_spec.out_spec
    outputs = len(signature.user_outputs)
    if spec.num_leaves != outputs:
        raise UnsupportedError("the model gives something that is not a tensor")

    def rebuild(tensors: list[Any]) -> Any:
        if len(tensors) != outputs:
            raise BadArgumentError(f"the module gives {len(tensors)} results; the model gives {outputs}")
        return torch.utils._pytree.tree_unflatten(tensors, spec)

    return str(lowered), rebuild


def _name_weights(program: Any) -> Any:
    """Hooks for torch-mlir that keep the names of parameters and buffers.

    They also take the numbers as they are: torch-mlir makes a list of Python of
    each tensor.
    """
    importer = _import("torch_mlir.extras.fx_importer")
    ir = _import("torch_mlir.ir")
    known = {
        id(value): (name, np.ascontiguousarray(value.detach().cpu().numpy()))
        for name, value in program.state_dict.items()
        # bf16 and the like have no array.
        if value.dtype.is_floating_point and value.dtype.itemsize != 1 and str(value.dtype) == "torch.float32"
    }

    class Hooks(importer.FxImporterHooks):  # type: ignore[misc, name-defined]
        def resolve_literal(self, gni: Any, literal: Any, info: Any) -> Any:
            name, array = known.get(id(literal), ("", None))
            if array is None or array.size < 2:
                return None
            attribute = ir.DenseResourceElementsAttr.get_from_buffer(
                array, name, ir.RankedTensorType.get(list(array.shape), ir.F32Type.get())
            )
            kind = gni._cc.tensor_to_vtensor_type(literal)
            literal_op = ir.Operation.create(
                "torch.vtensor.literal", results=[kind], attributes={"value": attribute}
            )
            return literal_op.result

    return Hooks()
