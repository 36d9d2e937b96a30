//===- GistIntegerOps.td - Products of 8-bit integers ------*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linear layers whose weights are integers with a scale for each row. Those of
// block-quantised weights are in GistQuantOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_INTEGER_OPS
#define GIST_INTEGER_OPS

include "dialect/GistAttrs.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Gist_IntegerOp<string mnemonic>
    : Op<Gist_Dialect, mnemonic, [
        Pure, InferTypeOpAdaptor,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
          "reifyResultShapes"]>]>;

def Gist_QuantizeBlocksOp : Gist_IntegerOp<"quantize_blocks"> {
  let summary = "rows as 8-bit integers with a scale per block of some length";
  let description = [{
    What `gist.quantize_rows` computes, with blocks of `block` numbers instead of
    32. The last block of a row may have fewer.

    Constraints:
      * (C1) The rows are static in length, a multiple of 32.
      * (C2) `block` is a positive multiple of 32.

    Example:

    ```mlir
    %values, %scales = gist.quantize_blocks %x block 128 : tensor<?x576xf32>
    ```
  }];
  let arguments = (ins TensorRankOf<[F32], [2]>:$input, I64Attr:$block);
  let results = (outs
    TensorRankOf<[I8], [2]>:$values, TensorRankOf<[F32], [2]>:$scales
  );
  let assemblyFormat = "$input `block` $block attr-dict `:` type($input)";
}

def Gist_IntegerMatmulOp : Gist_IntegerOp<"integer_matmul"> {
  let summary = "rows of 8-bit integers times a weight of such";
  let description = [{
    With blocks as `gist.quantize_blocks` makes them,

        result[t, n] = sum_b scales[t, b] *
                       sum_{k in block b} values[t, k] * weight[n, k]

    The products of a block are added in integers and are exact; blocks are
    scaled and added in f32, in no fixed order. What the rows of the weight are
    scaled by is multiplied with the result.

    Constraints:
      * (C1) `values` is T x K, with a static K that is a multiple of 32.
      * (C2) `block` is a positive multiple of 32, and `scales` T x
        ceil(K / block).
      * (C3) `weight` is N x K.

    Example:

    ```mlir
    %y = gist.integer_matmul %q, %s, %w block 128
        : tensor<?x576xi8>, tensor<?x5xf32>, tensor<192x576xi8>
    ```
  }];
  let arguments = (ins
    TensorRankOf<[I8], [2]>:$values, TensorRankOf<[F32], [2]>:$scales,
    TensorRankOf<[I8], [2]>:$weight, I64Attr:$block
  );
  let results = (outs TensorRankOf<[F32], [2]>:$result);
  let assemblyFormat = [{
    $values `,` $scales `,` $weight `block` $block attr-dict
    `:` type($values) `,` type($scales) `,` type($weight)
  }];
}

#endif // GIST_INTEGER_OPS
