//===- GramEpilogue.h - What becomes of a tile of cosines -------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_GRAMEPILOGUE_H
#define GIST_PASSES_TILE_GPU_GRAMEPILOGUE_H

#include "passes/Tile/Gpu/GramTile.h"

namespace gist {

/// What a tile of cosines is reduced to.
enum class GramUse : int64_t {
  Cover, ///< a row is covered if one of its cosines reaches the threshold
  Bits,  ///< one bit per cosine: does it reach the threshold?
  Best,  ///< the largest cosine of a row, and who has it
};

/// Reduces the cosines of a tile. Nothing of the tile is written but the
/// result.
class GramEpilogue {
public:
  using Value = mlir::Value;

  /// `begins` are the beginnings of the sequences of the tile's rows and
  /// columns in workgroup memory, null where all is one sequence.
  GramEpilogue(GpuBuilder &b, GramTile &tile, Similarity similarity,
               Value theta, const Value (&begins)[2])
      : b(b), tile(tile), similarity(similarity), theta(theta),
        begins{begins[0], begins[1]} {}

  /// Only columns with ids below `getBound(id)` of a row count.
  llvm::function_ref<Value(Value rowId)> getBound;

  /// `cover(id)` for rows that are covered.
  void cover(llvm::function_ref<void(Value id)> cover);
  /// `store(id, local row, word, bits)` for words of 32 columns of the tile.
  void
  storeBits(llvm::function_ref<void(Value id, Value word, Value bits)> store);
  /// `improve(id, cos, who)` for rows with a column that counts.
  void
  findBest(llvm::function_ref<void(Value id, Value cosine, Value who)> improve);

private:
  struct Row {
    Value id, scale, bound, begin;
  };
  struct Column {
    GramTile::Column place;
    Value id, scale, begin;
  };
  void loadColumns();
  Row loadRow(unsigned fragment, unsigned laneRow);
  /// The cosine of an element, and whether it counts.
  std::pair<Value, Value> getElement(unsigned fragment, unsigned laneRow,
                                     const Row &row, const Column &column);
  void forEachRow(
      llvm::function_ref<void(unsigned fragment, unsigned laneRow, Row)> body);

  GpuBuilder &b;
  GramTile &tile;
  Similarity similarity;
  Value theta, begins[2];
  llvm::SmallVector<Column> columns;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_GRAMEPILOGUE_H
