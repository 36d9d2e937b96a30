//===- Matmul.h - Products on GPUs ------------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of y = x W^T, x of M x K and W of N x K, with what follows it
// element by element. Products by matrix instructions are cut into steps on
// tiles first (gist.tile_product), which are then written as the code of one
// thread; those of few rows are written at once.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_MATMUL_MATMUL_H
#define GIST_PASSES_TILE_GPU_MATMUL_MATMUL_H

#include "dialect/GistIntegerOps.h"
#include "dialect/GistTileOps.h"
#include "passes/Tile/Gpu/Elements/GpuKernel.h"
#include "passes/Tile/Gpu/Matmul/Staging.h"

#include <array>

namespace gist {

/// The product of `kernel` that the generators here can compute, or null: y =
/// x W^T of floats from zero on, W of static sizes.
mlir::linalg::LinalgOp getGpuMatmul(mlir::func::FuncOp kernel);

/// How a product is cut, from a table per GPU: by its rows where they are
/// known, and its columns.
GpuTileInterface selectMatmulTile(mlir::linalg::LinalgOp product,
                                  const GpuInfo &gpu);

/// The same for a product that -gist-gpu-tile-products has cut into steps.
mlir::FailureOr<GpuGrid> emitTileProduct(GpuKernel &kernel,
                                         TileProductOp product);

/// Products of few rows, which no matrix instruction multiplies, as a
/// #gist.gpu_gemv says; and whether the product can be cut so.
mlir::FailureOr<GpuGrid> emitGemv(GpuKernel &kernel,
                                  mlir::linalg::LinalgOp product);
/// Code is written out for each product of a step, `products` of them, and for
/// each step: refuses what would be too much of it.
mlir::LogicalResult verifyLaneProducts(mlir::linalg::LinalgOp product,
                                       GpuGemvAttr tile, int64_t products);
mlir::LogicalResult verifyGemv(mlir::linalg::LinalgOp product, GpuGemvAttr tile,
                               const GpuInfo &gpu);

/// The same for a product of 8 bits, and whether its tile fits it.
GpuTileInterface selectScaledTile(ScaledMatmulOp product, const GpuInfo &gpu);
mlir::LogicalResult verifyScaledTile(ScaledMatmulOp product,
                                     GpuProductAttr tile, const GpuInfo &gpu);

/// Replaces a product by the steps of a workgroup on tiles, as `tile` says.
mlir::FailureOr<TileProductOp> tileProduct(mlir::linalg::LinalgOp product,
                                           GpuProductAttr tile,
                                           const GpuInfo &gpu);
mlir::FailureOr<TileProductOp>
tileProduct(ScaledMatmulOp product, GpuProductAttr tile, const GpuInfo &gpu);

/// The tile of the result that a workgroup computes.
///
/// Workgroups that run at the same time should share what they read. Hardware
/// starts them along x: there, `kColumnsOfTiles` neighbouring columns of tiles
/// alternate before the next row of tiles comes, and the rest of the columns
/// is along y. On a GPU of eight parts, each with a cache of its own, that
/// keeps a part at the same columns of W.
class MatmulGrid {
public:
  /// N must be static.
  MatmulGrid(mlir::Operation *product, llvm::ArrayRef<int64_t> workgroup);

  /// Workgroups along x for a row of tiles, and along y.
  int64_t getPerRow() const { return perRow; }
  int64_t getAlongY() const { return tilesOfColumns / perRow; }
  /// First row and column of this workgroup.
  mlir::Value getRow(GpuBuilder &b) const;
  mlir::Value getColumn(GpuBuilder &b) const;

private:
  static constexpr int64_t kColumnsOfTiles = 8;

  int64_t rows, columns, tilesOfColumns, perRow;
};

/// Whether what follows `product` needs both halves of its columns at once:
/// columns are then counted in pairs, number 2j from the first half and number
/// 2j + 1 from the second one, and a pair is stored together.
bool isPaired(mlir::Operation *product);

/// The row of W that makes a column of a result of `columns` in pairs.
mlir::Value getPairedRow(GpuBuilder &b, mlir::Value column, int64_t columns);

/// Stores numbers of the product, and what is computed from them, into the
/// kernel's results.
class MatmulResult {
public:
  /// Columns are checked against the end if N is not a multiple of `tile`. One
  /// row of the result of `product` holds `perRow` rows of N side by side.
  MatmulResult(ElementEmitter &emitter, mlir::Operation *product, int64_t tile,
               int64_t perRow = 1);

  /// Calls `body` if the row exists.
  void ifRow(mlir::Value row, llvm::function_ref<void()> body);
  /// Stores a vector of neighbours from `column` on, a multiple of its length;
  /// that is even where columns are paired.
  void store(mlir::Value row, mlir::Value column, mlir::Value numbers);

private:
  void storeAt(mlir::Value row, mlir::Value column, mlir::Value numbers);
  /// Elements of `tensor` are `numbers` at `column` of `row` and after it.
  void bind(mlir::Value tensor, mlir::Value row, mlir::Value column,
            mlir::Value numbers);
  /// Writes all results at `column`, as many as `width`.
  void write(mlir::Value row, mlir::Value column, int64_t width);

  ElementEmitter &emitter;
  GpuBuilder &b;
  mlir::Value product, rows;
  /// The parts of the product where it is paired, else null.
  std::array<mlir::Value, 2> halves;
  int64_t columns, perRow;
  bool checked;
  unsigned numResults;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_MATMUL_MATMUL_H
