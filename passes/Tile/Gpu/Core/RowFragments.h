//===- RowFragments.h - Fragments straight from memory ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows that no other wave multiplies need not go through workgroup memory: a
// lane loads chunks of 16 bytes as they lie there, and what all lanes have are
// fragments of a matrix instruction. A chunk is more neighbours along k than an
// instruction wants of a lane, so k has an order of its own, the same for both
// operands. Here is what that is on gfx942 and on sm_90.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_CORE_ROWFRAGMENTS_H
#define GIST_PASSES_TILE_GPU_CORE_ROWFRAGMENTS_H

#include "passes/Tile/Gpu/Core/GpuBuilder.h"
#include "passes/Tile/Gpu/Core/Mma.h"

namespace gist {

class RowFragments {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  /// For instructions of 16 rows and 16 columns.
  RowFragments(GpuBuilder &b, const Mma &mma);

  /// Rows of a fragment that a lane has a chunk of: the numbers of a lane are
  /// of two rows on sm_90.
  int64_t getChunks() const { return chunks; }
  /// Lanes that share a row, each with another chunk of it.
  int64_t getLanesOfRow() const { return lanesOfRow; }
  /// The row of this lane's chunk number `i`, and its place among those lanes.
  Value getRow(int64_t i);
  Value getPlace();

  /// A lane's chunks as fragments of A and of B, of which as many as there are
  /// chunks have all of their k.
  Values makeA(mlir::ArrayRef<Value> ofLane);
  Values makeB(mlir::ArrayRef<Value> ofLane);

private:
  Values alternate(mlir::ArrayRef<Value> ofLane, int64_t width);

  GpuBuilder &b;
  int64_t rows, chunks, lanesOfRow;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_CORE_ROWFRAGMENTS_H
