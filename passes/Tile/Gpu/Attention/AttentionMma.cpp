//===- AttentionMma.cpp - Attention by instructions of one wave -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Attention/AttentionMma.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "passes/Tile/Gpu/Core/Registers.h"
#include "passes/Tile/Gpu/Matmul/Staging.h"

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;
using State = AttentionLoop::State;

/// Columns of outputs that are in workgroup memory at once.
static constexpr int64_t kColumnsAtOnce = 64;

static Mma getMma(GpuAttentionAttr tile) {
  return Mma(tile.getInstruction(), tile.getElement());
}

static LaneLayout getLanes(GpuAttentionAttr tile) {
  Mma mma = getMma(tile);
  return {tile.getRows() / tile.getNumWaves() / mma.rows(), mma.getLaneRows(),
          mma.getRowShuffles()};
}

MmaAttention::MmaAttention(GpuBuilder &b, GpuAttentionAttr tile,
                           const Shape &shape)
    : AttentionLoop(b, tile, shape,
                    llvm::alignTo(shape.valueSize, getMma(tile).columns()),
                    getLanes(tile)),
      mma(getMma(tile)), depth(llvm::alignTo(shape.headSize, mma.depth())),
      rowTiles(lanes.tiles), keyTiles(keys / mma.columns()),
      outTiles(width / mma.columns()),
      isAsync(b.getGpu().kind == GpuKind::Nvidia),
      isPipelined(!isAsync && !(shape.hasBias && width > 128)),
      // As little as it takes for a thread to load values once a step.
      valuePiece(std::clamp<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(
                                         keys * width / 4, b.getThreads())),
                                     2, 8)) {
  assert(rowTiles > 0 && keyTiles > 0 && keys % mma.depth() == 0 &&
         "a tile smaller than its instruction");
  if (!isAsync)
    b.setWavesPerSimd(width <= 128 && !shape.hasBias && !shape.held ? 2 : 1);
  lane = b.lane();
  firstRow = b.mul(b.wave(), rowTiles * mma.rows());
  // Without asynchronous copies the next step waits in registers, and one tile
  // of workgroup memory will do.
  int64_t held = isAsync ? stages : 1;
  if (isAsync)
    queryTile = SharedTile(b, 1, rows, depth, element);
  keyTile = SharedTile(b, held, keys, depth, element);
  valueTile = mma.makeTransposedTile(b, held, keys, width);
  if (shape.hasBias)
    biases = b.allocWorkgroup({held, keys}, b.getF32Type());
  if (shape.held)
    outputs =
        SharedTile(b, 1, rows, std::min(width, kColumnsAtOnce), shape.held);
}

//===----------------------------------------------------------------------===//
// One step
//===----------------------------------------------------------------------===//

Value MmaAttention::getRow(int64_t tile, int64_t i) {
  return b.add(b.add(firstRow, tile * mma.rows()), mma.getRow(b, lane, i));
}

Values MmaAttention::makeOut() {
  return Values(outTiles, mma.makeAccumulator(b));
}

Values MmaAttention::spread(ValueRange numbers) {
  return Values(outTiles, spreadOver(numbers));
}

Value MmaAttention::spreadOver(ValueRange numbers) {
  int64_t size = mma.getAccumulatorType().getNumElements();
  if (numbers.size() == 1) {
    // Instructions of two numbers read two registers: what is being loaded into
    // the other would be waited for.
    Value pair = keepWhole(b, b.broadcast(numbers.front(), 2));
    SmallVector<int64_t> lanes;
    for (int64_t i = 0; i < size; ++i)
      lanes.push_back(i % 2);
    return b.shuffle(pair, pair, lanes);
  }
  Values all;
  for (int64_t i = 0; i < size; ++i)
    all.push_back(numbers[getLaneRow(i)]);
  return vector::FromElementsOp::create(b, mma.getAccumulatorType(), all);
}

MmaAttention::Tiles MmaAttention::emitScores(Value stage, Tiles scores) {
  auto multiply = [&](int64_t key, int64_t k, ArrayRef<Value> queries) {
    Value right = mma.loadB(b, keyTile, lane, stage,
                            b.index(key * mma.columns()), b.index(k));
    for (auto [ofTile, query] : llvm::zip_equal(scores, queries))
      ofTile[key] = mma.multiply(b, query, right, ofTile[key]);
  };
  auto getQueries = [&](int64_t k) {
    Values queries;
    for (int64_t tile = 0; tile < rowTiles; ++tile)
      queries.push_back(getQuery(tile, k));
    return queries;
  };
  if (isAsync) {
    // Queries are read from workgroup memory here, once for all keys.
    for (int64_t k = 0; k < depth; k += mma.depth()) {
      Values queries = getQueries(k);
      for (int64_t key = 0; key < keyTiles; ++key)
        multiply(key, k, queries);
    }
    return scores;
  }
  // One tile of keys after the other, so that the largest of one are found
  // while the next is multiplied.
  for (int64_t key = 0; key < keyTiles; ++key)
    for (int64_t k = 0; k < depth; k += mma.depth())
      multiply(key, k, getQueries(k));
  return scores;
}

Value MmaAttention::readBias(Value stage, int64_t key) {
  int64_t run = mma.getRun();
  Values parts;
  for (int64_t i = 0; i < mma.getAccumulatorType().getNumElements(); i += run) {
    Value slot = b.add(mma.getColumn(b, lane, i), key * mma.columns());
    // Numbers that lie in different rows of a lane have the same slots.
    parts.push_back(b.read(biases, {stage, slot}, run));
  }
  return b.concat(parts);
}

Values MmaAttention::getTops(ValueRange scores) {
  Values tops;
  for (int64_t row = 0; row < lanes.rows; ++row) {
    Values candidates;
    for (Value part : scores)
      for (int64_t i = 0; i < mma.getAccumulatorType().getNumElements(); ++i)
        if (getLaneRow(i) == row)
          candidates.push_back(b.extract(part, i));
    tops.push_back(b.reduceLanes(
        vector::FromElementsOp::create(
            b, b.vectorOf(candidates.size(), b.getF32Type()), candidates),
        [&](Value x, Value y) { return getLarger(x, y); }));
  }
  return tops;
}

void MmaAttention::adjust(Value step, Tiles &scores) {
  // Otherwise the numbers of all slots would stay in registers.
  Value lane = computeHereByThread(b, this->lane);
  for (int64_t tile = 0; tile < rowTiles; ++tile)
    for (int64_t key = 0; key < keyTiles; ++key) {
      Value &score = scores[tile][key];
      Values numbers;
      for (int64_t i = 0; i < mma.getAccumulatorType().getNumElements(); ++i) {
        Value slot = b.add(mma.getColumn(b, lane, i), key * mma.columns());
        Value number = b.extract(score, i);
        Value row =
            b.add(b.add(firstRow, tile * mma.rows()), mma.getRow(b, lane, i));
        numbers.push_back(steps->adjust(b, number, step, row, slot));
      }
      score =
          vector::FromElementsOp::create(b, mma.getAccumulatorType(), numbers);
    }
}

MmaAttention::Scores MmaAttention::adjustScores(Value step, const Tiles &scores,
                                                const State &state) {
  Scores like = {scores, {}};
  for (const RowTile &rows : state)
    like.tops.push_back(rows.tops);
  auto find = [&](const Tiles &seen) {
    Scores found = {seen, {}};
    for (const Values &ofTile : seen)
      found.tops.push_back(getTops(ofTile));
    return found;
  };
  auto hide = [&] {
    Tiles seen = scores;
    adjust(step, seen);
    return find(seen);
  };
  return choose(
      b, steps->isPlain(b, step), like, [&] { return find(scores); }, hide);
}

std::pair<Value, Values> MmaAttention::findBase(ValueRange tops,
                                                RowTile &rows) {
  Value scale = b.f32(factor);
  Values factors, bases;
  for (auto [top, old] : llvm::zip_equal(tops, rows.tops)) {
    Value now = top;
    for (int64_t mask : lanes.shuffles)
      now = getLarger(now, b.exchange(now, mask));
    now = getLarger(now, old);
    bases.push_back(emitBase(now));
    factors.push_back(emitPower(b.fma(old, scale, bases.back())));
    old = now;
  }
  return {spreadOver(bases), factors};
}

Value MmaAttention::emitWeights(Value scores, Value base) {
  int64_t size = mma.getAccumulatorType().getNumElements();
  return emitPower(b.fma(scores, b.broadcast(b.f32(factor), size), base));
}

void MmaAttention::addSum(Value sum, ArrayRef<Value> factors, RowTile &rows) {
  for (auto [row, total] : llvm::enumerate(rows.sums)) {
    // A lane's share of the sum: shares are added up when all is done.
    total = arith::MulFOp::create(b, total, factors[row]);
    for (int64_t i = 0; i < mma.getAccumulatorType().getNumElements(); ++i)
      if (getLaneRow(i) == static_cast<int64_t>(row))
        total = arith::AddFOp::create(b, total, b.extract(sum, i));
  }
}

void MmaAttention::emitProduct(const Tiles &fragments, Value stage,
                               State &state) {
  for (int64_t k = 0; k < keys; k += mma.depth())
    for (int64_t column = 0; column < outTiles; ++column) {
      Value right =
          mma.loadTransposedB(b, valueTile, lane, stage,
                              b.index(column * mma.columns()), b.index(k));
      for (int64_t tile = 0; tile < rowTiles; ++tile) {
        Value &out = state[tile].out[column];
        Value left = fragments[tile][k / mma.depth()];
        out = mma.multiply(b, left, right, out);
      }
    }
}

void MmaAttention::compute(Value step, Value stage, State &state) {
  Tiles start(rowTiles, Values(keyTiles, mma.makeAccumulator(b)));
  Tiles scores = emitScores(stage, start), fragments;
  for (int64_t key = 0; biases && key < keyTiles; ++key) {
    Value bias = readBias(stage, key);
    for (Values &ofTile : scores)
      ofTile[key] = arith::AddFOp::create(b, ofTile[key], bias);
  }
  Scores seen = adjustScores(step, scores, state);
  for (auto [rows, weights, tops] :
       llvm::zip_equal(state, seen.all, seen.tops)) {
    auto [base, factors] = findBase(tops, rows);
    Value sum;
    for (Value &part : weights) {
      part = emitWeights(part, base);
      sum = sum ? arith::AddFOp::create(b, sum, part).getResult() : part;
    }
    addSum(sum, factors, rows);
    rescale(rows, factors);
  }
  for (const Values &weights : seen.all)
    fragments.push_back(mma.getFragments(b, weights));
  emitProduct(fragments, stage, state);
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

State MmaAttention::run(State state, KeySteps &keySteps, const RowSource &k,
                        const RowSource &v) {
  steps = &keySteps;
  keySource = &k;
  valueSource = &v;
  Value count = steps->getCount(b);
  if (isAsync)
    return runAsync(state, count);
  if (!isPipelined)
    return runStaged(state, count);
  Value isAny = b.compare(arith::CmpIPredicate::sgt, count, b.index(0));
  return takeIf(b, isAny, state, [&](const State &state) {
    return runPipelined(state, takeFirstThread(b, count));
  });
}

State MmaAttention::runStaged(State state, Value count) {
  Value zero = b.index(0), last = b.sub(count, 1);
  // Past the end the last step is loaded again; that load is never stored.
  auto getNext = [&](Value step, int64_t by) {
    return b.max(b.min(b.add(step, by), last), zero);
  };
  Step start = {state, load(zero, findRows(zero)), {}};
  start.rows = findRows(getNext(zero, 1));
  start = carry(b, zero, count, start, [&](Value step, Step now) {
    b.barrier(); // The last step has been read.
    storeKeys(now.loaded);
    storeValues(now.loaded);
    b.barrier();
    now.loaded = load(getNext(step, 1), now.rows);
    now.rows = findRows(getNext(step, 2));
    // Loads are to be ahead of the products that hide them.
    keepOrder(b);
    compute(step, zero, now.state);
    return now;
  });
  return start.state;
}

State MmaAttention::runAsync(State state, Value count) {
  Value zero = b.index(0), last = b.max(b.sub(count, 1), zero);
  auto findNext = [&](Value step) { return findRows(b.min(step, last)); };
  // A group is closed even where nothing is copied: the number of groups that a
  // wait leaves open is then the same in all steps.
  auto copyIf = [&](Value step, const Loads &sourceRows) {
    b.ifThen(b.isLess(step, count),
             [&] { copy(step, b.rem(step, stages), sourceRows); });
    closeCopies(b);
  };
  for (int64_t i = 0; i + 1 < stages; ++i)
    copyIf(b.index(i), findNext(b.index(i)));
  Step start = {state, {}, {}};
  if (steps->isGathered())
    start.rows = findNext(b.index(stages - 1));
  start = carry(b, zero, count, start, [&](Value step, Step now) {
    Value ahead = b.add(step, stages - 1);
    copyIf(ahead, steps->isGathered() ? now.rows : findNext(ahead));
    if (steps->isGathered())
      now.rows = findNext(b.add(ahead, 1));
    waitForCopies(b, stages - 1);
    b.barrier();
    compute(step, b.rem(step, stages), now.state);
    b.barrier(); // The step's stage is free for another.
    return now;
  });
  return start.state;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

void MmaAttention::emitOutputs(State &state,
                               function_ref<void(Value, Value, Value)> emit) {
  emitColumns(state, 0, width, emit);
}

void MmaAttention::hold(State &state, int64_t begin) {
  int64_t end = std::min(begin + getHeldColumns(), width);
  emitColumns(state, begin, end, [&](Value row, Value column, Value x) {
    outputs.store(b, b.convert(x, outputs.getElement()), b.index(0), row,
                  b.sub(column, begin));
  });
}

Value MmaAttention::readHeld(Value row, Value column, int64_t count) {
  return outputs.load(b, b.vectorOf(count, outputs.getElement()), b.index(0),
                      row, column);
}

void MmaAttention::emitColumns(State &state, int64_t begin, int64_t end,
                               function_ref<void(Value, Value, Value)> emit) {
  int64_t run = mma.getRun(), columns = mma.columns();
  for (int64_t tile = 0; tile < rowTiles; ++tile)
    for (int64_t column = begin / columns; column < end / columns; ++column)
      for (int64_t i = 0; i < mma.getAccumulatorType().getNumElements();
           i += run)
        emit(getRow(tile, i),
             b.add(mma.getColumn(b, lane, i), column * columns),
             b.slice(state[tile].out[column], i, run));
}
