//===- GramTile.cpp - Cosines of gathered rows ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/GramTile.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;
using namespace gist;
using Values = GpuBuilder::Values;

/// What a normalised f32 row is multiplied by before it is split.
static constexpr double kSplitScale = 64;

static int64_t getRowSize(Value tokens) {
  return cast<MemRefType>(tokens.getType()).getShape().back();
}

GramTile::GramTile(GpuBuilder &b, GpuTileAttr tile, Value tokens, Value head)
    : b(b), mma(tile), tokens(tokens), head(head), depth(tile.getDepth()),
      stages(tile.getStages()), size(getRowSize(tokens)),
      steps(llvm::divideCeil(size, depth)), waves(tile.getWaves()) {
  Type stored = cast<MemRefType>(tokens.getType()).getElementType();
  isSplit = stored.isF32();
  int64_t chunk = mma.getFragmentType().getNumElements();
  isAsynchronous =
      b.getGpu().kind == GpuKind::Nvidia && !isSplit && size % chunk == 0;
  for (auto [side, extent] : llvm::zip_equal(sides, tile.getWorkgroup())) {
    side.extent = extent;
    side.tile = SharedTile(b, stages, extent, depth, tile.getElement());
    if (isSplit)
      side.low = SharedTile(b, stages, extent, depth, tile.getElement());
    side.ids = b.allocWorkgroup({extent}, b.getI32Type());
    side.scales = b.allocWorkgroup({extent}, b.getF32Type());
  }
  rowFragments = sides[0].extent / waves[0] / mma.rows();
  columnFragments = sides[1].extent / waves[1] / mma.columns();
}

//===----------------------------------------------------------------------===//
// From global to workgroup memory
//===----------------------------------------------------------------------===//

SmallVector<GramTile::Piece> GramTile::getPieces(const Side &side) {
  int64_t chunk = side.tile.getChunk(), inRow = depth / chunk;
  int64_t total = side.extent * inRow;
  SmallVector<Piece> pieces;
  for (int64_t first = 0; first < total; first += b.getThreads()) {
    Piece piece;
    Value number = b.add(b.thread(), first);
    if (first + b.getThreads() > total) {
      piece.isMine = b.isLess(number, total);
      number = b.min(number, b.index(total - 1));
    }
    piece.row = b.div(number, inRow);
    piece.column = b.mul(b.rem(number, inRow), chunk);
    // Where there is no token the first one is multiplied in vain.
    piece.id = b.max(b.readNumber(side.ids, piece.row), b.index(0));
    if (isSplit)
      piece.scale = arith::MulFOp::create(b, b.read(side.scales, piece.row),
                                          b.f32(kSplitScale));
    pieces.push_back(piece);
  }
  return pieces;
}

Values GramTile::getIndices(Value id, Value column) {
  return head ? Values{id, head, column} : Values{id, column};
}

/// Chunk `step` of a piece, zeros past the end of the row.
Value GramTile::load(const Piece &piece, Value step) {
  int64_t chunk = sides[0].tile.getChunk();
  Value column = b.add(b.mul(step, depth), piece.column);
  Type element = cast<MemRefType>(tokens.getType()).getElementType();
  Value zeros = b.constant(b.vectorOf(chunk, element), 0);
  if (size % depth == 0)
    return b.read(tokens, getIndices(piece.id, column), chunk);
  if (size % chunk == 0)
    return b.ifElse(
        b.isLess(column, size),
        [&] { return b.read(tokens, getIndices(piece.id, column), chunk); },
        [&] { return zeros; });
  Values numbers;
  for (int64_t i = 0; i < chunk; ++i) {
    Value place = b.add(column, i);
    Value number =
        b.read(tokens, getIndices(piece.id, b.min(place, b.index(size - 1))));
    numbers.push_back(
        b.select(b.isLess(place, size), number, b.constant(element, 0)));
  }
  return b.concat(numbers);
}

void GramTile::store(const Side &side, const Piece &piece, Value chunk,
                     Value stage) {
  auto write = [&] {
    if (!isSplit)
      return side.tile.store(b, chunk, stage, piece.row, piece.column);
    Type element = side.tile.getElement();
    Value scale = b.broadcast(piece.scale, side.tile.getChunk());
    Value whole = arith::MulFOp::create(b, chunk, scale);
    Value high = b.convert(whole, element);
    Value rest = arith::SubFOp::create(b, whole, b.toF32(high));
    side.tile.store(b, high, stage, piece.row, piece.column);
    side.low.store(b, b.convert(rest, element), stage, piece.row, piece.column);
  };
  if (piece.isMine)
    b.ifThen(piece.isMine, write);
  else
    write();
}

/// The same without passing through registers.
Value GramTile::copy(const Side &side, const Piece &piece, Value step,
                     Value stage) {
  int64_t chunk = side.tile.getChunk();
  Value column = b.add(b.mul(step, depth), piece.column), count;
  if (size % depth != 0) {
    count = b.select(b.isLess(column, size), b.index(chunk), b.index(0));
    column = b.min(column, b.index(size - chunk));
  }
  // A piece that is twice somebody's is copied twice, to the same place.
  Values place = {stage, piece.row,
                  side.tile.getPlace(b, piece.row, piece.column)};
  return nvgpu::DeviceAsyncCopyOp::create(
      b, nvgpu::DeviceAsyncTokenType::get(b.getContext()),
      side.tile.getBuffer(), place, tokens, getIndices(piece.id, column),
      b.getIndexAttr(chunk), count, b.getUnitAttr());
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Values GramTile::multiply(Value stage, ValueRange sums) {
  Values next(sums.begin(), sums.end());
  Value row = b.mul(b.div(b.wave(), waves[1]), sides[0].extent / waves[0]);
  Value column = getWaveColumn();
  auto fragments = [&](const SharedTile &tile, bool isA, Value k) {
    Values loaded;
    unsigned count = isA ? rowFragments : columnFragments;
    for (unsigned i = 0; i < count; ++i)
      loaded.push_back(isA ? mma.loadA(b, tile, b.lane(), stage,
                                       b.add(row, i * mma.rows()), k)
                           : mma.loadB(b, tile, b.lane(), stage,
                                       b.add(column, i * mma.columns()), k));
    return loaded;
  };
  auto accumulate = [&](const Values &rows, const Values &columns) {
    for (unsigned m = 0; m < rowFragments; ++m)
      for (unsigned n = 0; n < columnFragments; ++n) {
        Value &sum = next[m * columnFragments + n];
        sum = mma.multiply(b, rows[m], columns[n], sum);
      }
  };
  for (int64_t k = 0; k < depth; k += mma.depth()) {
    Value place = b.index(k);
    Values rows = fragments(sides[0].tile, true, place);
    Values columns = fragments(sides[1].tile, false, place);
    accumulate(rows, columns);
    if (!isSplit)
      continue;
    accumulate(fragments(sides[0].low, true, place), columns);
    accumulate(rows, fragments(sides[1].low, false, place));
  }
  return next;
}

/// Loads of the next step are in flight while this one is multiplied.
void GramTile::computeThroughRegisters() {
  auto loadAll = [&](Value step) {
    Values chunks;
    for (const auto &list : pieces)
      for (const Piece &piece : list)
        chunks.push_back(load(piece, step));
    return chunks;
  };
  auto storeAll = [&](const Values &chunks, Value stage) {
    const Value *chunk = chunks.begin();
    for (auto [side, list] : llvm::zip_equal(sides, pieces))
      for (const Piece &piece : list)
        store(side, piece, *chunk++, stage);
  };
  storeAll(loadAll(b.index(0)), b.index(0));
  b.barrier();
  accumulators = b.loop(b.index(0), b.index(steps), 1, accumulators,
                        [&](Value step, ValueRange sums) {
                          Value stage = b.rem(step, stages);
                          // The last step loads its own again: that is cheaper
                          // than a branch.
                          Values chunks = loadAll(
                              b.min(b.add(step, 1), b.index(steps - 1)));
                          Values next = multiply(stage, sums);
                          if (stages == 1)
                            b.barrier();
                          storeAll(chunks, b.rem(b.add(step, 1), stages));
                          b.barrier();
                          return next;
                        });
}

/// `stages` - 1 steps are in flight while one is multiplied.
void GramTile::computeAsynchronously() {
  auto copyAll = [&](Value step, Value stage) {
    for (auto [side, list] : llvm::zip_equal(sides, pieces))
      for (const Piece &piece : list)
        copy(side, piece, step, stage);
  };
  auto commit = [&]() -> Value {
    return nvgpu::DeviceAsyncCreateGroupOp::create(
        b, nvgpu::DeviceAsyncTokenType::get(b.getContext()), ValueRange());
  };
  assert(stages >= 2 && "copies run while others are multiplied");
  Value group;
  for (int64_t step = 0; step < stages - 1; ++step) {
    if (step < steps)
      copyAll(b.index(step), b.index(step));
    group = commit();
  }
  accumulators = b.loop(
      b.index(0), b.index(steps), 1, accumulators,
      [&](Value step, ValueRange sums) {
        nvgpu::DeviceAsyncWaitOp::create(
            b, group, b.getI32IntegerAttr(static_cast<int32_t>(stages - 2)));
        b.barrier(); // Everybody's copies are there, and a stage is free.
        Value ahead = b.add(step, stages - 1);
        b.ifThen(b.isLess(ahead, steps),
                 [&] { copyAll(ahead, b.rem(ahead, stages)); });
        commit();
        return multiply(b.rem(step, stages), sums);
      });
  b.barrier();
}

void GramTile::compute() {
  for (unsigned i : {0, 1})
    pieces[i] = getPieces(sides[i]);
  accumulators.assign(rowFragments * columnFragments, mma.makeAccumulator(b));
  if (isAsynchronous)
    computeAsynchronously();
  else
    computeThroughRegisters();
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value GramTile::getWaveColumn() {
  return b.mul(b.rem(b.wave(), waves[1]), getWaveColumns());
}

Value GramTile::getLaneRow(unsigned fragment, unsigned row) {
  Value wave = b.mul(b.div(b.wave(), waves[1]), sides[0].extent / waves[0]);
  Value inFragment = mma.getRow(b, b.lane(), row * mma.getRun());
  return b.add(b.add(wave, fragment * mma.rows()), inFragment);
}

SmallVector<GramTile::Column> GramTile::getLaneColumns() {
  SmallVector<Column> columns;
  int64_t run = mma.getRun(), laneRows = mma.getLaneRows();
  int64_t count = mma.getAccumulatorType().getNumElements();
  for (unsigned fragment = 0; fragment < columnFragments; ++fragment)
    for (int64_t group = 0; group < count; group += run * laneRows)
      for (int64_t i = group; i < group + run; ++i) {
        Column column;
        column.fragment = fragment;
        // Lane 0 has nothing but the fixed part.
        column.fixed = fragment * mma.columns() +
                       *getConstantIntValue(mma.getColumn(b, b.index(0), i));
        column.local =
            b.add(b.add(getWaveColumn(), getLaneColumn()), column.fixed);
        for (int64_t row = 0; row < laneRows; ++row)
          column.elements.push_back(i + row * run);
        columns.push_back(column);
      }
  return columns;
}

Value GramTile::getCosine(unsigned rowFragment, const Column &column,
                          unsigned laneRow, Value rowScale, Value columnScale) {
  Value sums = accumulators[rowFragment * columnFragments + column.fragment];
  Value sum = b.extract(sums, column.elements[laneRow]);
  if (isSplit)
    return arith::MulFOp::create(b, sum,
                                 b.f32(1 / (kSplitScale * kSplitScale)));
  // One norm after the other: their product may overflow, this cannot.
  return arith::MulFOp::create(b, arith::MulFOp::create(b, sum, rowScale),
                               columnScale);
}
