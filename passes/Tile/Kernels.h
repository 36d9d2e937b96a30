//===- Kernels.h - Kernel functions and how ops become vectors --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel function (dialect/GistProgramOps.td) gains, in this order,
//
//   gist.tile = #gist.tile<…>   what -gist-select-tile-config chose
//   gist.grid = [map, …]        up to three sizes of its grid, x first (sizes
//                               left out are 1), as functions of the kernel's
//                               numbers in the order of their slots: s0, s1, …
//                               are the index arguments, then the dynamic
//                               sizes of the tensor arguments
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_KERNELS_H
#define GIST_PASSES_TILE_KERNELS_H

#include "dialect/GistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace gist {
class TileBuilder;

inline constexpr llvm::StringLiteral kTileAttr = "gist.tile";
inline constexpr llvm::StringLiteral kGridAttr = "gist.grid";

/// True if `op` is a kernel function.
inline bool isKernel(mlir::Operation *op) { return op->hasAttr(kKernelAttr); }

/// The choice made for the kernel around `op`, or null.
TileAttr getKernelTile(mlir::Operation *op);

/// The op that decides how a kernel is cut: its product or attention, else
/// null for a kernel that works on whole rows.
mlir::Operation *getAnchor(mlir::func::FuncOp kernel);

/// `size` as a function of the numbers of `kernel`, a function on tensors, in
/// the order of their slots; fails if they do not give it.
mlir::FailureOr<mlir::AffineExpr> getSizeExpr(mlir::func::FuncOp kernel,
                                              mlir::OpFoldResult size);

/// `gist.grid` of these sizes, x first, each a function of the numbers of
/// `kernel`.
mlir::ArrayAttr getGridAttr(mlir::func::FuncOp kernel,
                            llvm::ArrayRef<mlir::AffineExpr> sizes);

/// True for a product of f32 rows with the rows of a weight: y = x W^T.
bool isTransposedMatmul(mlir::linalg::LinalgOp op);

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

/// Writes to `result` what `emit` computes where a guard of the rows is open,
/// and zeros elsewhere; nothing is computed where all are closed.
mlir::Value
emitGuarded(TileBuilder &b, mlir::Value guard, mlir::Value result,
            llvm::function_ref<mlir::Value(TileBuilder &, mlir::Value)> emit);

} // namespace gist

#endif // GIST_PASSES_TILE_KERNELS_H
