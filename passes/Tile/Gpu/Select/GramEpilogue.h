//===- GramEpilogue.h - Reduces a tile of cosines ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_SELECT_GRAMEPILOGUE_H
#define GIST_PASSES_TILE_GPU_SELECT_GRAMEPILOGUE_H

#include "passes/Tile/Gpu/Select/GramTile.h"

#include <functional>

namespace gist {

/// What a tile of cosines is reduced to; several at once.
enum GramUse : int64_t {
  kUseCover =
      1, ///< a row is covered if one of its cosines reaches the threshold
  kUseBest = 2, ///< the largest cosine of a row, and its column
  kUseBits = 4, ///< one bit per cosine: does it reach the threshold?
};

/// Reduces the cosines of a tile. Nothing of the tile is written but the
/// result.
class GramEpilogue {
public:
  using Value = mlir::Value;
  /// Takes the id of a row, its largest cosine and the id of that column.
  using Improve = llvm::function_ref<void(Value id, Value cosine, Value owner)>;
  /// Takes the id of a row, a word of 32 columns of the tile and its bits.
  using Store = llvm::function_ref<void(Value id, Value word, Value bits)>;

  /// `begins` are the beginnings of the sequences of the tile's rows and
  /// columns in workgroup memory, null where all is one sequence.
  GramEpilogue(GpuBuilder &b, GramTile &tile, Similarity similarity,
               Value theta, const Value (&begins)[2])
      : b(b), tile(tile), similarity(similarity), theta(theta),
        begins{begins[0], begins[1]} {}

  /// What is known of a row or column of the tile: its id, its scale, where its
  /// sequence begins.
  struct Token {
    Value id, scale, begin = {};
  };
  /// Tells it of number `local` of side `side`; what the tile has in workgroup
  /// memory if empty.
  std::function<Token(unsigned side, Value local)> readToken;

  /// Only columns with ids below `getBound(id)` of a row count.
  llvm::function_ref<Value(Value rowId)> getBound;

  /// Calls `improve` for rows with a column that counts and `store` for all
  /// words of bits; either may be null.
  void run(Improve improve, Store store);

private:
  struct Row {
    unsigned fragment, laneRow;
    Value id, scale, bound, begin;
    Value best, owner;              ///< so far
    llvm::SmallVector<Value> words; ///< of bits
  };
  struct Column {
    GramTile::Column place;
    Value id, scale, begin;
  };
  Token load(unsigned side, Value local);
  Row loadRow(unsigned fragment, unsigned laneRow);
  Column loadColumn(const GramTile::Column &place);
  /// The cosine of an element, and whether it counts.
  std::pair<Value, Value> getElement(const Row &row, const Column &column);
  void reduceBest(Row &row);
  void reduceBits(Row &row);
  void writeBest(Row &row, Improve improve);
  void writeBits(Row &row, Store store);

  GpuBuilder &b;
  GramTile &tile;
  Similarity similarity;
  Value theta, begins[2];
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_SELECT_GRAMEPILOGUE_H
