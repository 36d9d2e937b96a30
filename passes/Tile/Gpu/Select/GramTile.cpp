//===- GramTile.cpp - Cosines of gathered rows ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Select/GramTile.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "passes/Tile/Gpu/Matmul/Staging.h"

using namespace mlir;
using namespace gist;
using Values = GpuBuilder::Values;

/// What a normalised f32 row is multiplied by before it is split.
static constexpr double kSplitScale = 64;
/// The norm of a row that is to be rounded, at most.
static constexpr double kRoundedNorm = 128;

static int64_t getRowSize(Value tokens) {
  return cast<MemRefType>(tokens.getType()).getShape().back();
}

GramTile::GramTile(GpuBuilder &b, GpuSelectionAttr tile, Value tokens,
                   Value head)
    : b(b), tokens(tokens), head(head), depth(tile.getDepth()),
      stages(tile.getStages()), size(getRowSize(tokens)),
      steps(llvm::divideCeil(size, depth)), waves(tile.getWaves()) {
  if (tile.getInstruction() == Instruction::Wgmma64x128x16) {
    wgmma.emplace(b, tile.getElement());
    // From here on a "wave" along the rows is four warps.
    waves[0] /= Wgmma::kWarps;
  } else {
    mma.emplace(tile.getInstruction(), tile.getElement());
  }
  Type stored = cast<MemRefType>(tokens.getType()).getElementType();
  if (isa<Float8E4M3FNUZType>(tile.getElement()))
    form = Form::Rounded;
  else
    form = stored.isF32() ? Form::Split : Form::Exact;
  for (auto [side, extent] : llvm::zip_equal(sides, tile.getShape())) {
    side.extent = extent;
    side.tile = SharedTile(b, stages, extent, depth, tile.getElement());
    if (form == Form::Split)
      side.low = SharedTile(b, stages, extent, depth, tile.getElement());
    side.ids = b.allocWorkgroup({extent}, b.getI32Type());
    side.scales = b.allocWorkgroup({extent}, b.getF32Type());
    if (canStart())
      side.nextIds = b.allocWorkgroup({extent}, b.getI32Type());
  }
  // Copies go from memory to workgroup memory as they are, so nothing can be
  // scaled or split on the way.
  isAsynchronous = b.getGpu().kind == GpuKind::Nvidia && form == Form::Exact &&
                   size % sides[0].tile.getChunk() == 0;
  rowFragments = sides[0].extent / waves[0] / getFragmentRows();
  columnFragments = sides[1].extent / waves[1] / getFragmentColumns();
}

//===----------------------------------------------------------------------===//
// Rows in 8 bits
//===----------------------------------------------------------------------===//

/// The exponent of an f32 number, in its place.
static Value getExponent(GpuBuilder &b, Value number) {
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), number);
  return arith::AndIOp::create(b, bits, b.i32(0x7F800000));
}

Value GramTile::getPower(Value scale) {
  Value power =
      arith::BitcastOp::create(b, b.getF32Type(), getExponent(b, scale));
  power = b.mul(power, b.f32(kRoundedNorm));
  // The exponent of a NaN alone would be infinity.
  Value isNumber = b.compare(arith::CmpFPredicate::ORD, scale, scale);
  return b.select(isNumber, power, scale);
}

/// scale / getPower(scale), exactly.
static Value dropPower(GpuBuilder &b, Value scale) {
  // The exponents of a power of two and its inverse add up to twice the bias.
  Value inverse =
      arith::SubIOp::create(b, b.i32(0x7F000000), getExponent(b, scale));
  Value rest = b.mul(
      scale, arith::BitcastOp::create(b, b.getF32Type(), inverse).getResult());
  return b.mul(rest, b.f32(1 / kRoundedNorm));
}

Value GramTile::round(Value numbers, Value power) {
  auto type = dyn_cast<VectorType>(numbers.getType());
  Value factor = type ? b.broadcast(power, type.getNumElements()) : power;
  Value whole = b.mul(numbers, factor);
  return b.toF32(b.convert(whole, sides[0].tile.getElement()));
}

//===----------------------------------------------------------------------===//
// From global to workgroup memory
//===----------------------------------------------------------------------===//

SmallVector<GramTile::Piece> GramTile::getPieces(const Side &side, Value ids) {
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
    // Padding multiplies token 0; the result is not used.
    piece.id = b.max(b.readNumber(ids, piece.row), b.index(0));
    if (form == Form::Split)
      piece.scale = b.mul(b.read(side.scales, piece.row), b.f32(kSplitScale));
    else if (form == Form::Rounded)
      piece.scale = getPower(b.read(side.scales, piece.row));
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
    if (form == Form::Exact)
      return side.tile.store(b, chunk, stage, piece.row, piece.column);
    Type element = side.tile.getElement();
    Value scale = b.broadcast(piece.scale, side.tile.getChunk());
    Value whole = b.mul(b.toF32(chunk), scale);
    Value high = b.convert(whole, element);
    if (form == Form::Rounded)
      return side.tile.store(b, high, stage, piece.row, piece.column);
    Value rest = b.sub(whole, b.toF32(high));
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
  // A piece that two threads have is copied twice, to the same place.
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
  Value row = getFirstRow(), column = getWaveColumn();
  auto fragments = [&](const SharedTile &tile, bool isA, Value k) {
    Values loaded;
    unsigned count = isA ? rowFragments : columnFragments;
    for (unsigned i = 0; i < count; ++i)
      loaded.push_back(isA ? mma->loadA(b, tile, b.lane(), stage,
                                        b.add(row, i * mma->rows()), k)
                           : mma->loadB(b, tile, b.lane(), stage,
                                        b.add(column, i * mma->columns()), k));
    return loaded;
  };
  auto accumulate = [&](const Values &rows, const Values &columns) {
    for (unsigned m = 0; m < rowFragments; ++m)
      for (unsigned n = 0; n < columnFragments; ++n) {
        Value &sum = next[m * columnFragments + n];
        sum = mma->multiply(b, rows[m], columns[n], sum);
      }
  };
  for (int64_t k = 0; k < depth; k += mma->depth()) {
    Value place = b.index(k);
    Values rows = fragments(sides[0].tile, true, place);
    Values columns = fragments(sides[1].tile, false, place);
    accumulate(rows, columns);
    if (form != Form::Split)
      continue;
    // low * low is left out: three products give the cosine to about 2^-20.
    accumulate(fragments(sides[0].low, true, place), columns);
    accumulate(rows, fragments(sides[1].low, false, place));
  }
  return next;
}

Values GramTile::multiplyByWarps(Value stage, ValueRange sums) {
  Values next(sums.begin(), sums.end());
  Value rows = wgmma->getDescriptor(sides[0].tile, stage, getFirstRow());
  Value columns = wgmma->getDescriptor(sides[1].tile, stage, getWaveColumn());
  wgmma->fence();
  for (int64_t k = 0; k < depth; k += Wgmma::kDepth)
    for (unsigned m = 0; m < rowFragments; ++m)
      for (unsigned n = 0; n < columnFragments; ++n) {
        Value &sum = next[m * columnFragments + n];
        sum = wgmma->multiply(wgmma->advance(rows, m * Wgmma::kRows, k),
                              wgmma->advance(columns, n * Wgmma::kColumns, k),
                              sum);
      }
  wgmma->commit();
  return next;
}

/// Loads are in flight while a step is multiplied: on sm_90 those of the next
/// one, on gfx942 of the one after, which so have a whole step to arrive (LLVM
/// would undo that for sm_90, see MatmulLoop::add).
void GramTile::computeThroughRegisters(Value begin, Value count) {
  auto loadAll = [&](Value number) {
    Values chunks;
    for (const auto &list : pieces)
      for (const Piece &piece : list)
        chunks.push_back(load(piece, b.add(begin, number)));
    return chunks;
  };
  auto storeAll = [&](const Values &chunks, Value stage) {
    const Value *chunk = chunks.begin();
    for (auto [side, list] : llvm::zip_equal(sides, pieces))
      for (const Piece &piece : list)
        store(side, piece, *chunk++, stage);
  };
  storeAll(loadAll(b.index(0)), b.index(0));
  if (b.getGpu().kind == GpuKind::Amd && stages > 1) {
    // The last steps load the last one again: that is cheaper than a branch.
    auto loadAfter = [&](Value number, int64_t distance) {
      return loadAll(b.min(b.add(number, distance), b.sub(count, 1)));
    };
    Values carried = loadAfter(b.index(0), 1);
    size_t numLoaded = carried.size();
    llvm::append_range(carried, accumulators);
    carried = b.loop(
        b.index(0), count, 1, carried, [&](Value number, ValueRange carried) {
          b.barrier();
          storeAll(Values(carried.take_front(numLoaded)),
                   b.rem(b.add(number, 1), stages));
          keepOrder(b); // A wait for loads is not to include the next ones.
          Values next = loadAfter(number, 2);
          keepOrder(b);
          llvm::append_range(next, multiply(b.rem(number, stages),
                                            carried.drop_front(numLoaded)));
          return next;
        });
    accumulators.assign(carried.begin() + numLoaded, carried.end());
    b.barrier();
    return;
  }
  b.barrier();
  accumulators = b.loop(
      b.index(0), count, 1, accumulators, [&](Value number, ValueRange sums) {
        // The last step loads its own again: that is cheaper than a branch.
        Values chunks = loadAll(b.min(b.add(number, 1), b.sub(count, 1)));
        Values next = multiply(b.rem(number, stages), sums);
        if (stages == 1)
          b.barrier();
        storeAll(chunks, b.rem(b.add(number, 1), stages));
        b.barrier();
        return next;
      });
}

/// `stages` - 1 steps are in flight while one is multiplied.
void GramTile::computeAsynchronously(Value begin, Value count) {
  assert(stages >= 2 && "copies run while others are multiplied");
  accumulators = b.loop(
      b.index(0), count, 1, accumulators, [&](Value number, ValueRange sums) {
        // Copies are closed in each step, also where there are none, so the
        // number of groups to wait for is always the same.
        waitForCopies(b, stages - 2);
        b.barrier(); // All copies have arrived, and a stage is free.
        copyAll(begin, count, b.add(number, stages - 1));
        return multiply(b.rem(number, stages), sums);
      });
  b.barrier();
}

/// The same for instructions that run while the next step is prepared: one
/// stage more is being read, that of the step before.
void GramTile::computeByWarps(Value begin, Value count) {
  assert(stages >= 3 && isAsynchronous && "what chooses tiles knows that");
  accumulators = b.loop(
      b.index(0), count, 1, accumulators, [&](Value number, ValueRange sums) {
        waitForCopies(b, stages - 3);
        wgmma->publishStores();
        b.barrier();
        copyAll(begin, count, b.add(number, stages - 2));
        Values next = multiplyByWarps(b.rem(number, stages), sums);
        wgmma->wait(1);
        return next;
      });
  for (Value &sums : accumulators)
    sums = wgmma->finish(sums);
  b.barrier();
}

/// Starts the copies of step begin + number, if it is one of `count`.
void GramTile::copyAll(Value begin, Value count, Value number) {
  b.ifThen(b.isLess(number, count), [&] {
    for (auto [side, list] : llvm::zip_equal(sides, pieces))
      for (const Piece &piece : list)
        copy(side, piece, b.add(begin, number), b.rem(number, stages));
  });
  closeCopies(b);
}

void GramTile::findPieces() {
  for (unsigned i : {0, 1})
    pieces[i] = getPieces(sides[i], sides[i].ids);
}

void GramTile::compute(Value begin, Value end) {
  Value count = b.sub(end, begin);
  findPieces();
  startCopies(begin, count);
  computeSteps(begin, count);
}

void GramTile::startNext(Value begin, Value end) {
  for (unsigned i : {0, 1})
    pieces[i] = getPieces(sides[i], sides[i].nextIds);
  startCopies(begin, b.sub(end, begin));
}

void GramTile::computeStarted(Value begin, Value end) {
  findPieces();
  computeSteps(begin, b.sub(end, begin));
}

/// Starts the copies that are in flight before the first step.
void GramTile::startCopies(Value begin, Value count) {
  int64_t ahead = isWgmma() ? stages - 2 : isAsynchronous ? stages - 1 : 0;
  for (int64_t number = 0; number < ahead; ++number)
    copyAll(begin, count, b.index(number));
}

void GramTile::computeSteps(Value begin, Value count) {
  accumulators.assign(rowFragments * columnFragments, makeZero());
  if (isWgmma())
    computeByWarps(begin, count);
  else if (isAsynchronous)
    computeAsynchronously(begin, count);
  else
    computeThroughRegisters(begin, count);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

int64_t GramTile::getFragmentRows() const {
  return isWgmma() ? Wgmma::kRows : mma->rows();
}
int64_t GramTile::getFragmentColumns() const {
  return isWgmma() ? Wgmma::kColumns : mma->columns();
}
int64_t GramTile::getNumNumbers() const {
  return isWgmma() ? Wgmma::kNumbers
                   : mma->getAccumulatorType().getNumElements();
}

Value GramTile::getNumber(Value sums, int64_t i) {
  return isWgmma() ? wgmma->getNumber(sums, i) : b.extract(sums, i);
}
Value GramTile::makeZero() {
  return isWgmma() ? wgmma->makeZero() : mma->makeAccumulator(b);
}
Value GramTile::makeSums(ValueRange numbers) {
  return isWgmma() ? wgmma->makeSum(numbers) : b.concat(numbers);
}

Value GramTile::getFirstRow() {
  Value wave = isWgmma() ? b.div(getWave(), Wgmma::kWarps) : getWave();
  return b.mul(b.div(wave, waves[1]), sides[0].extent / waves[0]);
}

Value GramTile::getWaveOf(Value group, Value column) {
  if (!isWgmma())
    return b.add(b.mul(group, waves[1]), column);
  Value four = b.add(b.mul(b.div(group, Wgmma::kWarps), waves[1]), column);
  return b.add(b.mul(four, Wgmma::kWarps), b.rem(group, Wgmma::kWarps));
}

Value GramTile::getWaveColumn() {
  Value wave = isWgmma() ? b.div(getWave(), Wgmma::kWarps) : getWave();
  return b.mul(b.rem(wave, waves[1]), getWaveColumns());
}

Value GramTile::getLaneRow(unsigned fragment, unsigned row) {
  Value first = b.add(getFirstRow(), fragment * getFragmentRows());
  if (!isWgmma())
    return b.add(first, mma->getRow(b, b.lane(), row * mma->getRun()));
  Value warp = b.mul(b.rem(getWave(), Wgmma::kWarps), 16);
  return b.add(b.add(first, warp), b.add(b.div(b.lane(), 4), row * 8));
}

Value GramTile::getLaneColumn() {
  return isWgmma() ? b.mul(b.rem(b.lane(), 4), 2)
                   : mma->getColumn(b, b.lane(), 0);
}

SmallVector<int64_t> GramTile::getRowShuffles() const {
  return isWgmma() ? SmallVector<int64_t>{1, 2} : mma->getRowShuffles();
}

SmallVector<GramTile::Column> GramTile::getLaneColumns() {
  SmallVector<Column> columns;
  int64_t run = isWgmma() ? 2 : mma->getRun(), laneRows = getLaneRows();
  for (unsigned fragment = 0; fragment < columnFragments; ++fragment)
    for (int64_t group = 0; group < getNumNumbers(); group += run * laneRows)
      for (int64_t i = group; i < group + run; ++i) {
        Column column;
        column.fragment = fragment;
        // Lane 0 has nothing but the fixed part.
        int64_t inside =
            isWgmma() ? i / 4 * 8 + i % 2
                      : *getConstantIntValue(mma->getColumn(b, b.index(0), i));
        column.fixed = fragment * getFragmentColumns() + inside;
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
  Value sum = getNumber(sums, column.elements[laneRow]);
  if (form == Form::Split) {
    // Rows have been normalised; a column that does not count has no scale.
    Value cosine = b.mul(sum, b.f32(1 / (kSplitScale * kSplitScale)));
    Value counts =
        b.compare(arith::CmpFPredicate::ORD, columnScale, columnScale);
    return b.select(counts, cosine, columnScale);
  }
  if (form == Form::Rounded) {
    rowScale = dropPower(b, rowScale);
    columnScale = dropPower(b, columnScale);
  }
  // One norm after the other: their product may overflow, this cannot.
  return b.mul(b.mul(sum, rowScale), columnScale);
}

//===----------------------------------------------------------------------===//
// Sums of parts
//===----------------------------------------------------------------------===//

/// Numbers of a thread that lie together in memory; those of all threads follow
/// each other, so that a wave writes whole lines.
static constexpr int64_t kTogether = 4;

Value GramTile::getThread() {
  int64_t waveSize = b.getGpu().waveSize;
  return standIn ? b.add(b.mul(standIn, waveSize), b.lane()) : b.thread();
}

void GramTile::storeSums(Value buffer, Value place) {
  Value mine = b.add(place, b.mul(getThread(), kTogether));
  int64_t offset = 0;
  for (Value sums : accumulators)
    for (int64_t i = 0; i < getNumNumbers(); i += kTogether) {
      Values numbers;
      for (int64_t j = 0; j < kTogether; ++j)
        numbers.push_back(getNumber(sums, i + j));
      Value words = vector::BitCastOp::create(
          b, b.vectorOf(kTogether, b.getI32Type()), b.concat(numbers));
      b.write(words, buffer, b.add(mine, offset));
      offset += kTogether * b.getThreads();
    }
}

Value GramTile::getSumPlace(Value row, Value column) {
  int64_t waveSize = b.getGpu().waveSize;
  Value four = b.add(b.mul(b.div(row, Wgmma::kRows), waves[1]),
                     b.div(column, getWaveColumns()));
  Value warp =
      b.add(b.mul(four, Wgmma::kWarps), b.div(b.rem(row, Wgmma::kRows), 16));
  // A lane has pairs of columns of two rows.
  Value inside = b.rem(column, getWaveColumns());
  Value lane = b.add(b.mul(b.rem(row, 8), 4), b.div(b.rem(inside, 8), 2));
  Value group = b.div(inside, 8);
  Value number = b.add(b.mul(b.rem(b.div(row, 8), 2), 2), b.rem(column, 2));
  Value thread = b.add(b.mul(warp, waveSize), lane);
  return b.add(b.mul(b.add(b.mul(group, b.getThreads()), thread), kTogether),
               number);
}

void GramTile::addSums(Value condition, Value buffer, Value place, Value first,
                       Value last) {
  auto branch = scf::IfOp::create(b, ValueRange(accumulators).getTypes(),
                                  condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  // In the order of the depth, so that the sum does not depend on which
  // workgroup adds. On sm_90 the loads of two parts are in flight together; the
  // second one past the end is the last part again, times zero.
  int64_t parts = b.getGpu().kind == GpuKind::Nvidia ? 2 : 1;
  Values sums(accumulators.size(), makeZero());
  auto add = [&](Value number, ValueRange carried) {
    SmallVector<Values> loaded(parts);
    Values factors;
    for (int64_t part = 0; part < parts; ++part) {
      Value own = b.min(b.add(number, part), last);
      Value mine = b.add(b.add(place, b.mul(own, getSumWords())),
                         b.mul(getThread(), kTogether));
      for (int64_t i = 0; i < getNumSums(); i += kTogether) {
        Value words =
            b.read(buffer, b.add(mine, i * b.getThreads()), kTogether);
        loaded[part].push_back(vector::BitCastOp::create(
            b, b.vectorOf(kTogether, b.getF32Type()), words));
      }
      Value exists =
          b.compare(arith::CmpIPredicate::sle, b.add(number, part), last);
      factors.push_back(b.select(exists, b.f32(1), b.f32(0)));
    }
    Values next;
    int64_t vectors = getNumNumbers() / kTogether;
    for (auto [fragment, before] : llvm::enumerate(carried)) {
      Values numbers;
      for (int64_t i = 0; i < getNumNumbers(); ++i) {
        Value number = getNumber(before, i);
        for (int64_t part = 0; part < parts; ++part) {
          Value vector = loaded[part][fragment * vectors + i / kTogether];
          Value more = b.extract(vector, i % kTogether);
          number = part == 0 ? b.add(number, more)
                             : b.fma(more, factors[part], number);
        }
        numbers.push_back(number);
      }
      next.push_back(makeSums(numbers));
    }
    return next;
  };
  sums = b.loop(first, b.add(last, 1), parts, sums, add);
  scf::YieldOp::create(b, sums);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, accumulators);
  accumulators.assign(branch.result_begin(), branch.result_end());
}
