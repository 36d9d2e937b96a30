//===- LowerTileOps.h - Steps on tiles for one thread -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each op of GistTileOps.td becomes what one thread does of it. A vector of a
// workgroup becomes the values that a thread has of it: fragments, sums, or
// what it has loaded.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_MATMUL_LOWERTILEOPS_H
#define GIST_PASSES_TILE_GPU_MATMUL_LOWERTILEOPS_H

#include "dialect/GistTileOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Tile/Gpu/Matmul/WaveTile.h"
#include "passes/Tile/Gpu/Matmul/WgmmaTile.h"

namespace gist {

class TileLowering {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  /// What reads an operand: the loader for places that begin at `first`, which
  /// brings them into `buffer`.
  struct Side {
    Value first, buffer;
    TileLoader *loader = nullptr;
  };

  explicit TileLowering(GpuBuilder &b) : b(b) {}

  /// To be set before ops are lowered: one of the two tiles, and both operands.
  void setTile(WaveTile &tile) { wave = &tile; }
  void setTile(WgmmaTile &tile) { wgmma = &tile; }
  void setSides(Side x, Side w) {
    sides[0] = x;
    sides[1] = w;
  }

  /// Of integers: gives the scale of a row of the tile in a block.
  using ScaleReader = std::function<Value(Value row, Value block)>;
  void setScales(ScaleReader reader) { readScale = std::move(reader); }

  /// A number or buffer of the ops stands for `to`; a vector of the workgroup
  /// for the `values` of this thread.
  void map(Value from, Value to) { numbers.map(from, to); }
  void mapSums(Value from, Values values) {
    tiles[from] = {std::move(values), Kind::Sums};
  }
  Value getNumber(Value from) { return numbers.lookup(from); }
  Values getSums(Value from) { return tiles.lookup(from).values; }
  bool hasSums(Value from) { return isKind(from, Kind::Sums); }

  /// Constants that ops use from outside of `region`, where folding may have
  /// moved them.
  mlir::LogicalResult takeConstants(mlir::Region &region);
  /// Writes the code of ops at the builder.
  mlir::LogicalResult
  lower(llvm::iterator_range<mlir::Block::iterator> operations);

private:
  /// What the values of a vector are.
  enum class Kind { None, Sums, FetchedX, FetchedW, Loaded, Scales };
  struct Tile {
    Values values;
    Kind kind = Kind::None;
    auto getParts() { return std::tie(values); }
  };

  mlir::LogicalResult lower(mlir::Operation &op);
  mlir::LogicalResult lower(mlir::arith::ConstantOp op);
  mlir::LogicalResult lower(mlir::scf::ForOp op);
  mlir::LogicalResult lower(TileFetchOp op);
  mlir::LogicalResult lower(TileStageOp op);
  mlir::LogicalResult lower(TileCopyOp op);
  mlir::LogicalResult lower(TileLoadOp op);
  mlir::LogicalResult lower(TileMultiplyOp op);
  mlir::LogicalResult lower(TileStartOp op);
  mlir::LogicalResult lower(TileFinishOp op);
  mlir::LogicalResult lower(TileScalesOp op);
  mlir::LogicalResult lower(TileScaleOp op);
  mlir::LogicalResult lower(TileInterleaveOp op);
  /// Numbers, barriers and waits are the same for a thread.
  mlir::LogicalResult clone(mlir::Operation &op);

  bool isKind(Value vector, Kind kind) {
    return tiles.lookup(vector).kind == kind;
  }
  /// Whether the loaders know what `value` stands for.
  bool isOfSide(Value value) const {
    return llvm::any_of(sides, [&](const Side &side) {
      return side.first == value || side.buffer == value;
    });
  }
  /// Whether `sums` are of kind Sums; an error at `op` if not.
  mlir::LogicalResult checkSums(mlir::Operation *op, Value sums);
  /// The side whose places begin at `first`, and which goes to `buffer`, if
  /// given; null with an error.
  TileLoader *getLoader(mlir::Operation *op, Value first, Value buffer = {});
  Kind getKind(TileLoader *loader) {
    return loader == sides[0].loader ? Kind::FetchedX : Kind::FetchedW;
  }

  GpuBuilder &b;
  WaveTile *wave = nullptr;
  WgmmaTile *wgmma = nullptr;
  Side sides[2];
  ScaleReader readScale;
  mlir::IRMapping numbers;
  llvm::DenseMap<Value, Tile> tiles;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_MATMUL_LOWERTILEOPS_H
