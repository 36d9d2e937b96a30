//===- MatmulLoop.h - A tile of products, by instructions of a wave -*- C++
//-*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_MATMUL_MATMULLOOP_H
#define GIST_PASSES_TILE_GPU_MATMUL_MATMULLOOP_H

#include "dialect/GistTileAttrs.h"
#include "passes/Tile/Gpu/Matmul/Matmul.h"

namespace gist {

/// The tile of x W^T that a workgroup has, and what brings it about: parts of x
/// and W in `stages` buffers of workgroup memory, sums in registers.
class MatmulLoop {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  /// Written where a kernel begins.
  MatmulLoop(GpuBuilder &b, GpuTileAttr tile);

  const SharedTile &getTileX() const { return tileX; }
  const SharedTile &getTileW() const { return tileW; }

  /// Sums of nothing.
  Values makeSums();
  /// The sums with x W^T, of `depth` terms, added. Loaders bring rows into
  /// getTileX() and getTileW().
  Values add(TileLoader &x, TileLoader &w, int64_t depth,
             mlir::ValueRange sums);
  /// Lets another product begin after one.
  void finish(TileLoader &x, TileLoader &w);

  /// Stores the sums. `getRow` gives the row of the result for one of the tile,
  /// or one past the end for none; the columns begin at `firstColumn`.
  void store(MatmulResult &result, mlir::ArrayRef<Value> sums,
             llvm::function_ref<Value(Value)> getRow, Value firstColumn);

private:
  /// What a wave multiplies of a stage: for each part of the depth, fragments
  /// of x and then of W.
  Values loadFragments(Value stage);
  Values multiply(mlir::ValueRange fragments, mlir::ValueRange sums);

  GpuBuilder &b;
  Mma mma;
  int64_t depth, stages;
  SharedTile tileX, tileW;
  Value waveRow, waveColumn;
  int64_t fragmentsOfRows, fragmentsOfColumns;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_MATMUL_MATMULLOOP_H
