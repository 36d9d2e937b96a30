//===- GistOps.td - Operations of the gist dialect ---------*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Notation: X is T x d with rows x_t. cos(s,t) is the f32 dot product of the
// unrounded rows times their inverse norms; `similarity = absolute` takes its
// absolute value. A NaN, or a norm that is zero or not finite, makes
// cos = -infinity. theta = 1 - tau^2.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_OPS
#define GIST_OPS

include "dialect/GistAttrs.td"
include "dialect/GistTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

class Gist_Op<string mnemonic, list<Trait> traits = []>
    : Op<Gist_Dialect, mnemonic, !listconcat([Pure], traits)>;

def Gist_Float : AnyTypeOf<[F32, F16, BF16], "f32, f16 or bf16">;
def Gist_Matrix : TensorRankOf<[Gist_Float], [2]>;
def Gist_Vector : TensorRankOf<[Gist_Float], [1]>;
/// A 64-bit integer that reads as signed, so that a negative one is refused.
def Gist_Count : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit integer">;
/// Rows of a selection: tokens x d, or tokens x heads x d.
def Gist_Tokens : TensorRankOf<[Gist_Float], [2, 3]>;
/// Queries, keys or values: tokens x heads x head size.
def Gist_Heads : TensorRankOf<[Gist_Float], [3]>;
/// Where sequences start in a ragged batch; the last entry is the end.
def Gist_Offsets : TensorRankOf<[I32], [1]>;

/// One threshold for each head.
def Gist_Taus : TensorRankOf<[F32], [1]>;
/// Rows in a subspace, and the norms of what is outside of it.
def Gist_Coefficients : TensorRankOf<[F32], [2, 3]>;
def Gist_ResidualNorms : TensorRankOf<[F32], [1, 2]>;

//===----------------------------------------------------------------------===//
// Selections
//===----------------------------------------------------------------------===//

def Gist_GramSelectOp : Gist_Op<"gram_select", [
    AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "choose the tokens that represent the others";
  let description = [{
    Tokens are visited in ascending order. Token t is a representative iff no
    earlier token s of its sequence has cos(s,t) >= theta, where theta =
    1 - tau^2 and s ranges

    - `against kept` (the default): over earlier representatives. This is the
      greedy covering: every redundant token has an earlier representative
      within theta, and no representative has.
    - `against all`: over all earlier tokens, redundant ones too. Not a
      covering: a chain of slowly turning rows keeps only its first.

    The nearest representative of a token is the one with the largest cos,
    ties to the smallest id, with no threshold asked; `causal` restricts it to
    ids up to the token's own. A representative is its own.

    A row that holds a NaN, or whose norm is zero or not finite, has cos =
    -infinity with every row: it covers nothing and is always kept. `tau` = 0
    keeps every token, equal rows too: cos is rounded and reaches 1 or misses it
    by accident.

    Rows of T x heads x d give one selection per head. `taus` takes the place of
    `tau` with one number for each head, which may so depend on data; one that
    is not in (0, 1) keeps every token of its head. `offsets` splits the rows
    of a ragged batch into sequences that do not see one another; token ids
    stay row numbers of the whole batch.

    `subspace` gives the coefficients g_t = V^T x_t of the rows in some
    orthonormal basis and the norms rho_t of what is left of them, so that

        |dot(x_s, x_t) - dot(g_s, g_t)| <= rho_s * rho_t.

    It is a hint: pairs that the bound decides need no product of whole rows.
    The selection is the same with and without it.

    Numerics: norms and dot products accumulate in f32, in no fixed order; a
    cos within rounding of theta may land on either side.

    Constraints:
      * (C1) `tau` is in [0, 1), or there are `taus` in its place.
      * (C2) `offsets` has at least two entries.
      * (C3) The number of heads is static.
      * (C4) `taus` has one entry for each head, or one where there are no heads.
      * (C5) `subspace` has coefficients for every row, and one norm.

    Example:

    ```mlir
    %kept = gist.gram_select %x, 3.0e-1 causal : tensor<?x576xf32>
    %all = gist.gram_select %x, 3.0e-1 against all : tensor<?x576xf32>
    %per_head = gist.gram_select %keys, 4.0e-1 similarity signed causal
        offsets(%starts : tensor<5xi32>) : tensor<?x3x64xf16>
    %chosen = gist.gram_select %keys, taus(%taus : tensor<3xf32>) causal
        : tensor<?x3x64xf16>
    %cheap = gist.gram_select %x, 3.0e-1 causal
        subspace(%g, %rho : tensor<?x64xf32>, tensor<?xf32>) : tensor<?x576xf32>
    ```
  }];
  let arguments = (ins
    Gist_Tokens:$tokens,
    OptionalAttr<F32Attr>:$tau,
    Optional<Gist_Taus>:$taus,
    DefaultValuedAttr<Gist_AgainstAttr, "::gist::Against::Kept">:$against,
    DefaultValuedAttr<Gist_SimilarityAttr,
                      "::gist::Similarity::Absolute">:$similarity,
    UnitAttr:$causal,
    Optional<Gist_Coefficients>:$coefficients,
    Optional<Gist_ResidualNorms>:$residuals,
    Optional<Gist_Offsets>:$offsets
  );
  let results = (outs Gist_SelectionType:$selection);
  let assemblyFormat = [{
    $tokens `,` (`taus` `(` $taus^ `:` type($taus) `)`) : ($tau)?
    (`against` $against^)? (`similarity` $similarity^)? (`causal` $causal^)?
    (`subspace` `(` $coefficients^ `,` $residuals `:` type($coefficients) `,`
        type($residuals) `)`)?
    (`offsets` `(` $offsets^ `:` type($offsets) `)`)?
    attr-dict `:` type($tokens)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Gist_CascadeUpdateOp : Gist_Op<"cascade_update", [
    AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "this layer's selection from the one of the layer before";
  let description = [{
    - `rule covering` (the default): the result is `gist.gram_select against
      kept` on `tokens`, whatever is inherited. The inherited set is a hint
      that turns a sequential scan into one T x r cross-Gram and the repair of
      what changed; it affects only the cost.
    - `rule paper`: with R the inherited representatives, V = those of R with
      cos < theta to every earlier one of R, and N = the tokens outside R with
      cos < theta to every one of V, earlier or later, the result is the union
      of V and N, and the nearest representative is unrestricted. It may miss
      representatives and look into the future; kept to reproduce tables.
    - `rule inherit`: the inherited selection as it is, unvalidated.

    `removed` counts inherited tokens that no longer are representatives, `added`
    representatives that were not inherited; one number per head where
    selections are per head. Rows without a direction, `tau` = 0, `taus`,
    `subspace`, `offsets`, `similarity` and `causal` mean what they mean for
    `gist.gram_select`.

    Constraints:
      * (C1) `tau` is in [0, 1), or there are `taus` in its place.
      * (C2) `offsets` has at least two entries.
      * (C3) The inherited selection is one over `tokens`: as many tokens, one
        per head iff `tokens` has heads, and as many heads.
      * (C4) `rule paper` is not `causal`: its comparison with later
        representatives is what the rule says.
      * (C5) `taus` has one entry for each head, or one where there are no heads.
      * (C6) `subspace` has coefficients for every row, and one norm.

    Example:

    ```mlir
    %next, %removed, %added = gist.cascade_update %x, %previous, 3.0e-1 causal
        : tensor<?x576xf32>, !gist.selection<?>
    %paper, %gone, %new = gist.cascade_update %x, %previous, 3.0e-1 rule paper
        : tensor<?x576xf32>, !gist.selection<?>
    ```
  }];
  let arguments = (ins
    Gist_Tokens:$tokens,
    Gist_SelectionType:$inherited,
    OptionalAttr<F32Attr>:$tau,
    Optional<Gist_Taus>:$taus,
    DefaultValuedAttr<Gist_CascadeRuleAttr,
                      "::gist::CascadeRule::Covering">:$rule,
    DefaultValuedAttr<Gist_SimilarityAttr,
                      "::gist::Similarity::Absolute">:$similarity,
    UnitAttr:$causal,
    Optional<Gist_Coefficients>:$coefficients,
    Optional<Gist_ResidualNorms>:$residuals,
    Optional<Gist_Offsets>:$offsets
  );
  let results = (outs
    Gist_SelectionType:$selection,
    TensorRankOf<[I32], [0, 1]>:$removed,
    TensorRankOf<[I32], [0, 1]>:$added
  );
  let assemblyFormat = [{
    $tokens `,` $inherited `,`
    (`taus` `(` $taus^ `:` type($taus) `)`) : ($tau)?
    (`rule` $rule^)? (`similarity` $similarity^)? (`causal` $causal^)?
    (`subspace` `(` $coefficients^ `,` $residuals `:` type($coefficients) `,`
        type($residuals) `)`)?
    (`offsets` `(` $offsets^ `:` type($offsets) `)`)?
    attr-dict `:` type($tokens) `,` qualified(type($inherited))
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Gist_KeepAllOp : Gist_Op<"keep_all"> {
  let summary = "the selection in which every token represents itself";
  let description = [{
    What a selection becomes when nothing can be redundant: ids 0 … T-1, count
    T, every token its own nearest, all weights 1.

    Constraints:
      * (C1) The size operand is given iff the number of tokens is dynamic.

    Example:

    ```mlir
    %a = gist.keep_all : !gist.selection<512>
    %b = gist.keep_all(%t) : !gist.selection<3x?>
    ```
  }];
  let arguments = (ins Optional<Index>:$size);
  let results = (outs Gist_SelectionType:$selection);
  let assemblyFormat = [{
    (`(` $size^ `)`)? attr-dict `:` qualified(type($selection))
  }];
  let hasVerifier = 1;
}

def Gist_PackSelectionOp : Gist_Op<"pack_selection", [InferTypeOpAdaptor]> {
  let summary = "build a selection from tensors";
  let description = [{
    The parts are those that `!gist.selection` describes. They are taken as
    they are: that ids ascend, that every nearest id is a representative and
    that weights add up is the builder's to keep.

    Constraints:
      * (C1) `ids`, `nearest` and `weight` have one shape: tokens, or
        heads x tokens with static heads.
      * (C2) `count` has one element, or one per head.

    Example:

    ```mlir
    %s = gist.pack_selection %ids, %count, %nearest, %weight
        : tensor<512xi32>, tensor<i32>, tensor<512xi32>, tensor<512xi32>
    ```
  }];
  let arguments = (ins
    TensorRankOf<[I32], [1, 2]>:$ids,
    TensorRankOf<[I32], [0, 1]>:$count,
    TensorRankOf<[I32], [1, 2]>:$nearest,
    TensorRankOf<[I32], [1, 2]>:$weight
  );
  let results = (outs Gist_SelectionType:$selection);
  let assemblyFormat = [{
    operands attr-dict `:` type(operands)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Gist_UnpackSelectionOp : Gist_Op<"unpack_selection", [InferTypeOpAdaptor]> {
  let summary = "take a selection apart into tensors";
  let description = [{
    Example:

    ```mlir
    %ids, %count, %nearest, %weight = gist.unpack_selection %s
        : !gist.selection<3x512>
    ```
  }];
  let arguments = (ins Gist_SelectionType:$selection);
  let results = (outs
    TensorRankOf<[I32], [1, 2]>:$ids,
    TensorRankOf<[I32], [0, 1]>:$count,
    TensorRankOf<[I32], [1, 2]>:$nearest,
    TensorRankOf<[I32], [1, 2]>:$weight
  );
  let assemblyFormat = "$selection attr-dict `:` qualified(type($selection))";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

def Gist_AttentionOp : Gist_Op<"attention", [
    AttrSizedOperandSegments, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
      "reifyResultShapes"]>,
    DeclareOpInterfaceMethods<TilingInterface, [
      "getIterationDomain", "getLoopIteratorTypes", "getTiledImplementation",
      "getResultTilePosition", "generateResultTileValue"]>]> {
  let summary = "dense attention with grouped KV heads";
  let description = [{
    For query i, head h, with g = h / (H / Hkv) and p the position of the query
    in its sequence of S keys (queries are the last of them: p = i + S - T),

        score[j] = scale * dot(q[i,h,:], k[j,g,:]) + mask[i,j]
        out[i,h,:] = sum_j softmax(score)[j] * v[j,g,:]

    over the keys j that are visible: all of them; with `causal` those with
    j <= p; with `window` w and `sinks` z those with j > p - w or j < z as well
    as j <= p. `scale` defaults to 1/sqrt(D). A query that sees no key, or only
    keys masked with -infinity, gives zeros.

    In a ragged batch `offsets` splits the queries and `key_offsets` the keys,
    and the formula holds within each sequence.

    Numerics: scores, softmax and sums in f32; the result is rounded once.

    Constraints:
      * (C1) Keys and values agree in tokens and heads.
      * (C2) The number of query heads is a multiple of the number of KV heads.
      * (C3) Queries and keys have one head size and one element type.
      * (C4) There are at least as many keys as queries where `causal`.
      * (C5) `scale` is finite and positive.
      * (C6) `window` is positive and asks for `causal`; `sinks` is not negative
        and asks for `window`.
      * (C7) `mask` is queries x keys.
      * (C8) `offsets` and `key_offsets` come together, with one length of at
        least two.

    Example:

    ```mlir
    %o = gist.attention %q, %k, %v causal
        : tensor<?x9x64xf32>, tensor<?x3x64xf32>, tensor<?x3x64xf32>
    %w = gist.attention %q, %k, %v causal window 256 sinks 4
        : tensor<?x9x64xf32>, tensor<?x3x64xf32>, tensor<?x3x64xf32>
    ```
  }];
  let arguments = (ins
    Gist_Heads:$query, Gist_Heads:$key, Gist_Heads:$value,
    Optional<TensorRankOf<[F32], [2]>>:$mask,
    Optional<Gist_Offsets>:$offsets, Optional<Gist_Offsets>:$key_offsets,
    UnitAttr:$causal, OptionalAttr<F32Attr>:$scale,
    OptionalAttr<Gist_Count>:$window, OptionalAttr<Gist_Count>:$sinks
  );
  let results = (outs Gist_Heads:$output);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`causal` $causal^)? (`scale` $scale^)? (`window` $window^)?
    (`sinks` $sinks^)?
    (`offsets` `(` $offsets^ `,` $key_offsets `:` type($offsets) `,` type($key_offsets) `)`)?
    attr-dict `:` type($query) `,` type($key) `,` type($value)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// `scale`, or its default 1/sqrt(D).
    double getEffectiveScale();
  }];
}

def Gist_AttendOp : Gist_Op<"attend", [
    InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
      "reifyResultShapes"]>]> {
  let summary = "attention on representatives";
  let description = [{
    Grouped heads, `scale` and `offsets` as in `gist.attention`; queries and keys
    are the same T tokens. Where selections are per head there is one per KV
    head, and a query head uses the one of its KV head.

    `mode copy`: attention only among the representatives; a redundant token
    takes the output of its nearest representative. `causal` lets a
    representative see those up to itself. `log_count` adds to a
    representative's score the logarithm of the number of its members (itself
    and the tokens whose nearest it is) at or before the query where `causal`,
    of all its members otherwise.

    `mode keys`: every token queries. Where `causal`, with b = floor(t / block)
    counted within the sequence and e = max(0, b * block - window), query t
    sees the tokens e … t exactly, and every cluster restricted to tokens
    before e: a member counts when both it and its representative are before
    e. A cluster with n > 0 such members has log n added to its score and
    stands with its representative's key and value (`merge representative`) or
    with the f32 mean of its members' keys and values (`merge mean`, the
    default). n and the means depend only on the cluster and b, so decoding
    gives what prefill gives. Not causal: every cluster with all its members,
    no window.

    Constraints:
      * (C1) Keys and values agree in tokens and heads.
      * (C2) The number of query heads is a multiple of the number of KV heads.
      * (C3) Queries and keys have one head size and one element type.
      * (C4) Queries, keys and the selection are over the same number of tokens.
      * (C5) Per-head selections are one per KV head.
      * (C6) `scale` is finite and positive.
      * (C7) `mode keys` has `window` >= 0 and `block` >= 1 iff it is `causal`;
        `mode copy` has neither.
      * (C8) `log_count` belongs to `mode copy`, `merge` to `mode keys`.
      * (C9) `offsets` has at least two entries.

    Example:

    ```mlir
    %o = gist.attend %q, %k, %v on %s mode keys causal window 128 block 128
        : tensor<?x9x64xf32>, tensor<?x3x64xf32>, tensor<?x3x64xf32>, !gist.selection<3x?>
    %c = gist.attend %q, %k, %v on %t mode copy log_count
        : tensor<?x9x64xf32>, tensor<?x3x64xf32>, tensor<?x3x64xf32>, !gist.selection<?>
    ```
  }];
  let arguments = (ins
    Gist_Heads:$query, Gist_Heads:$key, Gist_Heads:$value,
    Gist_SelectionType:$selection,
    Gist_AttendModeAttr:$mode, UnitAttr:$log_count, UnitAttr:$causal,
    OptionalAttr<F32Attr>:$scale, OptionalAttr<Gist_Count>:$window,
    OptionalAttr<Gist_Count>:$block, OptionalAttr<Gist_MergeAttr>:$merge,
    Optional<Gist_Offsets>:$offsets
  );
  let results = (outs Gist_Heads:$output);
  let assemblyFormat = [{
    $query `,` $key `,` $value `on` $selection `mode` $mode
    (`log_count` $log_count^)? (`causal` $causal^)? (`scale` $scale^)?
    (`window` $window^)? (`block` $block^)? (`merge` $merge^)?
    (`offsets` `(` $offsets^ `:` type($offsets) `)`)?
    attr-dict `:` type($query) `,` type($key) `,` type($value) `,` qualified(type($selection))
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// `scale`, or its default 1/sqrt(D).
    double getEffectiveScale();
    /// `merge`, or its default in `mode keys`.
    ::gist::Merge getEffectiveMerge();
  }];
}

//===----------------------------------------------------------------------===//
// Linear layers
//===----------------------------------------------------------------------===//

def Gist_GatedProjectionOp : Gist_Op<"gated_projection", [
    AttrSizedOperandSegments, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
      "reifyResultShapes"]>]> {
  let summary = "linear layers that read W only for tokens that need it";
  let description = [{
    For every token x, with V a d x k basis of orthonormal columns and, for each
    of the projections that share the input, W of m x d, its image M = W V and an
    optional bias:

        g   = transpose(V) x
        res = x - V g
        rho = |res| / |x|          (0 for x = 0)
        y   = (gate open ? W x : M g) + bias

    The gate is open iff !(rho <= epsilon), so a NaN opens it. `level` is 0
    where it is closed and 1 where it is open: W x, so that M may be rounded.

    Graded form, with `low` approximations of the weights and `epsilon_low` <
    `epsilon`: rho <= epsilon_low gives M g (level 0), up to epsilon M g and the
    low-bit weight times res (level 1), above it W x (level 2).

    Numerics: g, res, rho and the sums in f32, g and res not rounded in between;
    y is rounded once.

    Constraints:
      * (C1) `input` has as many columns as `basis` has rows.
      * (C2) `basis` has at most as many columns as rows.
      * (C3) There is at least one weight, one image per weight, and no or one
        bias, no or one low weight per weight.
      * (C4) A weight is m x d, its image m x k, its bias m, its low weight m x d.
      * (C5) `epsilon` is finite and not negative.
      * (C6) `epsilon_low` comes with low weights, and 0 <= epsilon_low < epsilon.

    Example:

    ```mlir
    %q, %k, %level = gist.gated_projection %x, %v, 1.0e-1
        weights(%wq, %wk : tensor<576x576xf16>, tensor<192x576xf16>)
        images(%mq, %mk : tensor<576x64xf16>, tensor<192x64xf16>)
        : tensor<?x576xf32>, tensor<576x64xf16>
    ```
  }];
  let arguments = (ins
    Gist_Matrix:$input, Gist_Matrix:$basis,
    Variadic<Gist_Matrix>:$weights, Variadic<Gist_Matrix>:$images,
    Variadic<Gist_Vector>:$biases, Variadic<Gist_Matrix>:$low,
    F32Attr:$epsilon, OptionalAttr<F32Attr>:$epsilon_low
  );
  let results = (outs
    Variadic<Gist_Matrix>:$outputs,
    TensorRankOf<[I8], [1]>:$level
  );
  let assemblyFormat = [{
    $input `,` $basis `,` $epsilon
    `weights` `(` $weights `:` type($weights) `)`
    `images` `(` $images `:` type($images) `)`
    (`biases` `(` $biases^ `:` type($biases) `)`)?
    (`low` $epsilon_low^ `(` $low `:` type($low) `)`)?
    attr-dict `:` type($input) `,` type($basis)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

def Gist_WeightOp : Gist_Op<"weight"> {
  let summary = "a weight of the model, by name";
  let description = [{
    The content stays in the model file until the module is written. The type
    is that of the stored tensor; block-quantised weights are bytes, rows x
    blocks x bytes per block. `layer` is the layer of the model that the weight
    belongs to; embeddings and the head have none.

    Constraints:
      * (C1) The name is not empty and the shape is static.
      * (C2) `layer` is not negative.

    Example:

    ```mlir
    %w = gist.weight "blk.0.attn_norm.weight" layer 0 : tensor<576xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<I64Attr>:$layer);
  let results = (outs TensorOf<[Gist_Float, I8, F8E4M3FN, F8E4M3FNUZ]>:$result);
  let assemblyFormat = [{
    $name (`layer` $layer^)? attr-dict `:` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::llvm::StringRef":$name), [{
      build($_builder, $_state, result, name, ::mlir::IntegerAttr());
    }]>
  ];
  let hasVerifier = 1;
}

def Gist_DequantizeOp : Gist_Op<"dequantize", [
    InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
      "reifyResultShapes"]>,
    DeclareOpInterfaceMethods<TilingInterface, [
      "getIterationDomain", "getLoopIteratorTypes", "getTiledImplementation",
      "getResultTilePosition", "generateResultTileValue"]>]> {
  let summary = "the numbers that block-quantised bytes stand for";
  let description = [{
    `blocks` is rows x blocks x bytes per block; the result is rows x (blocks *
    values per block) in f32. The formats, with d and m f16 numbers of a block
    and q unsigned unless said; all but `q3_1` and `q2_1` are those of GGUF
    files:

    | format | bytes | values | value |
    |---|---|---|---|
    | `q4_0` | 18 | 32 | d * (q - 8), low nibbles first |
    | `q4_1` | 20 | 32 | d * q + m, low nibbles first |
    | `q8_0` | 34 | 32 | d * q, q signed |
    | `q4_k` | 144 | 256 | d * sc * q - dmin * mn, eight groups of 32 |
    | `q6_k` | 210 | 256 | d * sc * (q - 32), sixteen groups of 16 |
    | `q3_1` | 16 | 32 | d * q + m; 8 bytes as in `q2_1`, then the third bits |
    | `q2_1` | 12 | 32 | d * q + m |
    | `q5_0` | 22 | 32 | d * (q - 16); the fifth bits, then nibbles as in `q4_0` |
    | `q5_1` | 24 | 32 | d * q + m; the fifth bits, then nibbles as in `q4_1` |
    | `q5_k` | 176 | 256 | d * sc * q - dmin * mn, eight groups of 32 |
    | `q3_k` | 110 | 256 | d * (sc - 32) * (q - 4), sixteen groups of 16 |
    | `q2_k` | 84 | 256 | d * sc * q - dmin * mn, sixteen groups of 16 |
    | `iq4_nl` | 18 | 32 | d * level(q) of sixteen levels, low nibbles first |

    Value i of a `q2_1` block is in byte i % 8 of the last eight, from bit
    2 * (i / 8) on. The third bit of value i of a `q3_1` block is bit i / 4 of
    byte i % 4 of the last four.

    Constraints:
      * (C1) The innermost dimension is the number of bytes of one block of the
        format.
      * (C2) The number of blocks is static.

    Example:

    ```mlir
    %f = gist.dequantize %w format q4_1 : tensor<192x18x20xi8>
    ```
  }];
  let arguments = (ins
    TensorRankOf<[I8], [3]>:$blocks, Gist_BlockFormatAttr:$format
  );
  let results = (outs TensorRankOf<[F32], [2]>:$result);
  let assemblyFormat = [{
    $blocks `format` $format attr-dict `:` type($blocks)
  }];
  let hasVerifier = 1;
}

// Linear layers in 8 bits.
include "dialect/GistQuantOps.td"

// What a model becomes when it is cut into kernels.
include "dialect/GistProgramOps.td"

#endif // GIST_OPS
