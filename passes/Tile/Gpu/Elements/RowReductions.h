//===- RowReductions.h - What is reduced along rows -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads of a wave or workgroup compute a reduction together if all that the
// kernel wants of it for a row of its results is one number: the sum of the
// squares of this row, not of another one. Other reductions each thread
// computes for itself where it needs them.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_ELEMENTS_ROWREDUCTIONS_H
#define GIST_PASSES_TILE_GPU_ELEMENTS_ROWREDUCTIONS_H

#include "dialect/GistIntegerOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace gist {

/// A reduction to one number per row.
struct RowReduction {
  mlir::linalg::LinalgOp op;
  mlir::Operation *combiner; ///< combines what threads have reduced
  unsigned inner;            ///< the loop that threads share
  unsigned rank;             ///< of its result: leading indices of a row
};

/// The reductions of `kernel` that threads share, in the order in which they
/// can be computed.
llvm::SmallVector<RowReduction> getRowReductions(mlir::func::FuncOp kernel);
/// The reductions among them whose results the rows of a tensor of the kernel
/// use.
llvm::SmallVector<RowReduction> getRowReductions(mlir::func::FuncOp kernel,
                                                 mlir::Value rows);

/// What a kernel writes if that is the rows of a gist.quantize_blocks, in
/// blocks that the lanes of a wave can share; else null.
QuantizeBlocksOp getWrittenBlocks(mlir::func::FuncOp kernel);

/// How many leading dimensions of the results number the rows.
unsigned getRowRank(mlir::func::FuncOp kernel,
                    llvm::ArrayRef<RowReduction> reductions);

/// Whether the results of `kernel` have the same rows, by what they are
/// computed from: each has its own destination, so the sizes of those alone do
/// not tell.
bool haveSameRows(mlir::func::FuncOp kernel, unsigned rowRank);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_ELEMENTS_ROWREDUCTIONS_H
