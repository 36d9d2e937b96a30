//===- LowerTiles.h - Ops on tiles as loops over vectors --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_CPU_LOWERTILES_H
#define GIST_PASSES_TILE_CPU_LOWERTILES_H

#include "mlir/IR/PatternMatch.h"
#include "passes/Kernel/Kernels.h"

namespace gist {
class TileBuilder;

// Ops on tiles as loops over vectors; each obeys the tile attribute of the
// kernel around the op.
mlir::LogicalResult lowerQuantizeRows(mlir::RewriterBase &rewriter,
                                      QuantizeRowsOp op);
mlir::LogicalResult lowerQuantizedMatmul(mlir::RewriterBase &rewriter,
                                         QuantizedMatmulOp op);
mlir::LogicalResult lowerGuardedMatmul(mlir::RewriterBase &rewriter,
                                       GuardedMatmulOp op);
mlir::LogicalResult lowerMatmul(mlir::RewriterBase &rewriter,
                                mlir::linalg::LinalgOp op);
mlir::LogicalResult lowerAttention(mlir::RewriterBase &rewriter,
                                   AttentionOp op);
mlir::LogicalResult lowerRowwise(mlir::RewriterBase &rewriter,
                                 mlir::linalg::LinalgOp op);

/// A tensor of f32 with `shape`: what `emit` writes into it where a guard of
/// the rows is open, and zeros elsewhere. Nothing is computed where all are
/// closed.
mlir::Value
emitGuarded(TileBuilder &b, mlir::Value guard,
            llvm::ArrayRef<mlir::OpFoldResult> shape,
            llvm::function_ref<mlir::Value(TileBuilder &, mlir::Value)> emit);

} // namespace gist

#endif // GIST_PASSES_TILE_CPU_LOWERTILES_H
