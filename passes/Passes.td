//===- Passes.td - Every pass, in the order it runs --------*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES
#define GIST_PASSES

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Import
//===----------------------------------------------------------------------===//

def WeightsToArgumentsPass
    : Pass<"gist-weights-to-arguments", "::mlir::func::FuncOp"> {
  let summary = "take weights from the caller instead of the model file";
  let description = [{
    Makes a graph that can be executed by itself, for tests and for other
    compilers. Arguments are appended in the order in which weights are named
    first, one for each name.

    ```mlir
    func.func @f(%x: tensor<?x8xf32>) -> tensor<4x8xf32> {
      %w = gist.weight "w" : tensor<4x8xf32>
      return %w : tensor<4x8xf32>
    }
    // becomes
    func.func @f(%x: tensor<?x8xf32>, %w: tensor<4x8xf32> {gist.name = "w"})
        -> tensor<4x8xf32> {
      return %w : tensor<4x8xf32>
    }
    ```

    A name that stands for two types is an error. Calls are not rewritten.
  }];
  let dependentDialects = ["::gist::GistDialect"];
}

//===----------------------------------------------------------------------===//
// Reference: the meaning of the ops
//===----------------------------------------------------------------------===//

def DecomposePass : Pass<"gist-decompose"> {
  let summary = "replace gist ops by their executable definition";
  let description = [{
    Turns every gist op into linalg, tensor, scf, arith and math: what the op
    means, written for clarity and not for speed. Every target is tested
    against it.

    ```mlir
    %s = gist.gram_select %x, 3.0e-1 : tensor<?x64xf32>
    %ids, %count, %nearest, %weight = gist.unpack_selection %s : !gist.selection<?>
    // becomes loops over tensors that compute %ids, %count, %nearest, %weight
    ```

    A selection that enters or leaves the function through its signature, or
    through an op of another dialect, has no tensors to become and is an error.
    `gist.weight` is left alone: its content is in the model file.
  }];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"
  ];
}

//===----------------------------------------------------------------------===//
// Graph: kernels
//===----------------------------------------------------------------------===//

def FormKernelsPass : Pass<"gist-form-kernels", "::mlir::ModuleOp"> {
  let summary = "cut a model into kernels and calls of them";
  let description = [{
    Turns every function into calls (`gist.dispatch`) of kernels, private
    functions on tensors whose last arguments are destinations. A product,
    attention or selection takes the elementwise ops that follow it: bias,
    activation, residual. Norms, rotary embeddings and other work on rows
    become one kernel each. Rows written into the KV cache are written in place.

    ```mlir
    %p = linalg.matmul ... ins(%x, %w : ...) outs(%zero : ...) -> tensor<?x96xf32>
    %y = linalg.generic ... ins(%p, %bias : ...) outs(%e : ...)
    // becomes
    %y = gist.dispatch @matmul_0(%x, %w, %bias : ...) outs(%e : ...)
    ```

    Weights and the layer are arguments and equal kernels are kept once, so that
    the number of kernels does not grow with depth. A result that is read more
    than once ends a kernel. Remarks of the category `gist-form-kernels` say why
    an op was not fused.
  }];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// Emit: the module file
//===----------------------------------------------------------------------===//

def PlanMemoryPass : Pass<"gist-plan-memory", "::mlir::ModuleOp"> {
  let summary = "give every destination a place in the arena";
  let description = [{
    Replaces the `tensor.empty` destinations of kernel calls by `gist.arena`:
    places in one piece of scratch memory, shared by what does not live at the
    same time. Sizes and offsets are polynomials in the tokens of the call, the
    tokens before it and the capacity; the function's attribute
    `gist.arena_size` is their total. The KV cache is updated where it is, and
    results of the function stay `tensor.empty`: the caller has memory for them.

    ```mlir
    %e = tensor.empty(%t) : tensor<?x576xf32>
    // becomes
    %e = gist.arena(%t) at affine_map<()[s0, s1, s2] -> (s0 * 2304)> : tensor<?x576xf32>
    ```
  }];
  let dependentDialects = ["::gist::GistDialect"];
}

#endif // GIST_PASSES
