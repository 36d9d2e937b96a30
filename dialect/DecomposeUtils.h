//===- DecomposeUtils.h - The vocabulary of the definitions -----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers that write linalg, scf and arith shortly, so that the executable
// definitions of the ops read like the formulas they define.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_DECOMPOSEUTILS_H
#define GIST_DIALECT_DECOMPOSEUTILS_H

#include "dialect/ValueBuilder.h"

namespace gist {

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

using Sizes = llvm::ArrayRef<mlir::OpFoldResult>;

mlir::OpFoldResult getSize(mlir::ImplicitLocOpBuilder &b, mlir::Value tensor,
                           int64_t dim);
/// The same as an index value.
mlir::Value getSizeValue(mlir::ImplicitLocOpBuilder &b, mlir::Value tensor,
                         int64_t dim);
mlir::Value createEmpty(mlir::ImplicitLocOpBuilder &b, Sizes sizes,
                        mlir::Type element);
/// As large as `tensor`.
mlir::Value createEmptyLike(mlir::ImplicitLocOpBuilder &b, mlir::Value tensor,
                            mlir::Type element);
mlir::Value createFilled(mlir::ImplicitLocOpBuilder &b, Sizes sizes,
                         mlir::Value scalar);

mlir::Value load(mlir::ImplicitLocOpBuilder &b, mlir::Value tensor,
                 mlir::ValueRange indices);
/// Tensors are values: this is `tensor` with one element changed.
mlir::Value store(mlir::ImplicitLocOpBuilder &b, mlir::Value scalar,
                  mlir::Value tensor, mlir::ValueRange indices);

/// The slice of `tensor` at `index` of dimension `dim`, which it loses.
mlir::Value takeSlice(mlir::ImplicitLocOpBuilder &b, mlir::Value tensor,
                      int64_t dim, mlir::Value index);
/// `tensor` with `slice` at `index` of dimension `dim`, which the slice lacks.
mlir::Value putSlice(mlir::ImplicitLocOpBuilder &b, mlir::Value slice,
                     mlir::Value tensor, int64_t dim, mlir::Value index);

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

using ValueBody =
    llvm::function_ref<mlir::Value(ValueBuilder &, mlir::ValueRange)>;
using ValuesBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    ValueBuilder &, mlir::ValueRange)>;

/// A linalg.generic whose maps are written like a sum over indices: in
/// "td,sd->ts" the inputs are indexed by (t,d) and (s,d) and the result by
/// (t,s). Letters of the result are the outer loops, in that order, and
/// parallel; the others are reductions, in the order they appear. `body` gets
/// the elements of the inputs and then of the result so far.
mlir::Value createLoops(mlir::ImplicitLocOpBuilder &b, llvm::StringRef dims,
                        mlir::ValueRange inputs, mlir::Value init,
                        ValueBody body);
/// The same with several results, all indexed alike.
llvm::SmallVector<mlir::Value>
createLoops(mlir::ImplicitLocOpBuilder &b, llvm::StringRef dims,
            mlir::ValueRange inputs, mlir::ValueRange inits, ValuesBody body);
/// The index of loop `dim` of the surrounding createLoops.
mlir::Value getLoopIndex(mlir::ImplicitLocOpBuilder &b, int64_t dim);

/// Sums of products in f32, for instance "td,sd->ts".
mlir::Value createProduct(ValueBuilder &b, llvm::StringRef dims,
                          mlir::Value lhs, mlir::Value rhs, Sizes sizes);
/// The f32 sums of the squares of the rows.
mlir::Value createSquares(ValueBuilder &b, mlir::Value rows);

/// Steps that visit tokens one after the other. The body gets what inputs and
/// outputs are inside of it, and gives what becomes of the outputs; nothing but
/// these may be used inside.
using OrderedBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    ValueBuilder &, mlir::ValueRange inputs, mlir::ValueRange outputs)>;
/// Where such a step runs: amid the rest, or for instance in a dispatch.
using RunInOrder = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    ValueBuilder &, mlir::ValueRange inputs, mlir::ValueRange outputs,
    OrderedBody body)>;

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

/// Sums of products in f32, a batch for each first index: of rows and rows if
/// `byRows`, else of rows and columns.
mlir::Value multiplyBatches(ValueBuilder &b, mlir::Value lhs, mlir::Value rhs,
                            bool byRows);

/// `x` with its dimensions in another order.
mlir::Value transpose(ValueBuilder &b, mlir::Value x,
                      llvm::ArrayRef<int64_t> order);

/// `x`, of three dimensions, in `element`.
mlir::Value convert(ValueBuilder &b, mlir::Value x, mlir::Type element);

/// T x H x D as H x T x D in f32.
mlir::Value splitHeads(ValueBuilder &b, mlir::Value rows);

//===----------------------------------------------------------------------===//
// Ragged batches
//===----------------------------------------------------------------------===//

/// First row of a sequence and first row after it.
struct Bounds {
  mlir::Value begin, end;
};

/// The sequences to which the rows of a batch belong: one, without offsets.
class Sequences {
public:
  /// A batch of `size` rows.
  Sequences(ValueBuilder &b, mlir::Value offsets, mlir::OpFoldResult size);

  bool isRagged() const { return static_cast<bool>(offsets); }
  /// The bounds of the sequence of row i.
  Bounds getBounds(ValueBuilder &b, mlir::Value i) const;
  /// The same in another batch of as many sequences. Ragged only.
  Bounds getBoundsIn(ValueBuilder &b, mlir::Value otherOffsets,
                     mlir::Value i) const;
  /// True if row `s` of the batch is in the sequence of row i.
  mlir::Value contains(ValueBuilder &b, mlir::Value i, mlir::Value s) const;

private:
  mlir::Value offsets;
  mlir::OpFoldResult size;
  /// For each row the number of its sequence.
  mlir::Value numbers;
};

} // namespace gist

#endif // GIST_DIALECT_DECOMPOSEUTILS_H
