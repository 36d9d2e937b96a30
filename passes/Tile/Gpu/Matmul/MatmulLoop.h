//===- MatmulLoop.h - Products among other code of a kernel -----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_MATMUL_MATMULLOOP_H
#define GIST_PASSES_TILE_GPU_MATMUL_MATMULLOOP_H

#include "dialect/GistTileAttrs.h"
#include "passes/Tile/Gpu/Matmul/WaveTile.h"
#include "passes/Tile/Gpu/Matmul/WgmmaTile.h"

#include <optional>

namespace gist {

/// The tile of x W^T that a workgroup has, for generators that write the code
/// of a thread and decide themselves which rows are multiplied: the same steps
/// as those of a gist.tile_product.
class MatmulLoop {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  /// Written where a kernel begins.
  MatmulLoop(GpuBuilder &b, GpuProductAttr config);

  const SharedTile &getTileX() const { return tileX; }
  const SharedTile &getTileW() const { return tileW; }

  /// Sums of nothing.
  Values makeSums() {
    mlir::Type number = b.getF32Type();
    return wave ? wave->makeSums(number) : wgmma->makeSums(number);
  }
  /// The sums with x W^T added. Loaders bring rows into getTileX() and
  /// getTileW().
  Values add(TileLoader &x, TileLoader &w, mlir::ValueRange sums);
  /// Lets another product begin after one.
  void finish(TileLoader &x, TileLoader &w);

  /// Stores the sums; see WaveTile.
  void store(MatmulResult &result, mlir::ArrayRef<Value> sums,
             llvm::function_ref<Value(Value)> getRow, Value firstColumn) {
    if (wave)
      wave->store(result, sums, getRow, firstColumn);
    else
      wgmma->store(result, sums, getRow, firstColumn);
  }

private:
  GpuBuilder &b;
  GpuProductAttr config;
  SharedTile tileX, tileW;
  /// What multiplies: one of the two.
  std::optional<WaveTile> wave;
  std::optional<WgmmaTile> wgmma;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_MATMUL_MATMULLOOP_H
