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
    what was shared out reads all of it, and gives some of its columns:

    ```mlir
    %wq = gist.weight "q" : tensor<576x576xf32>   // and k, v, attention
    %wo = gist.weight "o" : tensor<576x576xf32>
    %y = linalg.matmul ins(%heads, %wo : tensor<?x576xf32>, tensor<576x576xf32>) ...
    // becomes on rank 0 of 2
    gist.weight_part @"q[0:384]" of "q" axis 0 offset 0 size 384
    %wq = gist.weight "q[0:384]" : tensor<384x576xf32>
    gist.weight_part @"o[0:288]" of "o" axis 0 offset 0 size 288
    %wo = gist.weight "o[0:288]" : tensor<288x576xf32>
    %all = gist.all_gather %heads columns [384, 192] : tensor<?x384xf32>
    %part = linalg.matmul ins(%all, %wo : tensor<?x576xf32>, tensor<288x576xf32>) ...
    %y = gist.all_gather %part columns [288, 288] : tensor<?x288xf32>
    ```

    So every number is the same product of the same rows as on one rank. With
    `sums` the product reads the rank's own part and gives a part of the sum,
    with half as many exchanges, in another order of additions:

    ```mlir
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
    Option<"sums", "sums", "bool", /*default=*/"false",
           "add parts of products instead of gathering what they read">,
  ];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def SplitStagesPass : Pass<"gist-split-stages", "::mlir::ModuleOp"> {
  let summary = "leave the layers of a model that one of several stages has";
  let description = [{
    Stage `stage` of `stages` keeps some of the layers, with their weights and
    their part of the cache. What the first of them reads comes from the stage
    before, and what the last gives goes to the next one:

    ```mlir
    // on stage 1 of 2
    %x = gist.hand_on %shape from 0 to 1 : tensor<?x576xf32>
    ... layers 15 to 29, and logits
    %logits = gist.hand_on %own from 1 to 0 : tensor<1x49152xf32>
    ```

    Every stage has the same `gist.hand_on` in the same order, also those that do
    not concern it. Logits go to the first stage, where tokens are drawn. On the
    other stages a placeholder for them is made of values that the stage has.

    What a plan in the module says of layers is said of the stage's own.
  }];
  let options = [
    Option<"stage", "stage", "int64_t", /*default=*/"0", "which stage's part">,
    Option<"stages", "stages", "int64_t", /*default=*/"1",
           "how many stages there are">,
  ];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

#endif // GIST_RANK_PASSES
