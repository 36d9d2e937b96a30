//===- PlanPasses.td - Passes that follow a plan -----------*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PLAN_PASSES
#define GIST_PLAN_PASSES

include "mlir/Pass/PassBase.td"

def ClusterCachePass : Pass<"gist-cluster-cache", "::mlir::ModuleOp"> {
  let summary = "give a decoder the cache that a plan asks for";
  let description = [{
    Replaces the KV cache of every function by a cache of clusters, and attention
    on rows by attention on that cache:

    ```mlir
    %k1 = tensor.insert_slice %k into %k_cache[3, %past, 0, 0] ...
    %v1 = tensor.insert_slice %v into %v_cache[3, %past, 0, 0] ...
    %o = gist.attention %q, %all_k, %all_v causal : ...
    // becomes
    %heads = gist.weight "plan.heads" : tensor<30x3x8xf32>
    %n:5 = gist.cluster_update %k, %v, %heads, %past, %c3 into(...) block 128 : ...
    %o = gist.cluster_attention %q, %heads, %past, %c3 on(...) block 128 : ...
    ```

    Which head keeps what is in the weight, so the graph is the same for every
    plan but for the sizes of the cache. Attention that is not causal, has a
    window or a mask, or does not read a cache is refused, and so is a plan with
    other layers or heads than the model's.
  }];
  let options = [
    Option<"plan", "plan", "std::string", /*default=*/"", "the plan's file">,
  ];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def GateLinearsPass : Pass<"gist-gate-linears", "::mlir::ModuleOp"> {
  let summary = "let linear layers read less, as a plan says";
  let description = [{
    Linear layers that read the same rows become one gated projection, or read
    weights in fewer bits:

    ```mlir
    %q = linalg.matmul … ins(%x, %wq : …)
    %k = linalg.matmul … ins(%x, %wk : …)
    // becomes, with a gate,
    %y:2, %level = gist.gated_projection %x, %v, 1.0e-1
        weights(%wq, %wk : …) images(%mq, %mk : …) : …
    // and with bits alone
    %b = gist.weight "blk.0.attn_q.weight.q3_1" {gist.made = …} : tensor<576x18x16xi8>
    %w = gist.dequantize %b format q3_1 : tensor<576x18x16xi8>
    %q = linalg.matmul … ins(%x, %w : …)
    ```

    With bits and a subspace without a gate, the error of the rounded weight in
    the subspace is added again: two thin products more.

    Weights that the model does not have say how they are made. How many rows
    took which level of a gate is counted in the state `gates`, layers x groups
    x 3. A plan for another number of layers, a subspace of more dimensions than
    the rows have, and a basis that is of another size or not orthonormal are
    refused.
  }];
  let options = [
    Option<"plan", "plan", "std::string", /*default=*/"", "the plan's file">,
  ];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

#endif // GIST_PLAN_PASSES
