//===- ClusterScores.h - Tokens against clusters on GPUs --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup has some tokens in workgroup memory and multiplies them with the
// units of clusters, some at a time: with the existing clusters, of which each
// token keeps the largest product, and with the units that its own tokens would
// give new clusters, of which every product with an earlier token is kept.
//
// f16 is multiplied by matrix instructions, whose products are exact in f32.
// f32 is multiplied as it is.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_CLUSTER_CLUSTERSCORES_H
#define GIST_PASSES_TILE_GPU_CLUSTER_CLUSTERSCORES_H

#include "passes/Tile/Gpu/Core/GpuBuilder.h"
#include "passes/Tile/Gpu/Core/Mma.h"

namespace gist {

class ClusterScores {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  /// Takes its workgroup memory, so that the builder must be where the kernel
  /// begins.
  ClusterScores(GpuBuilder &b, GpuClustersAttr tile, int64_t keySize);

  /// The tile that goes with `gpu` for blocks of `block` tokens with rows of
  /// `size` numbers of type `element`.
  static GpuClustersAttr selectTile(const GpuInfo &gpu, int64_t block,
                                    int64_t size, mlir::Type element);

  /// Tokens that the workgroup has at once.
  int64_t getTokens() const { return tokens; }
  /// Numbers of 16 bytes.
  int64_t getChunk() const { return tokenTile.getChunk(); }

  /// A thread's part of a row of `size` numbers: a team of `lanes` neighbouring
  /// threads has a row, each with chunks `lanes` apart.
  struct Team {
    int64_t lanes, pieces, size;
    Value number; ///< of the team
    Value lane;   ///< in the team

    /// The column of a thread's piece; it may be past the row.
    Value getColumn(GpuBuilder &b, int64_t piece, int64_t chunk) const;
  };
  Team getTeam(int64_t size);

  /// Brings rows of `rows` into workgroup memory, token i from row
  /// `getRow(i)`, and where `inverses` is given writes one over the norm of
  /// each there: 0 for a row without direction.
  void load(Value rows, llvm::function_ref<Value(Value)> getRow,
            Value inverses);
  /// A chunk of a token, as it was loaded.
  Value read(Value token, Value column);
  /// A chunk of a key as part of a unit.
  Value makeUnit(Value chunk, Value inverse);

  /// Writes, for each token, the largest product with the `count` rows of
  /// `units` from `first` on and the number of the first row that has it.
  /// Where there are none nothing is written.
  void findBest(Value units, Value first, Value count, Value best, Value owner);
  /// Writes the product of each token with the unit of each earlier one to
  /// `pairs`, which has countPairs() numbers, at getPair().
  void findPairs(Value inverses, Value pairs);
  static int64_t countPairs(int64_t tokens) {
    return tokens * (tokens + 1) / 2;
  }
  /// Rows of a triangle. The last place of a row is a dummy for tokens that are
  /// not earlier, so that callers need no branch.
  Value getPair(Value token, Value earlier);

private:
  /// x < limit, for an x that is less than `bound`.
  Value isBelow(Value x, int64_t bound, int64_t limit);
  /// A chunk of a row of `rows`, undefined past its end; finish() replaces that
  /// by zeros: later, so that no thread waits for its loads here.
  Value fetch(Value rows, Value row, Value column);
  Value finish(Value fetched, Value column, int64_t size);
  /// Calls `body` with what this thread moves of the tile of units.
  void forPieces(
      llvm::function_ref<void(Value isMine, Value slot, Value column)> body);
  Values loadLeft();
  /// The products of this wave's tokens with all units of the tile.
  Values multiply(mlir::ArrayRef<Value> left);
  Values multiplyPlain();
  /// Row `row` of a lane's rows.
  Value getLaneToken(int64_t row);
  void writeBest(Values state, Value best, Value owner);

  GpuBuilder &b;
  Mma mma; ///< or where the lanes' sums lie, if f32 is multiplied
  bool isPlain;
  int64_t tokens, clusters, depth, columns, columnTiles;
  Value lane, firstToken;
  SharedTile tokenTile, unitTile;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_CLUSTER_CLUSTERSCORES_H
