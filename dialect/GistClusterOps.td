//===- GistClusterOps.td - A KV cache of clusters ----------*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist.attend mode keys` as it runs with a cache, call by call: tokens that
// leave the window of a KV head join its clusters. The state is
//
//   keys, values  R x D    rows in two regions per layer and KV head: a ring of
//                          the tokens kept exactly, then the means of clusters
//   units         N x D    the key that founded each cluster, of norm one
//   weights       N        how many tokens a cluster stands for
//   counts        L x H    the number of clusters
//
// and `heads`, L x H x 8, says for each layer and KV head
//
//   0  first row of the ring         4  the most clusters that fit
//   1  rows of the ring              5  window; negative: all tokens are exact
//   2  first row of the means        6  sinks; negative: clusters
//   3  first unit and weight         7  theta; 2 + share: drawn at random
//
// A call never crosses a multiple of `block` but at its start. With past tokens
// before it, the tokens from e = max(0, floor(past / block) * block - window)
// on are exact, and those before e are in clusters.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_CLUSTER_OPS
#define GIST_CLUSTER_OPS

include "dialect/GistDialect.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

def Gist_CacheNumber : AnyTypeOf<[F32, F16], "f32 or f16">;
def Gist_CacheRows : TensorRankOf<[Gist_CacheNumber], [2]>;
def Gist_CacheHeads : TensorRankOf<[Gist_CacheNumber], [3]>;
def Gist_CacheTable : TensorRankOf<[F32], [3]>;
def Gist_Block : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit integer">;

def Gist_ClusterUpdateOp : Op<Gist_Dialect, "cluster_update", [
    Pure, DestinationStyleOpInterface,
    AllTypesMatch<["keys", "new_keys"]>, AllTypesMatch<["values", "new_values"]>,
    AllTypesMatch<["units", "new_units"]>,
    AllTypesMatch<["weights", "new_weights"]>,
    AllTypesMatch<["counts", "new_counts"]>]> {
  let summary = "put tokens into a cache of clusters";
  let description = [{
    For every KV head, first, where `past` is a positive multiple of `block` and
    the head has a window, the tokens t from max(0, past - block - window) up to
    but not including max(0, past - window) are absorbed in ascending order.
    With x the key of t, kept in row t mod (rows of the ring) of the ring, and
    c[j] = dot(unit[j], x) / |x| for the existing clusters,

    - t joins the cluster with the largest c, ties to the smallest, if c >=
      theta: the means of keys and of values become (n m + x) / (n + 1) and n
      becomes n + 1;
    - otherwise it founds a cluster: unit x / |x|, means x and its value, n = 1;
    - or, where there is no room for one more, joins the one with the largest c.

    A key that holds a NaN, or whose norm is zero or not finite, has no c: it
    founds a cluster of unit zero, or is dropped where there is no room.

    With `sinks` >= 0 the first `sinks` tokens found clusters, and the others are
    dropped.

    With theta = 2 + share, theta is compared not with c but with 2 + u, where u
    in [0, 1) is a fixed hash of t: that share of the tokens found clusters
    whatever their keys are, and the others join the nearest one. It is the
    baseline for choosing clusters well. u is the upper 22 bits of the finalizer
    of MurmurHash3 (32 bits) of t; it is 0 for t = 0, so that there always is a
    cluster to join.

    Then the keys and values of this call go into the ring, token past + i into
    row (past + i) mod (rows of the ring). With `absorbed` that is all: a
    `gist.cluster_absorb` has done the rest for every layer.

    This makes the clusters of `gist.gram_select against kept similarity signed`
    on the keys, where there is room, and the counts and means that `gist.attend
    mode keys` gives them.

    Numerics: dot products, norms and means in f32; units and means are rounded
    to the element type of the cache, means once per call or more often.

    Constraints:
      * (C1) Keys and values of the call agree with the cache in head size and
        element type, and with each other in tokens and heads.
      * (C2) `heads` is layers x KV heads x 8, `counts` layers x KV heads.
      * (C3) `units` has rows of the key's size and as many as `weights`.
      * (C4) `block` is positive.

    Example:

    ```mlir
    %k2, %v2, %u2, %w2, %c2 = gist.cluster_update %key, %value, %heads, %past, %layer
        into(%k, %v, %u, %w, %c) block 128
        : tensor<?x3x64xf16>, tensor<?x3x64xf16>, tensor<30x3x8xf32>, tensor<9216x64xf16>,
          tensor<9216x64xf16>, tensor<4096x64xf16>, tensor<4096xf32>, tensor<30x3xi32>
    ```
  }];
  let arguments = (ins
    Gist_CacheHeads:$key, Gist_CacheHeads:$value, Gist_CacheTable:$heads,
    Index:$past, Index:$layer,
    Gist_CacheRows:$keys, Gist_CacheRows:$values, Gist_CacheRows:$units,
    TensorRankOf<[F32], [1]>:$weights, TensorRankOf<[I32], [2]>:$counts,
    Gist_Block:$block, UnitAttr:$absorbed
  );
  let results = (outs
    Gist_CacheRows:$new_keys, Gist_CacheRows:$new_values,
    Gist_CacheRows:$new_units, TensorRankOf<[F32], [1]>:$new_weights,
    TensorRankOf<[I32], [2]>:$new_counts
  );
  let assemblyFormat = [{
    $key `,` $value `,` $heads `,` $past `,` $layer
    `into` `(` $keys `,` $values `,` $units `,` $weights `,` $counts `)`
    `block` $block (`absorbed` $absorbed^)? attr-dict `:` type($key) `,` type($value) `,` type($heads) `,`
    type($keys) `,` type($values) `,` type($units) `,` type($weights) `,`
    type($counts)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(*this, 5, 5);
    }
  }];
}

def Gist_ClusterAbsorbOp : Op<Gist_Dialect, "cluster_absorb", [
    Pure, DestinationStyleOpInterface,
    AllTypesMatch<["keys", "new_keys"]>, AllTypesMatch<["values", "new_values"]>,
    AllTypesMatch<["units", "new_units"]>,
    AllTypesMatch<["weights", "new_weights"]>,
    AllTypesMatch<["counts", "new_counts"]>]> {
  let summary = "let tokens leave the windows of several layers";
  let description = [{
    What `gist.cluster_update` does first, for all KV heads of the layers from
    `begin` up to but not including `end` at once: where `past` is a positive
    multiple of `block`, the tokens that have left the window join clusters.
    Heads do not depend on each other, so each has a workgroup. With the tokens
    of a call added to `past`, it is what the next call would begin with.

    The layers' own updates then have `absorbed`.

    Constraints:
      * (C1) `heads` is layers x KV heads x 8, `counts` layers x KV heads.
      * (C2) `units` has rows of the key's size and as many as `weights`.
      * (C3) `block` is positive.
      * (C4) Keys, values and units have one element type.
      * (C5) There are layers from `begin` on, and no more than the table's.

    Example:

    ```mlir
    %k2, %v2, %u2, %w2, %c2 = gist.cluster_absorb %heads, %past layers 15 to 30
        into(%k, %v, %u, %w, %c) block 2048
        : tensor<30x3x8xf32>, tensor<9216x64xf16>, tensor<9216x64xf16>, tensor<4096x64xf16>,
          tensor<4096xf32>, tensor<30x3xi32>
    ```
  }];
  let arguments = (ins
    Gist_CacheTable:$heads, Index:$past,
    Gist_CacheRows:$keys, Gist_CacheRows:$values, Gist_CacheRows:$units,
    TensorRankOf<[F32], [1]>:$weights, TensorRankOf<[I32], [2]>:$counts,
    Gist_Block:$begin, Gist_Block:$end, Gist_Block:$block
  );
  let results = (outs
    Gist_CacheRows:$new_keys, Gist_CacheRows:$new_values,
    Gist_CacheRows:$new_units, TensorRankOf<[F32], [1]>:$new_weights,
    TensorRankOf<[I32], [2]>:$new_counts
  );
  let assemblyFormat = [{
    $heads `,` $past `layers` $begin `to` $end
    `into` `(` $keys `,` $values `,` $units `,` $weights `,` $counts `)`
    `block` $block attr-dict `:` type($heads) `,` type($keys) `,`
    type($values) `,` type($units) `,` type($weights) `,` type($counts)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(*this, 2, 5);
    }
  }];
}

def Gist_ClusterAttentionOp : Op<Gist_Dialect, "cluster_attention", [
    Pure, AllTypesMatch<["query", "output"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
      "reifyResultShapes"]>,
    DeclareOpInterfaceMethods<TilingInterface, [
      "getIterationDomain", "getLoopIteratorTypes", "getTiledImplementation",
      "getResultTilePosition"]>]> {
  let summary = "attention on a cache of clusters";
  let description = [{
    Causal attention of this call's tokens, which the cache holds already, with
    grouped KV heads as in `gist.attention`. Query i sees the clusters of its KV
    head, with the means as key and value and log n added to the score, and the
    exact tokens e ... past + i, where e is what the head's window says (0
    without one). With `window` it sees the last so many of these alone, as in
    `gist.attention`: the head's window says what is kept, in blocks, and this
    one what is seen.

    With `own` the cache has the tokens before the call alone, and the call's
    keys and values are the two tensors given: attention does not wait for the
    update then.

    Numerics: scores, softmax and sums in f32; the result is rounded once.

    Constraints:
      * (C1) Queries have the element type of the cache and the head size of its
        keys.
      * (C2) `heads` is layers x KV heads x 8, `counts` layers x KV heads, and
        the number of query heads is a multiple of the number of KV heads.
      * (C3) `scale` is finite and positive.
      * (C4) `block` is positive.
      * (C5) Keys and values have one type.
      * (C6) `own` is nothing, or keys and values of the call, with as many
        tokens as there are queries, as `gist.cluster_update` takes them.
      * (C7) `window` is positive, and not there with `own`.

    Example:

    ```mlir
    %o = gist.cluster_attention %q, %heads, %past, %layer on(%k, %v, %w, %c) block 128
        : tensor<?x9x64xf16>, tensor<30x3x8xf32>, tensor<9216x64xf16>, tensor<9216x64xf16>,
          tensor<4096xf32>, tensor<30x3xi32>
    ```
  }];
  let arguments = (ins
    Gist_CacheHeads:$query, Gist_CacheTable:$heads, Index:$past, Index:$layer,
    Gist_CacheRows:$keys, Gist_CacheRows:$values,
    TensorRankOf<[F32], [1]>:$weights, TensorRankOf<[I32], [2]>:$counts,
    Variadic<Gist_CacheHeads>:$own,
    Gist_Block:$block, OptionalAttr<F32Attr>:$scale,
    OptionalAttr<I64Attr>:$window
  );
  let results = (outs Gist_CacheHeads:$output);
  let assemblyFormat = [{
    $query `,` $heads `,` $past `,` $layer
    `on` `(` $keys `,` $values `,` $weights `,` $counts `)`
    (`own` `(` $own^ `:` type($own) `)`)?
    `block` $block (`scale` $scale^)? (`window` $window^)? attr-dict `:`
    type($query) `,` type($heads) `,` type($keys) `,` type($values) `,` type($weights) `,`
    type($counts)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// `scale`, or its default 1/sqrt(D).
    double getEffectiveScale();
  }];
}

#endif // GIST_CLUSTER_OPS
