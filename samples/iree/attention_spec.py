#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a transform spec that lets attention in other programs for
IREE call our kernel on the CPU.

    attention_spec.py --heads 12 --size 64 -o spec
    iree-compile model.mlir --iree-preprocessing-transform-spec-filename=spec/spec.mlir \\
        --iree-hal-executable-object-search-path=spec ...

iree-turbine keeps scaled_dot_product_attention as iree_linalg_ext.attention.
The spec replaces those ops that have this number of heads and this head size,
the scale 1/sqrt(size), f32 and no mask; all others stay as they are.
"""

import argparse
import math
import re
import subprocess
from pathlib import Path

GRAPH = """
func.func @attention(%q: tensor<?xHxDxf32>, %k: tensor<?xHxDxf32>, %v: tensor<?xHxDxf32>) -> tensor<?xHxDxf32> {
  %o = gist.attention %q, %k, %v : tensor<?xHxDxf32>, tensor<?xHxDxf32>, tensor<?xHxDxf32>
  return %o : tensor<?xHxDxf32>
}
"""

# Attention of IREE has heads first, ours has tokens first.
CALL = """
util.func private @gist_attention(%q: tensor<Hx?xDxf32>, %k: tensor<Hx?xDxf32>, %v: tensor<Hx?xDxf32>, %o: tensor<Hx?xDxf32>) -> tensor<Hx?xDxf32> {
  %c1 = arith.constant 1 : index
  %t = tensor.dim %q, %c1 : tensor<Hx?xDxf32>
  %s = tensor.dim %k, %c1 : tensor<Hx?xDxf32>
  %et = tensor.empty(%t) : tensor<?xHxDxf32>
  %es = tensor.empty(%s) : tensor<?xHxDxf32>
  %eo = tensor.empty(%t) : tensor<Hx?xDxf32>
  %qt = linalg.transpose ins(%q : tensor<Hx?xDxf32>) outs(%et : tensor<?xHxDxf32>) permutation = [1, 0, 2]
  %kt = linalg.transpose ins(%k : tensor<Hx?xDxf32>) outs(%es : tensor<?xHxDxf32>) permutation = [1, 0, 2]
  %vt = linalg.transpose ins(%v : tensor<Hx?xDxf32>) outs(%es : tensor<?xHxDxf32>) permutation = [1, 0, 2]
  %r = util.call @gist_attention_by_tokens(%qt, %kt, %vt) : (tensor<?xHxDxf32>, tensor<?xHxDxf32>, tensor<?xHxDxf32>) -> tensor<?xHxDxf32>
  %rt = linalg.transpose ins(%r : tensor<?xHxDxf32>) outs(%eo : tensor<Hx?xDxf32>) permutation = [1, 0, 2]
  util.return %rt : tensor<Hx?xDxf32>
}
"""

# In the generic form: the other one changes from release to release.
MATCH = """
transform.named_sequence @match(%root: !transform.any_op {transform.readonly}) -> (!transform.any_value, !transform.any_value) {
  %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %root {
  ^bb0(%q: tensor<Hx?xDxf32>, %k: tensor<Hx?xDxf32>, %v: tensor<Hx?xDxf32>, %o: tensor<Hx?xDxf32>):
    %scale = arith.constant SCALE : f32
    %r = "iree_linalg_ext.attention"(%q, %k, %v, %scale, %o) <{
        indexing_maps = [affine_map<(b, m, n, k1, k2) -> (b, m, k1)>, affine_map<(b, m, n, k1, k2) -> (b, k2, k1)>,
                         affine_map<(b, m, n, k1, k2) -> (b, k2, n)>, affine_map<(b, m, n, k1, k2) -> ()>,
                         affine_map<(b, m, n, k1, k2) -> (b, m, n)>]}> ({
      ^bb0(%score: f32):
        "iree_linalg_ext.yield"(%score) : (f32) -> ()
    }) : (tensor<Hx?xDxf32>, tensor<Hx?xDxf32>, tensor<Hx?xDxf32>, f32, tensor<Hx?xDxf32>) -> tensor<Hx?xDxf32>
  } : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
  transform.yield %ins, %outs : !transform.any_value, !transform.any_value
}
transform.named_sequence @call(%ins: !transform.any_value {transform.readonly}, %out: !transform.any_value {transform.readonly}) {
  %root = transform.get_defining_op %out : (!transform.any_value) -> !transform.any_op
  %module = transform.util.get_nearest_symbol_table %root : (!transform.any_op) -> !transform.any_op
  %code = transform.util.import_symbol @gist_kernels into %module if undefined : (!transform.any_op) -> !transform.any_op
  %tokens = transform.util.import_symbol @gist_attention_by_tokens into %module if undefined : (!transform.any_op) -> !transform.any_op
  %func = transform.util.import_symbol @gist_attention into %module if undefined : (!transform.any_op) -> !transform.any_op
  transform.util.cast_and_call %func(%ins) -> %out after %root {
    transform.type_conversion.tensor.cast_shape_dynamic_dims
  } : (!transform.any_op, !transform.any_value, !transform.any_value, !transform.any_op) -> !transform.any_op
  transform.yield
}
transform.named_sequence @__transform_main(%module: !transform.any_op) {
  %funcs = transform.structured.match ops{["util.func"]} in %module : (!transform.any_op) -> !transform.any_op
  transform.foreach %funcs : !transform.any_op {
  ^bb1(%func: !transform.any_op):
    transform.foreach_match in %func @match -> @call : (!transform.any_op) -> (!transform.any_op)
  }
  transform.apply_dce to %module : !transform.any_op
  transform.yield
}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--heads", type=int, required=True)
    parser.add_argument("--size", type=int, required=True,
                        help="numbers of a head")
    parser.add_argument("--gist-compile", default="gist-compile")
    parser.add_argument("-o", "--output", type=Path, required=True,
                        help="folder for spec.mlir and its code")
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)

    def fill(text):
        scale = f"{1 / math.sqrt(args.size):.9e}"
        return (text.replace("xHx", f"x{args.heads}x")
                .replace("<Hx", f"<{args.heads}x")
                .replace("xDx", f"x{args.size}x").replace("SCALE", scale))

    graph = args.output / "attention.mlir"
    graph.write_text(fill(GRAPH))
    program = args.output / "kernels.mlir"
    subprocess.run([args.gist_compile, graph, "--emit=iree", "--progress=off",
                    "--kernels=embedded", "-o", program], check=True)
    head, body = program.read_text().split("module {\n", 1)
    body = body.rstrip()[:-1]  # the brace that ends the module
    body = body.replace("func.func @attention(",
                        "util.func private @gist_attention_by_tokens(")
    body = re.sub(r"\n    return ", "\n    util.return ", body)
    (args.output / "spec.mlir").write_text(
        head + "module attributes {transform.with_named_sequence} {\n" + body +
        fill(CALL) + fill(MATCH) + "}\n")


if __name__ == "__main__":
    main()
