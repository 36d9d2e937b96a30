//===- RankPasses.td - A part of the graph for each rank ---*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stage between Import and Plan, for models on several ranks.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RANK_PASSES
#define GIST_RANK_PASSES

include "mlir/Pass/PassBase.td"

def SplitRanksPass : Pass<"gist-split-ranks", "::mlir::ModuleOp"> {
  let summary = "leave the part of a model that one of several ranks has";
  let description = [{
    Heads of attention and columns between two products are shared out. Rank
    `rank` of `ranks` keeps the weights of its own. The product that sums over
    what was shared out gives a part of the sum, and `gist.all_reduce` follows:

    ```mlir
    %wq = gist.weight "q" : tensor<576x576xf32>   // and k, v, attention
    %wo = gist.weight "o" : tensor<576x576xf32>
    %y = linalg.matmul ins(%heads, %wo : tensor<?x576xf32>, tensor<576x576xf32>) ...
    // becomes on rank 0 of 2
    gist.weight_part @"q[0:384]" of "q" axis 0 offset 0 size 384
    %wq = gist.weight "q[0:384]" : tensor<384x576xf32>
    gist.weight_part @"o[:, 0:384]" of "o" axis 1 offset 0 size 384
    %part = linalg.matmul ins(%heads, %wo : tensor<?x384xf32>, tensor<576x384xf32>) ...
    %y = gist.all_reduce %part : tensor<?x576xf32>
    ```

    A rank has whole KV heads with all their queries, or, where ranks are more
    than KV heads, some of the queries of one: then several ranks keep the same
    keys and values. Shares need not be equal. The rows of the product with the
    vocabulary are shared out too, and gathered. What a plan in the module says
    of heads is said of the rank's own.

    What cannot be shared out, because there are more ranks than heads or because
    blocks of weights would be cut, every rank computes whole.
  }];
  let options = [
    Option<"rank", "rank", "int64_t", /*default=*/"0", "which rank's part">,
    Option<"ranks", "ranks", "int64_t", /*default=*/"1",
           "how many ranks there are">,
  ];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

#endif // GIST_RANK_PASSES
