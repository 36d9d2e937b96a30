//===- GistIntegerOps.td - Products of 8-bit numbers -------*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linear layers whose weights are numbers of 8 bits, integers or floats, with a
// scale for each row. Those of block-quantised weights are in GistQuantOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_INTEGER_OPS
#define GIST_INTEGER_OPS

include "dialect/GistAttrs.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Gist_SmallNumber : AnyTypeOf<[I8, F8E4M3FN, F8E4M3FNUZ]>;

class Gist_IntegerOp<string mnemonic>
    : Op<Gist_Dialect, mnemonic, [
        Pure, InferTypeOpAdaptor,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, [
          "reifyResultShapes"]>]>;

def Gist_QuantizeBlocksOp : Gist_IntegerOp<"quantize_blocks"> {
  let summary = "rows as 8-bit numbers with a scale per block of some length";
  let description = [{
    What `gist.quantize_rows` computes, with blocks of `block` numbers instead of
    32, and `as` floats of 8 bits if they are named: with m the largest number of
    the type, 127 of integers,

        scales[t, b] = max |input[t, b]| / m
        values[t, k] = round(input[t, k] * (m / max |input[t, b]|))

    to the nearest number, ties to even, and zeros for a block of zeros. The last
    block of a row may have fewer numbers; a block as long as a row is a scale for
    each row.

    Constraints:
      * (C1) The rows are static in length, a multiple of 32.
      * (C2) `block` is a positive multiple of 32.
      * (C3) `element` is i8, f8E4M3FN or f8E4M3FNUZ.

    Example:

    ```mlir
    %values, %scales = gist.quantize_blocks %x block 128 : tensor<?x576xf32>
    %v, %s = gist.quantize_blocks %x block 576 as f8E4M3FN : tensor<?x576xf32>
    ```
  }];
  let arguments = (ins
    TensorRankOf<[F32], [2]>:$input, I64Attr:$block,
    OptionalAttr<TypeAttr>:$element
  );
  let results = (outs
    TensorRankOf<[Gist_SmallNumber], [2]>:$values,
    TensorRankOf<[F32], [2]>:$scales
  );
  let assemblyFormat = [{
    $input `block` $block (`as` $element^)? attr-dict `:` type($input)
  }];
}

def Gist_ScaledMatmulOp : Gist_IntegerOp<"scaled_matmul"> {
  let summary = "rows of 8-bit numbers times a weight of such";
  let description = [{
    With blocks as `gist.quantize_blocks` makes them,

        result[t, n] = sum_b scales[t, b] *
                       sum_{k in block b} values[t, k] * weight[n, k]

    The products of a block of integers are added in integers and are exact, as
    long as the block has at most 131072; those of floats are added in f32 or in
    what matrix instructions of 8 bits add in. Blocks are scaled and added in f32,
    in no fixed order. What the rows of the weight are scaled by is multiplied
    with the result.

    Constraints:
      * (C1) `values` is T x K, with a static K that is a multiple of 32.
      * (C2) `block` is a positive multiple of 32, and `scales` T x
        ceil(K / block).
      * (C3) `weight` is N x K, of the type of the values.

    Example:

    ```mlir
    %y = gist.scaled_matmul %q, %s, %w block 128
        : tensor<?x576xi8>, tensor<?x5xf32>, tensor<192x576xi8>
    ```
  }];
  let arguments = (ins
    TensorRankOf<[Gist_SmallNumber], [2]>:$values,
    TensorRankOf<[F32], [2]>:$scales,
    TensorRankOf<[Gist_SmallNumber], [2]>:$weight, I64Attr:$block
  );
  let results = (outs TensorRankOf<[F32], [2]>:$result);
  let assemblyFormat = [{
    $values `,` $scales `,` $weight `block` $block attr-dict
    `:` type($values) `,` type($scales) `,` type($weight)
  }];
  let extraClassDeclaration = [{
    /// Whether a row of the values has several scales.
    bool hasBlocks() {
      return static_cast<int64_t>(getBlock()) < getValues().getType().getDimSize(1);
    }
  }];
}

#endif // GIST_INTEGER_OPS
