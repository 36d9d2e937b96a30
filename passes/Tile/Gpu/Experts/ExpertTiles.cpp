//===- ExpertTiles.cpp - Products with experts, rows gathered -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// T tokens name S experts each: T x S rows, of which row r belongs to token
// r / S. A workgroup has a tile of one expert's product: it gathers its rows
// and stores them where they belong. Tiles of the same columns are neighbours,
// so that they read the same rows of a weight at about the same time; an expert
// that no token names has no tile.
//
// Every workgroup finds its rows by counting, so no list is needed in memory
// that calls share. So the product depends on each row alone, and rows of
// several sequences may share a call (decision 016). There are workgroups for
// as many tiles as experts can need. Each expert's last tile may have fewer
// rows; workgroups past the last tile end at once.
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/ProductCost.h"
#include "passes/Tile/Gpu/Core/Compact.h"
#include "passes/Tile/Gpu/Core/GpuAtomics.h"
#include "passes/Tile/Gpu/Core/Wgmma.h"
#include "passes/Tile/Gpu/Experts/Experts.h"
#include "passes/Tile/Gpu/Matmul/MatmulLoop.h"

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;

using Values = GpuBuilder::Values;

//===----------------------------------------------------------------------===//
// How it is cut
//===----------------------------------------------------------------------===//

GpuProductAttr gist::selectExpertTilesTile(ExpertMatmulOp op,
                                           const GpuInfo &gpu) {
  MLIRContext *context = op.getContext();
  Type element = Float16Type::get(context);
  for (Value operand : {Value(op.getInput()), Value(op.getWeight())})
    if (getElementTypeOrSelf(operand).isBF16())
      element = BFloat16Type::get(context);
  ExpertSizes sizes = op.getSizes();
  if (gpu.kind == GpuKind::Nvidia) {
    ProductTile tile = chooseGroupedTile(
        {op.getInput().getType().getDimSize(0), sizes.columns, sizes.depth},
        {sizes.experts, sizes.slots}, gpu);
    return GpuProductAttr::get(context, tile.rows, tile.columns,
                               Wgmma::kTileDepth, {tile.getWarps(), 1},
                               tile.stages, Instruction::Wgmma64x128x16,
                               element);
  }
  // Rows of an expert are fewer than those of a call: no larger tile.
  return GpuProductAttr::get(context, /*rows=*/128, /*columns=*/128,
                             /*depth=*/32, /*waves=*/{2, 2}, /*stages=*/2,
                             Instruction::Mfma32x32x8, element);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {
class ExpertTiles {
public:
  ExpertTiles(GpuKernel &kernel, ExpertMatmulOp op)
      : b(kernel.b), emitter(kernel.emitter), op(op), sizes(op.getSizes()),
        tile(kernel.getTile<GpuProductAttr>()), loop(b, tile),
        rows(b.mul(emitter.size(op.getExperts(), 0), sizes.slots)),
        x(emitter, op.getInput(), sizes.hasOwnRows ? sizes.slots : 1),
        w(emitter, op.getWeight()),
        result(emitter, op, tile.getColumns(), sizes.slots), compact(b),
        counts(b.allocWorkgroup({sizes.experts}, b.getI32Type())),
        order(b.allocWorkgroup({tile.getRows()}, b.getI32Type())),
        found(b.allocWorkgroup({kNumFound}, b.getI32Type())) {}

  void emit() {
    countRows();
    findTile();
    b.ifThen(isThere, [&] {
      findRows();
      multiply();
    });
  }

private:
  /// What the thread that finds the tile says to the others.
  enum Found : int64_t { kExpert, kInside, kCount, kNumFound };
  /// Neighbouring rows of one thread: their loads are in flight together.
  static constexpr int64_t kRowsOfThread = 8;

  Value getExpert(Value row) {
    return readExpert(emitter, op, b.div(row, sizes.slots),
                      b.rem(row, sizes.slots));
  }

  /// How many rows each expert has.
  void countRows() {
    b.forEach(b.thread(), b.index(sizes.experts), b.index(b.getThreads()),
              [&](Value expert) { b.write(b.i32(0), counts, expert); });
    b.barrier();
    auto count = [&](Value first) {
      Values experts;
      for (int64_t i = 0; i < kRowsOfThread; ++i)
        experts.push_back(getExpert(b.min(b.add(first, i), b.sub(rows, 1))));
      for (auto [i, expert] : llvm::enumerate(experts))
        b.ifThen(b.isLess(b.add(first, static_cast<int64_t>(i)), rows), [&] {
          atomicUpdate(b, LLVM::AtomicBinOp::add, b.i32(1), counts, expert);
        });
    };
    b.forEach(b.mul(b.thread(), kRowsOfThread), rows,
              b.index(b.getThreads() * kRowsOfThread), count);
    b.barrier();
  }

  int64_t getTilesOfColumns() const {
    return llvm::divideCeil(sizes.columns, tile.getColumns());
  }

  /// Which tile of which expert this workgroup has. A thread looks at an
  /// expert.
  void findTile() {
    Value workgroup = b.block(0), last = b.index(sizes.experts - 1);
    auto look = [&](Value first, ValueRange carried) {
      Value expert = b.add(first, b.thread());
      Value count =
          b.select(b.isLess(expert, sizes.experts),
                   b.readNumber(counts, b.min(expert, last)), b.index(0));
      Value tiles =
          b.mul(b.ceilDiv(count, tile.getRows()), getTilesOfColumns());
      auto [before, total] = compact.scan(tiles);
      Value inside = b.sub(workgroup, b.add(carried[0], before));
      Value isHere = b.both(b.compare(CmpIPredicate::sge, inside, b.index(0)),
                            b.isLess(inside, tiles));
      b.ifThen(isHere, [&] {
        for (auto [place, value] : {std::pair<Found, Value>{kExpert, expert},
                                    {kInside, inside},
                                    {kCount, count}})
          b.write(b.toI32(value), found, b.index(place));
      });
      return Values{b.add(carried[0], total)};
    };
    Value tiles = b.loop(b.index(0), b.index(sizes.experts), b.getThreads(),
                         b.index(0), look)[0];
    b.barrier();
    isThere = b.isLess(workgroup, tiles);
  }

  /// Writes the numbers of this tile's rows; past the last one, the number of
  /// rows.
  void findRows() {
    auto get = [&](Found place) { return b.readNumber(found, b.index(place)); };
    expert = get(kExpert);
    Value inside = get(kInside);
    Value tiles = b.ceilDiv(get(kCount), tile.getRows());
    Value first = b.mul(b.rem(inside, tiles), tile.getRows());
    firstColumn = b.mul(b.div(inside, tiles), tile.getColumns());
    b.forEach(b.thread(), b.index(tile.getRows()), b.index(b.getThreads()),
              [&](Value place) { b.write(b.toI32(rows), order, place); });
    b.barrier();
    auto isIts = [&](Value row) {
      return b.compare(CmpIPredicate::eq, getExpert(row), expert);
    };
    auto take = [&](Value row, Value holds, Value position) {
      Value place = b.sub(position, first);
      Value isHere = b.both(b.compare(CmpIPredicate::sge, position, first),
                            b.isLess(place, tile.getRows()));
      b.ifThen(b.both(holds, isHere),
               [&] { b.write(b.toI32(row), order, place); });
    };
    compact.run(b.index(0), rows, b.index(0), isIts, take);
    b.barrier();
  }

  void multiply() {
    auto getRow = [&](Value place) { return b.readNumber(order, place); };
    auto isRow = [&](Value place) { return b.isLess(getRow(place), rows); };
    // Places without a row read nothing, and what they give is not stored.
    auto getNearRow = [&](Value place) {
      Value row = b.min(getRow(place), b.sub(rows, 1));
      return sizes.hasOwnRows ? row : b.div(row, sizes.slots);
    };
    TileLoader loadX(b, x, loop.getTileX(), getNearRow, isRow);
    // Columns past an expert's last are those of the next, and not stored.
    TileLoader loadW(b, w, loop.getTileW(),
                     b.add(b.mul(expert, sizes.columns), firstColumn));
    Values sums = loop.add(loadX, loadW, loop.makeSums());
    loop.store(result, sums, getRow, firstColumn);
  }

  GpuBuilder &b;
  ElementEmitter &emitter;
  ExpertMatmulOp op;
  ExpertSizes sizes;
  GpuProductAttr tile;
  MatmulLoop loop;
  Value rows; ///< of all tokens
  Operand x, w;
  MatmulResult result;
  Compact compact;
  // Workgroup memory: rows of experts, of this tile, and what was found.
  Value counts, order, found;
  Value isThere, expert, firstColumn;
};
} // namespace

FailureOr<GpuGrid> gist::emitExpertTiles(GpuKernel &kernel, ExpertMatmulOp op) {
  FailureOr<AffineExpr> tokens =
      getSizeExpr(kernel.source, kernel.emitter.getWrittenSizes(0).front());
  if (failed(tokens))
    return op.emitOpError(
        "has rows whose number does not follow from the kernel's arguments");
  ExpertTiles(kernel, op).emit();
  ExpertSizes sizes = op.getSizes();
  auto tile = kernel.getTile<GpuProductAttr>();
  // Every expert may end within a tile.
  AffineExpr tiles =
      (*tokens * sizes.slots).ceilDiv(tile.getRows()) + (sizes.experts - 1);
  return GpuGrid{tiles * llvm::divideCeil(sizes.columns, tile.getColumns())};
}
