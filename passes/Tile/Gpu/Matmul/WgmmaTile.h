//===- WgmmaTile.h - A workgroup's tile, by four warps at once --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_MATMUL_WGMMATILE_H
#define GIST_PASSES_TILE_GPU_MATMUL_WGMMATILE_H

#include "passes/Tile/Gpu/Core/Wgmma.h"
#include "passes/Tile/Gpu/Matmul/Matmul.h"

namespace gist {

/// What a thread has of a workgroup's tile of x W^T: each group of four warps
/// has a part of it, in accumulators of wgmma.
class WgmmaTile {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  /// The tile has the rows of `x` and of `w`; `waves` share them. Instructions
  /// have at most `most` columns.
  WgmmaTile(GpuBuilder &b, const SharedTile &x, const SharedTile &w,
            llvm::ArrayRef<int64_t> waves, int64_t most = Wgmma::kMaxColumns);

  /// Sums of nothing, of the type `number`.
  Values makeSums(mlir::Type number);
  /// Starts to add the product of two stages.
  Values start(Value stageX, Value stageW, mlir::ValueRange sums) {
    return start(stageX, stageW, /*part=*/0, /*parts=*/1, sums);
  }
  /// The same for part `part` of `parts` of the columns; without `sums`, from
  /// zero.
  Values start(Value stageX, Value stageW, int64_t part, int64_t parts,
               mlir::ValueRange sums);
  /// The sums when that is done.
  Values finish(mlir::ValueRange sums);
  /// The scales of this lane's rows; `getScale` gives that of a row of the
  /// tile.
  Values loadScales(llvm::function_ref<Value(Value)> getScale);
  /// `totals`, to a part of which `scales` * `sums` is added.
  Values scale(mlir::ValueRange sums, mlir::ValueRange scales,
               mlir::ValueRange totals, int64_t part);
  /// Stores the sums of a tile that begins at a row and a column.
  void store(MatmulResult &result, mlir::ValueRange sums, Value firstRow,
             Value firstColumn);
  /// The same for rows that do not follow one another: `getRow` gives the row
  /// of the result for one of the tile, or one past the end for none.
  void store(MatmulResult &result, mlir::ValueRange sums,
             llvm::function_ref<Value(Value)> getRow, Value firstColumn);

  /// Whether accumulators fill a tile; its sizes may be written by hand.
  static bool fits(llvm::ArrayRef<int64_t> workgroup,
                   llvm::ArrayRef<int64_t> waves);

private:
  static constexpr int64_t kWarps = Wgmma::kWarps, kRows = Wgmma::kRows;
  /// Columns of an instruction, if a group of four warps has `columns` columns
  /// and instructions have at most `most`.
  static int64_t getColumns(int64_t columns, int64_t most = Wgmma::kMaxColumns);
  /// Adds the product of two stages to sums of parts of the columns, from part
  /// `first` on; a sum that is null begins here.
  Values multiply(Value stageX, Value stageW, int64_t first, Values sums);
  /// Two numbers of each of four groups of eight columns, which the four lanes
  /// of a row have, become the numbers of one group for each lane.
  void transpose(llvm::MutableArrayRef<Value> numbers);
  /// Stores the sums; this lane's first row is `getRow(row)`.
  void storeRows(MatmulResult &result, mlir::ValueRange sums, Value row,
                 llvm::function_ref<Value(Value)> getRow, Value firstColumn);

  GpuBuilder &b;
  SharedTile tileX, tileW;
  int64_t columns; ///< of an instruction
  Wgmma wgmma;
  Value groupRow, groupColumn;
  int64_t partsOfRows, partsOfColumns;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_MATMUL_WGMMATILE_H
