//===- GistQuantOps.td - Linear layers in 8 bits -----------*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_QUANT_OPS
#define GIST_QUANT_OPS

include "dialect/GistAttrs.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/TilingInterface.td"

class Gist_TiledOp<string mnemonic, list<Trait> traits = []>
    : Gist_Op<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
          "reifyResultShapes"]>,
        DeclareOpInterfaceMethods<TilingInterface, [
          "getIterationDomain", "getLoopIteratorTypes",
          "getTiledImplementation", "getResultTilePosition",
          "generateResultTileValue"]>], traits)>;

def Gist_QuantizeRowsOp : Gist_TiledOp<"quantize_rows", [InferTypeOpAdaptor]> {
  let summary = "rows of numbers as 8-bit integers with a scale per block";
  let description = [{
    Each row is cut into blocks of 32. With a = max |x| over a block,

        scale     = a / 127
        values[i] = round(x[i] * (127 / a)), ties to even

    and zeros with scale 0 for a block of zeros. x is about values * scale, off
    by at most half a scale.

    Numerics: f32 throughout. A block that holds a NaN or an infinity has no
    meaning.

    Constraints:
      * (C1) The rows are static in length, a multiple of 32.

    Example:

    ```mlir
    %values, %scales = gist.quantize_rows %x : tensor<?x576xf32>
    ```
  }];
  let arguments = (ins TensorRankOf<[F32], [2]>:$input);
  let results = (outs
    TensorRankOf<[I8], [2]>:$values, TensorRankOf<[F32], [2]>:$scales
  );
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def Gist_GuardedMatmulOp
    : Gist_TiledOp<"guarded_matmul", [InferTypeOpAdaptor]> {
  let summary = "rows times a weight, where they are asked for";
  let description = [{
    The product of a linear layer for the rows whose guard is not 0,

        result[t, n] = guard[t] != 0 ? sum_k input[t, k] * weight[n, k] : 0

    The weight is read only where a row asks for it: a tile whose guards are all
    0 is zeros.

    Numerics: sums in f32, in no fixed order. What a row with guard 0 holds does
    not matter, NaN included.

    Constraints:
      * (C1) `input` is T x K and `weight` N x K.
      * (C2) There is one guard per row.

    Example:

    ```mlir
    %y = gist.guarded_matmul %x, %w where %guard
        : tensor<?x576xf32>, tensor<192x576xf16>, tensor<?xi8>
    ```
  }];
  let arguments = (ins
    TensorRankOf<[F32], [2]>:$input,
    TensorRankOf<[F32, F16, BF16], [2]>:$weight, TensorRankOf<[I8], [1]>:$guard
  );
  let results = (outs TensorRankOf<[F32], [2]>:$result);
  let assemblyFormat = [{
    $input `,` $weight `where` $guard attr-dict
    `:` type($input) `,` type($weight) `,` type($guard)
  }];
}

def Gist_QuantizedMatmulOp
    : Gist_TiledOp<"quantized_matmul", [AttrSizedOperandSegments]> {
  let summary = "rows of 8-bit integers times a block-quantised weight";
  let description = [{
    With w = `gist.dequantize weight`, of N x K,

        result[t, n] = sum_b scales[t, b] *
                       sum_{k in block b} values[t, k] * w[n, k]

    The products of a block are formed in integers and are exact; blocks are
    scaled and added in f32, in no fixed order.

    Rows whose `guard` is 0 are zeros, and the weight need not be read for them;
    without a guard all rows are computed.

    Without `packed` the weight is stored as `gist.dequantize` describes; with
    it, in tiles as the attribute describes.

    Constraints:
      * (C1) `values` is T x K and `scales` T x K / 32.
      * (C2) An unpacked `weight` is N x K in blocks of `format`.
      * (C3) A packed `weight` has the shape that `packed` gives to N x K.
      * (C4) The result is T x N; `columns` says N where it is dynamic, as in a
        tile at the edge, and only there.
      * (C5) `guard` has one element per row.

    Example:

    ```mlir
    %y = gist.quantized_matmul %q, %s, %w format q4_1
        : tensor<?x576xi8>, tensor<?x18xf32>, tensor<192x18x20xi8>
          -> tensor<?x192xf32>
    ```
  }];
  let arguments = (ins
    TensorRankOf<[I8], [2]>:$values, TensorRankOf<[F32], [2]>:$scales,
    TensorRankOf<[I8], [3]>:$weight, Gist_BlockFormatAttr:$format,
    OptionalAttr<Gist_PackingAttr>:$packed, Optional<Index>:$columns,
    Optional<TensorRankOf<[I8], [1]>>:$guard
  );
  let results = (outs TensorRankOf<[F32], [2]>:$result);
  let assemblyFormat = [{
    $values `,` $scales `,` $weight `format` $format (`packed` $packed^)?
    (`columns` `(` $columns^ `)`)? (`where` $guard^ `:` type($guard))? attr-dict
    `:` type($values) `,` type($scales) `,` type($weight) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // GIST_QUANT_OPS
