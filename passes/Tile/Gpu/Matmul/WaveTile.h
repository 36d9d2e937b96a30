//===- WaveTile.h - A workgroup's tile, by waves ----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_MATMUL_WAVETILE_H
#define GIST_PASSES_TILE_GPU_MATMUL_WAVETILE_H

#include "passes/Tile/Gpu/Matmul/Matmul.h"

namespace gist {

/// What a thread has of a workgroup's tile of x W^T: each wave has a part of
/// the tile, in fragments of its matrix instruction.
class WaveTile {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  /// The tile has the rows of `x` and of `w`; `waves` share them.
  WaveTile(GpuBuilder &b, Mma mma, const SharedTile &x, const SharedTile &w,
           llvm::ArrayRef<int64_t> waves);

  /// Sums of nothing, of the type `number`.
  Values makeSums(mlir::Type number);
  /// Fragments of x and of W that this wave multiplies, for each part of the
  /// depth. They are loaded in the order in which they are multiplied.
  std::pair<Values, Values> load(Value stageX, Value stageW);
  /// The sums with the product of fragments added.
  Values multiply(mlir::ValueRange x, mlir::ValueRange w,
                  mlir::ValueRange sums);
  /// The scales of this lane's rows; `getScale` gives that of a row of the
  /// tile.
  Values loadScales(llvm::function_ref<Value(Value)> getScale);
  /// `totals` + `scales` * `sums`.
  Values scale(mlir::ValueRange sums, mlir::ValueRange scales,
               mlir::ValueRange totals);
  /// Matrix instructions of one multiply().
  int64_t getInstructions() const;

  /// Stores the sums. `getRow` gives the row of the result for one of the tile,
  /// or one past the end for none; the columns begin at `firstColumn`.
  void store(MatmulResult &result, mlir::ArrayRef<Value> sums,
             llvm::function_ref<Value(Value)> getRow, Value firstColumn);

  /// Whether fragments of `mma` fill a tile; its sizes may be written by hand.
  static bool fits(const Mma &mma, llvm::ArrayRef<int64_t> workgroup,
                   int64_t depth, llvm::ArrayRef<int64_t> waves);

private:
  GpuBuilder &b;
  Mma mma;
  SharedTile tileX, tileW;
  Value waveRow, waveColumn;
  int64_t fragmentsOfRows, fragmentsOfColumns;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_MATMUL_WAVETILE_H
