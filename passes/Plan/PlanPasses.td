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
    other layers or heads than the model's. The plan `calibration` has room for
    every other.
  }];
  let options = [
    Option<"plan", "plan", "std::string", /*default=*/"", "the plan's file, or 'calibration'">,
    Option<"block", "block", "int64_t", /*default=*/"0", "tokens of a block, in place of the plan's">,
  ];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def InsertSelectionsPass : Pass<"gist-insert-selections", "::mlir::ModuleOp"> {
  let summary = "select representatives where a plan asks for them";
  let description = [{
    Before the attention of every layer for which the plan has a selection, the
    tokens are selected: on the residual stream, on the rows that queries are
    projected from, or on the keys of each KV head. Attention itself stays as
    it is; -gist-attend-on-representatives reads the selections.

    ```mlir
    %s0 = gist.gram_select %x0, 3.0e-1 against all causal : tensor<?x576xf32>
    %o0 = gist.attention %q0, %k0, %v0 causal : ...
    ...
    %s1, %gone, %new = gist.cascade_update %x1, %s0, 3.0e-1 rule paper : ...
    %o1 = gist.attention %q1, %k1, %v1 causal : ...
    ```

    With a `k` on normalised rows a selection gets their coefficients in the
    basis of the linear layers that read them, and the norms of the rest
    (`subspace`): pairs that this bound decides are not computed in full.

    How many representatives there are, and how many the layer before had or had
    not, are kept as statistics: `representatives`, `removed` and `added`, for
    each layer and head.

    The residual stream is what is added again to what attention gives; the rows
    that queries are projected from are found behind them. Refused are attention
    that reads a KV cache (it does not see the whole sequence), has a mask, a
    window or offsets, a plan with another number of layers or heads, and a rule
    that inherits where nothing was selected before.
  }];
  let options = [
    Option<"plan", "plan", "std::string", /*default=*/"", "the plan's file">,
  ];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def AttendOnRepresentativesPass
    : Pass<"gist-attend-on-representatives", "::mlir::ModuleOp"> {
  let summary = "let attention work on the representatives of a plan";
  let description = [{
    ```mlir
    %o = gist.attention %q, %k, %v causal : ...
    // becomes
    %o = gist.attend %q, %k, %v on %s mode keys causal window 128 block 128 : ...
    ```

    with the selection of the layer, or the last one before it.
  }];
  let options = [
    Option<"plan", "plan", "std::string", /*default=*/"", "the plan's file">,
  ];
  let dependentDialects = ["::gist::GistDialect"];
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
