//===- Readers.h - What ops need of the tensors that they read --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_GRAPH_READERS_H
#define GIST_PASSES_GRAPH_READERS_H

#include "mlir/IR/Operation.h"

namespace gist {

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// True for ops that rename elements: readers look through them.
/// A kernel repeats them inside, so they cost neither memory nor a launch.
bool isView(mlir::Operation *op);

/// What `value` is a view of, or itself.
/// Slices count: what is found may be larger than `value`.
mlir::Value getSource(mlir::Value value);

/// True if row i of the view's result is made of row i of its source alone.
bool keepsRows(mlir::Operation *view);

//===----------------------------------------------------------------------===//
// Readers
//===----------------------------------------------------------------------===//

/// A use of a value by a compute op, through any number of views.
struct Reader {
  mlir::OpOperand *operand; ///< of the op that computes, or returns
  bool sameRows = true;     ///< every view on the way keeps rows as they are
};

/// Adds all that read `value`; `sameRows` says what is before it. Views do not
/// compute, so the ops behind them are the readers.
void collectReaders(mlir::Value value, bool sameRows,
                    llvm::SmallVectorImpl<Reader> &readers);

/// The op of the function's block that `operand`'s owner is, or is inside of.
mlir::Operation *getOwner(const mlir::OpOperand &operand, mlir::Block *block);

/// True if row i of the result of `operand`'s owner takes row i of `operand`
/// and no other.
bool readsOwnRow(mlir::OpOperand &operand);

/// True if the owner computes each of its elements from the element of
/// `operand` at the same place.
bool readsOwnElement(mlir::OpOperand &operand);

/// The elementwise ops that make one tensor of `a` and `b`, such as a gate and
/// what it lets through: each is the only reader of what is before it. Empty
/// where they do not come together.
llvm::SmallVector<mlir::Operation *> findMeeting(mlir::Value a, mlir::Value b);

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// True for an elementwise change of element type.
bool isConversion(mlir::Operation *op);

/// True if `operand` is the x of a product y = x W^T of few rows.
bool isFewRows(mlir::OpOperand &operand);

/// True for what a workgroup can compute of rows before it multiplies them: one
/// element, or one number of a row.
bool isRowPrologue(mlir::Operation *op);

/// True for ops that make each number of a row from a few others of it.
bool isPointwise(mlir::Operation *op);

} // namespace gist

#endif // GIST_PASSES_GRAPH_READERS_H
