//===- RaisePasses.td - Passes on other people's graphs ----*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_RAISEPASSES
#define GIST_PASSES_IMPORT_RAISEPASSES

include "mlir/Pass/PassBase.td"

def RaiseAttentionPass
    : Pass<"gist-raise-attention", "::mlir::func::FuncOp"> {
  let summary = "find attention in linalg, as torch-mlir writes it";
  let description = [{
    Two products with a softmax between them become `gist.attention`, which plans
    and kernels know. Heads are what the products call a batch; transposes bring
    the tensors to tokens x heads x width and back.

    ```mlir
    %s = linalg.batch_matmul ins(%q, %k : tensor<4x12x8xf32>, tensor<4x8x12xf32>) ...
    // scaled, masked, and as softmax: the maximum and the sum of each row
    %o = linalg.batch_matmul ins(%p, %v : tensor<4x12x12xf32>, tensor<4x12x8xf32>) ...
    // becomes
    %o = gist.attention %qt, %kt, %vt causal scale 3.53553385e-01
        : tensor<12x4x8xf32>, tensor<12x4x8xf32>, tensor<12x4x8xf32>
    ```

    Scores may be multiplied or divided by constants, and then masked: by adding a
    mask of queries x keys, or by choosing -infinity where a mask of booleans says
    so. A mask that is computed as "the key is not after the query" is `causal`,
    if there are as many keys as queries; any other mask is an operand.

    A query that sees no key is zero in `gist.attention`, as it is in
    `scaled_dot_product_attention`; a softmax that is written out makes it NaN.

    What differs in anything is left as it was: other element types than f32,
    scores that are scaled after they are masked, masks that differ by head,
    products that accumulate. So are graphs with a dynamic number of tokens:
    torch-mlir writes broadcasts there whose sizes cannot be compared.
  }];
  let dependentDialects = ["::gist::GistDialect"];
}

#endif // GIST_PASSES_IMPORT_RAISEPASSES
