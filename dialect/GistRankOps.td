//===- GistRankOps.td - One model on several ranks ---------*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model on N ranks is N graphs, each with a part of the heads and columns.
// The ranks run their graphs at the same time, and where a graph needs what the
// others computed it has one of these ops. All graphs have the same ones, in
// the same order.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RANK_OPS
#define GIST_RANK_OPS

include "dialect/GistDialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Gist_AllReduceOp : Op<Gist_Dialect, "all_reduce", [
    Pure, SameOperandsAndResultType]> {
  let summary = "the sum of what all ranks have";
  let description = [{
    With x[r] the operand of rank r, every rank gets

        ((x[0] + x[1]) + x[2]) + ...

    Numerics: sums in f32, in the order of the ranks, so that all ranks have the
    same bits.

    Example:

    ```mlir
    %sum = gist.all_reduce %part : tensor<?x576xf32>
    ```
  }];
  let arguments = (ins TensorRankOf<[F32], [1, 2]>:$part);
  let results = (outs TensorRankOf<[F32], [1, 2]>:$sum);
  let assemblyFormat = "$part attr-dict `:` type($part)";
}

def Gist_AllGatherOp : Op<Gist_Dialect, "all_gather", [
    Pure, InferTypeOpAdaptor]> {
  let summary = "the columns of all ranks side by side";
  let description = [{
    Rank r has `columns[r]` columns of the result; every rank gets all of them,
    in the order of the ranks.

    Constraints:
      * (C1) There is a number of columns for each rank, none is negative, and
        they add up to less than 2^31.
      * (C2) The operand has the columns of one of the ranks.

    Example:

    ```mlir
    %logits = gist.all_gather %own columns [24576, 24576] : tensor<1x24576xf32>
    ```
  }];
  let arguments = (ins TensorRankOf<[F32], [2]>:$part,
                       DenseI64ArrayAttr:$columns);
  let results = (outs TensorRankOf<[F32], [2]>:$all);
  let assemblyFormat = "$part `columns` $columns attr-dict `:` type($part)";
  let hasVerifier = 1;
}

def Gist_HandOnOp : Op<Gist_Dialect, "hand_on", [
    Pure, SameOperandsAndResultType]> {
  let summary = "what one rank has, on another";
  let description = [{
    On rank `to` the result is the operand of rank `from`; its own operand says
    only which shape that has. Every other rank gets its own operand.

    Constraints:
      * (C1) `from` and `to` are different ranks, and not negative.

    Example:

    ```mlir
    %x = gist.hand_on %own from 0 to 1 : tensor<?x576xf32>
    ```
  }];
  let arguments = (ins TensorRankOf<[F32], [1, 2]>:$own, I64Attr:$from,
                       I64Attr:$to);
  let results = (outs TensorRankOf<[F32], [1, 2]>:$got);
  let assemblyFormat = "$own `from` $from `to` $to attr-dict `:` type($own)";
  let hasVerifier = 1;
}

def Gist_WeightPartOp : Op<Gist_Dialect, "weight_part", [
    HasParent<"::mlir::ModuleOp">, Symbol]> {
  let summary = "a weight that is a part of one of the model's";
  let description = [{
    Defines the weight of this name: `size` rows (`axis` 0) or columns (`axis` 1)
    of the weight `of`, of the model or of a `gist.fitted_weight`, from `offset`
    on. Columns of a block-quantised weight are
    counted in blocks, as in its type.

    Constraints:
      * (C1) `axis` is 0 or 1; `offset` is not negative and `size` is positive.

    Example:

    ```mlir
    gist.weight_part @"blk.0.attn_q.weight[0:384]" of "blk.0.attn_q.weight" axis 0 offset 0 size 384
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name, StrAttr:$source, I64Attr:$axis, I64Attr:$offset,
    I64Attr:$size
  );
  let assemblyFormat = [{
    $sym_name `of` $source `axis` $axis `offset` $offset `size` $size attr-dict
  }];
  let hasVerifier = 1;
}

#endif // GIST_RANK_OPS
