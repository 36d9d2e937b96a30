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

#endif // GIST_PASSES
