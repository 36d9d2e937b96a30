//===- FewRows.h - Products of up to 16 rows --------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A #gist.gpu_gemv with `matrix` is for products by matrix instructions that
// have no tiles of rows. The number of rows may be dynamic, but needs a bound
// of 16: the attribute gist.max_tokens of a kernel gives it.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_MATMUL_FEWROWS_H
#define GIST_PASSES_TILE_GPU_MATMUL_FEWROWS_H

#include "passes/Tile/Gpu/Elements/GpuKernel.h"
#include "passes/Tile/Gpu/Elements/RowTeam.h"

#include <optional>

namespace gist {

/// Rows that one matrix instruction multiplies.
inline constexpr int64_t kMatrixRows = 16;

/// An upper bound of a product's dynamic number of rows, if its kernel gives
/// one.
std::optional<int64_t> getMaxRows(mlir::linalg::LinalgOp product);

/// The kernel of such a product, and whether the product can be cut so.
mlir::FailureOr<GpuGrid> emitFewRows(GpuKernel &kernel,
                                     mlir::linalg::LinalgOp product);
mlir::LogicalResult verifyFewRows(mlir::linalg::LinalgOp product,
                                  GpuGemvAttr tile, const GpuInfo &gpu);

/// Asks for weights of a kernel that are short, such as that of a norm.
void prefetchShortWeights(ElementEmitter &emitter, mlir::func::FuncOp source);

/// Computes what the rows that `product` multiplies need of each row as a
/// whole, a norm's sum, by the threads of `team`. From now on it is at hand.
void reduceRowsBefore(ElementEmitter &emitter, mlir::linalg::LinalgOp product,
                      int64_t rows, RowTeam &team);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_MATMUL_FEWROWS_H
