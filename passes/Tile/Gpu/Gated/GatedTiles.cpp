//===- GatedTiles.cpp - Tiles of gated projections of many tokens ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows of one level are gathered into tiles of their own, so that a workgroup
// has one product of dense rows and nothing else; a level's last tile may have
// fewer rows. Rows that ask for most come first: workgroups that read W begin
// before those that only read M. Those of one column of tiles are neighbours,
// so that they read the same rows of W at about the same time.
//
// Every workgroup finds its rows by counting levels, so no list is needed.
// There are workgroups for as many tiles as levels can need; those past the
// last tile end at once.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Core/Compact.h"
#include "passes/Tile/Gpu/Gated/Gated.h"
#include "passes/Tile/Gpu/Gated/GatedChain.h"
#include "passes/Tile/Gpu/Matmul/MatmulLoop.h"

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;

using Values = GpuBuilder::Values;

static int64_t getNumLevels(const GatedChain &chain) {
  return chain.links.back().highest + 1;
}

static int64_t getTilesOfColumns(const GatedChain &chain, GpuProductAttr tile) {
  auto type = cast<RankedTensorType>(
      chain.links.back().product->getResult(0).getType());
  return llvm::divideCeil(type.getDimSize(1), tile.getColumns());
}

namespace {
class GatedTiles {
public:
  GatedTiles(GpuKernel &kernel, const GatedChain &chain)
      : b(kernel.b), emitter(kernel.emitter), chain(chain),
        tile(kernel.getTile<GpuProductAttr>()), loop(b, tile),
        tokens(emitter.size(chain.links.back().product->getResult(0), 0)),
        result(emitter, chain.links.back().product, tile.getColumns()),
        compact(b), order(b.allocWorkgroup({tile.getRows()}, b.getI32Type())) {}

  void emit() {
    findTile();
    b.ifThen(isThere, [&] {
      findRows();
      for (int64_t level = getNumLevels(chain) - 1; level >= 0; --level)
        b.ifThen(b.isEqual(ownLevel, level), [&] { multiply(level); });
    });
  }

private:
  Value isLevel(Value token, Value level) {
    Value own = emitter.element(chain.levels, token);
    return b.compare(
        CmpIPredicate::eq, own,
        arith::IndexCastOp::create(b, own.getType(), level).getResult());
  }

  /// Which tile of which level this workgroup has.
  void findTile() {
    int64_t columns = getTilesOfColumns(chain, tile);
    Value number = b.block(0), begin = b.index(0), left = tokens;
    Value tiles = b.index(1);
    isThere = b.isLess(b.index(0), b.index(0));
    for (int64_t level = getNumLevels(chain) - 1; level >= 0; --level) {
      // What has no other level has the lowest.
      Value rows = left;
      if (level > 0)
        rows = compact.run(
            b.index(0), tokens, b.index(0),
            [&](Value t) { return isLevel(t, b.index(level)); },
            [](Value, Value, Value) {});
      left = b.sub(left, rows);
      Value ofLevel = b.ceilDiv(rows, tile.getRows());
      // The last level that begins at or before the number has it. A level
      // without tiles begins where the next one does, and is passed over.
      Value isHere = b.compare(CmpIPredicate::sge, number, begin);
      ownLevel = ownLevel ? b.select(isHere, b.index(level), ownLevel)
                          : b.index(level);
      first = first ? b.select(isHere, begin, first) : begin;
      tiles = b.select(isHere, ofLevel, tiles);
      begin = b.add(begin, b.mul(ofLevel, columns));
    }
    isThere = b.isLess(number, begin);
    Value inside = b.sub(number, first);
    // Workgroups past the last tile divide by it too, before they end.
    tiles = b.max(tiles, b.index(1));
    first = b.mul(b.rem(inside, tiles), tile.getRows());
    firstColumn = b.mul(b.div(inside, tiles), tile.getColumns());
  }

  /// Writes the numbers of this tile's rows.
  void findRows() {
    int64_t count = tile.getRows();
    b.forEach(b.thread(), b.index(count), b.index(b.getThreads()),
              [&](Value place) { writeRow(tokens, place); });
    b.barrier();
    auto take = [&](Value t, Value holds, Value position) {
      Value place = b.sub(position, first);
      Value isHere = b.both(b.compare(CmpIPredicate::sge, position, first),
                            b.isLess(place, count));
      b.ifThen(b.both(holds, isHere), [&] { writeRow(t, place); });
    };
    compact.run(
        b.index(0), tokens, b.index(0),
        [&](Value t) { return isLevel(t, ownLevel); }, take);
    b.barrier();
  }

  void writeRow(Value row, Value place) { b.write(b.toI32(row), order, place); }
  /// The row at a place of this tile; past the end, the number of tokens.
  Value getRow(Value place) { return b.readNumber(order, place); }

  /// All that rows of a level need.
  void multiply(int64_t level) {
    Values sums = loop.makeSums();
    for (const GatedLink &link : chain.links)
      if (link.lowest <= level && level <= link.highest)
        sums = add(link, sums);
    loop.store(
        result, sums, [&](Value place) { return getRow(place); }, firstColumn);
  }

  Values add(const GatedLink &link, ValueRange sums) {
    Operand x(emitter, link.rows), w(emitter, link.matrix);
    // What places without a row give is not stored. They read nothing: all
    // workgroups would ask for the same row.
    auto getNearRow = [&](Value place) {
      return b.min(getRow(place), b.sub(tokens, 1));
    };
    auto isRow = [&](Value place) { return b.isLess(getRow(place), tokens); };
    TileLoader loadX(b, x, loop.getTileX(), getNearRow, isRow);
    TileLoader loadW(b, w, loop.getTileW(), firstColumn);
    Values newSums = loop.add(loadX, loadW, sums);
    loop.finish(loadX, loadW);
    return newSums;
  }

  GpuBuilder &b;
  ElementEmitter &emitter;
  const GatedChain &chain;
  GpuProductAttr tile;
  MatmulLoop loop;
  Value tokens;
  MatmulResult result;
  Compact compact;
  Value order; ///< workgroup memory: rows of this tile
  Value isThere, ownLevel;
  Value first; ///< of this tile, among the rows of its level
  Value firstColumn;
};
} // namespace

FailureOr<GpuGrid> gist::emitGatedProducts(GpuKernel &kernel) {
  std::optional<GatedChain> chain = readGatedChain(kernel.source);
  auto tile = kernel.getTile<GpuProductAttr>();
  FailureOr<AffineExpr> rows =
      getSizeExpr(kernel.source, kernel.emitter.getWrittenSizes(0)[0]);
  if (failed(rows))
    return chain->links.back().product.emitOpError(
        "has rows whose number does not follow from the kernel's arguments");
  GatedTiles(kernel, *chain).emit();
  // Every level may end within a tile.
  return GpuGrid{(rows->ceilDiv(tile.getRows()) + (getNumLevels(*chain) - 1)) *
                     getTilesOfColumns(*chain, tile),
                 kernel.b.getAffineConstantExpr(1)};
}
