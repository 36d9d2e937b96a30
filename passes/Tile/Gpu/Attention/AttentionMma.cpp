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

#include <limits>

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Columns of outputs that are in workgroup memory at once.
static constexpr int64_t kColumnsAtOnce = 64;

static Mma getMma(GpuAttentionAttr tile) {
  return Mma(tile.getInstruction(), tile.getElement());
}

MmaAttention::MmaAttention(GpuBuilder &b, GpuAttentionAttr tile,
                           const Shape &shape)
    : AttentionLoop(b, tile, shape,
                    llvm::alignTo(shape.valueSize, getMma(tile).columns())),
      mma(getMma(tile)), depth(llvm::alignTo(shape.headSize, mma.depth())),
      rowTiles(rows / tile.getNumWaves() / mma.rows()),
      keyTiles(keys / mma.columns()), outTiles(width / mma.columns()),
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

Value MmaAttention::spread(ValueRange numbers) {
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

Values MmaAttention::emitScores(Value stage, ValueRange start) {
  Values scores(start);
  auto multiply = [&](int64_t key, int64_t k, ArrayRef<Value> queries) {
    Value right = mma.loadB(b, keyTile, lane, stage,
                            b.index(key * mma.columns()), b.index(k));
    for (auto [tile, query] : llvm::enumerate(queries)) {
      Value &score = scores[tile * keyTiles + key];
      score = mma.multiply(b, query, right, score);
    }
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

Value MmaAttention::getLarger(Value x, Value y) {
  // Without nnan, gfx942 would first quiet signalling NaNs.
  auto flags =
      isAsync ? arith::FastMathFlags::none : arith::FastMathFlags::nnan;
  return arith::MaxNumFOp::create(b, x, y, flags);
}

Values MmaAttention::getTops(ArrayRef<Value> scores) {
  Values tops;
  for (int64_t tile = 0; tile < rowTiles; ++tile)
    for (int64_t row = 0; row < mma.getLaneRows(); ++row) {
      Values candidates;
      for (Value part : scores.slice(tile * keyTiles, keyTiles))
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

void MmaAttention::adjust(Value step, Values &scores) {
  // Otherwise the numbers of all slots would stay in registers.
  Value lane = computeHereByThread(b, this->lane);
  for (int64_t tile = 0; tile < rowTiles; ++tile)
    for (int64_t key = 0; key < keyTiles; ++key) {
      Value &score = scores[tile * keyTiles + key];
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

Values MmaAttention::adjustScores(Value step, Values scores) {
  Value isPlain = steps->isPlain(b, step);
  SmallVector<Type> types(ValueRange(scores).getTypes());
  types.append(rowTiles * mma.getLaneRows(), b.getF32Type());
  auto branch = scf::IfOp::create(b, types, isPlain, /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  auto yield = [&] {
    Values results = scores;
    llvm::append_range(results, getTops(scores));
    scf::YieldOp::create(b, results);
  };
  b.setInsertionPointToStart(branch.thenBlock());
  yield();
  b.setInsertionPointToStart(branch.elseBlock());
  adjust(step, scores);
  yield();
  return branch.getResults();
}

std::pair<Value, Values>
MmaAttention::findBase(int64_t tile, ArrayRef<Value> tops, Values &state) {
  Value never = b.f32(-kInfinity), scale = b.f32(factor);
  Values factors, bases;
  for (int64_t row = 0; row < mma.getLaneRows(); ++row) {
    Value top = tops[tile * mma.getLaneRows() + row];
    for (int64_t mask : mma.getRowShuffles())
      top = getLarger(top, b.exchange(top, mask));
    Value &old = getTop(state, tile, row);
    top = getLarger(top, old);
    // Nothing seen yet: any finite number will do in place of -infinity.
    Value isNone = b.compare(arith::CmpFPredicate::OEQ, top, never);
    Value base = arith::MulFOp::create(b, b.select(isNone, b.f32(0), top),
                                       b.f32(-factor));
    factors.push_back(emitPower(b.fma(old, scale, base)));
    bases.push_back(base);
    old = top;
  }
  return {spread(bases), factors};
}

Value MmaAttention::emitWeights(Value scores, Value base) {
  int64_t size = mma.getAccumulatorType().getNumElements();
  return emitPower(b.fma(scores, b.broadcast(b.f32(factor), size), base));
}

void MmaAttention::addSum(int64_t tile, Value sum, ArrayRef<Value> factors,
                          Values &state) {
  for (int64_t row = 0; row < mma.getLaneRows(); ++row) {
    // A lane's share of the sum: shares are added up when all is done.
    Value &total = getSum(state, tile, row);
    total = arith::MulFOp::create(b, total, factors[row]);
    for (int64_t i = 0; i < mma.getAccumulatorType().getNumElements(); ++i)
      if (getLaneRow(i) == row)
        total = arith::AddFOp::create(b, total, b.extract(sum, i));
  }
}

void MmaAttention::rescale(int64_t tile, ArrayRef<Value> factors,
                           Values &state) {
  Value all = spread(factors);
  for (int64_t column = 0; column < outTiles; ++column) {
    Value &out = getOut(state, tile, column);
    out = arith::MulFOp::create(b, out, all);
  }
}

Values MmaAttention::getFragments(ArrayRef<Value> weights) {
  Values fragments;
  for (int64_t tile = 0; tile < rowTiles; ++tile)
    llvm::append_range(
        fragments,
        mma.getFragments(b, weights.slice(tile * keyTiles, keyTiles)));
  return fragments;
}

void MmaAttention::emitProduct(ValueRange fragments, Value stage,
                               Values &state) {
  for (int64_t k = 0; k < keys; k += mma.depth())
    for (int64_t column = 0; column < outTiles; ++column) {
      Value right =
          mma.loadTransposedB(b, valueTile, lane, stage,
                              b.index(column * mma.columns()), b.index(k));
      for (int64_t tile = 0; tile < rowTiles; ++tile) {
        Value &out = getOut(state, tile, column);
        Value left = fragments[(tile * keys + k) / mma.depth()];
        out = mma.multiply(b, left, right, out);
      }
    }
}

Values MmaAttention::compute(Value step, Value stage, ValueRange state) {
  Values next(state);
  Values start(rowTiles * keyTiles, mma.makeAccumulator(b));
  Values scores = emitScores(stage, start);
  for (int64_t key = 0; biases && key < keyTiles; ++key) {
    Value bias = readBias(stage, key);
    for (int64_t tile = 0; tile < rowTiles; ++tile) {
      Value &score = scores[tile * keyTiles + key];
      score = arith::AddFOp::create(b, score, bias);
    }
  }
  Values adjusted = adjustScores(step, scores);
  ArrayRef<Value> tops = ArrayRef<Value>(adjusted).drop_front(scores.size());
  Values weights(ArrayRef<Value>(adjusted).take_front(scores.size()));
  for (int64_t tile = 0; tile < rowTiles; ++tile) {
    auto [base, factors] = findBase(tile, tops, next);
    Value sum;
    for (Value &part :
         MutableArrayRef<Value>(weights).slice(tile * keyTiles, keyTiles)) {
      part = emitWeights(part, base);
      sum = sum ? arith::AddFOp::create(b, sum, part).getResult() : part;
    }
    addSum(tile, sum, factors, next);
    rescale(tile, factors, next);
  }
  emitProduct(getFragments(weights), stage, next);
  return next;
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

Values MmaAttention::getStart() {
  Values state;
  for (int64_t tile = 0; tile < rowTiles; ++tile) {
    state.append(mma.getLaneRows(), b.f32(-kInfinity));
    state.append(mma.getLaneRows(), b.f32(0));
    state.append(outTiles, mma.makeAccumulator(b));
  }
  return state;
}

Values MmaAttention::run(Values state, KeySteps &keySteps, const RowSource &k,
                         const RowSource &v) {
  steps = &keySteps;
  keySource = &k;
  valueSource = &v;
  Value count = steps->getCount(b);
  if (isAsync)
    return runAsync(state, count);
  return isPipelined ? runPipelined(state, count) : runStaged(state, count);
}

Values MmaAttention::runStaged(Values state, Value count) {
  Value zero = b.index(0), last = b.sub(count, 1);
  size_t numStates = state.size();
  // Past the end the last step is loaded again; that load is never stored.
  auto getNext = [&](Value step, int64_t by) {
    return b.max(b.min(b.add(step, by), last), zero);
  };
  auto load = [&](Value step, ValueRange sourceRows) {
    Values chunks = loadKeys(step, sourceRows);
    llvm::append_range(chunks,
                       loadValues(sourceRows.drop_front(chunks.size() - 1)));
    return chunks;
  };
  // Chunks of this thread, as distribute() counts them, and the bias: this loop
  // is taken only where there is one (see isPipelined).
  size_t numKeys =
      llvm::divideCeil(keys * depth / keyTile.getChunk(), b.getThreads()) + 1;
  llvm::append_range(state, load(zero, findRows(zero)));
  size_t numChunks = state.size() - numStates;
  llvm::append_range(state, findRows(getNext(zero, 1)));
  state = b.loop(zero, count, 1, state, [&](Value step, ValueRange carried) {
    ValueRange chunks = carried.slice(numStates, numChunks);
    b.barrier(); // The last step has been read.
    storeKeys(chunks.take_front(numKeys));
    storeValues(chunks.drop_front(numKeys));
    b.barrier();
    Values loaded =
        load(getNext(step, 1), carried.drop_front(numStates + numChunks));
    llvm::append_range(loaded, findRows(getNext(step, 2)));
    // Loads are to be ahead of the products that hide them.
    keepOrder(b);
    Values next = compute(step, zero, carried.take_front(numStates));
    llvm::append_range(next, loaded);
    return next;
  });
  state.truncate(numStates);
  return state;
}

Values MmaAttention::runAsync(Values state, Value count) {
  Value zero = b.index(0), last = b.max(b.sub(count, 1), zero);
  size_t numStates = state.size();
  auto findNext = [&](Value step) { return findRows(b.min(step, last)); };
  // A group is closed even where nothing is copied: the number of groups that a
  // wait leaves open is then the same in all steps.
  auto copyIf = [&](Value step, ValueRange sourceRows) {
    b.ifThen(b.isLess(step, count),
             [&] { copy(step, b.rem(step, stages), sourceRows); });
    closeCopies(b);
  };
  for (int64_t i = 0; i + 1 < stages; ++i)
    copyIf(b.index(i), findNext(b.index(i)));
  if (steps->isGathered())
    llvm::append_range(state, findNext(b.index(stages - 1)));
  state = b.loop(zero, count, 1, state, [&](Value step, ValueRange carried) {
    Value ahead = b.add(step, stages - 1);
    copyIf(ahead, steps->isGathered() ? Values(carried.drop_front(numStates))
                                      : findNext(ahead));
    Values found;
    if (steps->isGathered())
      found = findNext(b.add(ahead, 1));
    waitForCopies(b, stages - 1);
    b.barrier();
    Values next =
        compute(step, b.rem(step, stages), carried.take_front(numStates));
    b.barrier(); // The step's stage is free for another.
    llvm::append_range(next, found);
    return next;
  });
  state.truncate(numStates);
  return state;
}

Values MmaAttention::merge(Values state, ValueRange others) {
  Values other(others);
  for (int64_t tile = 0; tile < rowTiles; ++tile) {
    Values factors, otherFactors;
    for (int64_t row = 0; row < mma.getLaneRows(); ++row) {
      Value &top = getTop(state, tile, row);
      Value otherTop = getTop(other, tile, row);
      Value highest = getLarger(top, otherTop);
      // Neither has seen a key: any finite number will do for -infinity.
      Value isNone =
          b.compare(arith::CmpFPredicate::OEQ, highest, b.f32(-kInfinity));
      Value base = arith::MulFOp::create(b, b.select(isNone, b.f32(0), highest),
                                         b.f32(-factor));
      factors.push_back(emitPower(b.fma(top, b.f32(factor), base)));
      otherFactors.push_back(emitPower(b.fma(otherTop, b.f32(factor), base)));
      top = highest;
      Value &sum = getSum(state, tile, row);
      sum = b.fma(getSum(other, tile, row), otherFactors.back(),
                  arith::MulFOp::create(b, sum, factors.back()));
    }
    Value all = spread(factors), otherAll = spread(otherFactors);
    for (int64_t column = 0; column < outTiles; ++column) {
      Value &out = getOut(state, tile, column);
      out = b.fma(getOut(other, tile, column), otherAll,
                  arith::MulFOp::create(b, out, all));
    }
  }
  return state;
}

void MmaAttention::finish(Values &state) {
  for (int64_t tile = 0; tile < rowTiles; ++tile) {
    Values inverses;
    for (int64_t row = 0; row < mma.getLaneRows(); ++row) {
      Value sum = getSum(state, tile, row);
      for (int64_t mask : mma.getRowShuffles())
        sum = arith::AddFOp::create(b, sum, b.exchange(sum, mask));
      inverses.push_back(emitInverse(sum));
    }
    Value inverse = spread(inverses);
    for (int64_t column = 0; column < outTiles; ++column) {
      Value &out = getOut(state, tile, column);
      out = arith::MulFOp::create(b, out, inverse);
    }
  }
}

void MmaAttention::emitOutputs(Values &state,
                               function_ref<void(Value, Value, Value)> emit) {
  emitColumns(state, 0, width, emit);
}

void MmaAttention::hold(Values &state, int64_t begin) {
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

void MmaAttention::emitColumns(Values &state, int64_t begin, int64_t end,
                               function_ref<void(Value, Value, Value)> emit) {
  int64_t run = mma.getRun(), columns = mma.columns();
  for (int64_t tile = 0; tile < rowTiles; ++tile)
    for (int64_t column = begin / columns; column < end / columns; ++column)
      for (int64_t i = 0; i < mma.getAccumulatorType().getNumElements();
           i += run)
        emit(getRow(tile, i),
             b.add(mma.getColumn(b, lane, i), column * columns),
             b.slice(getOut(state, tile, column), i, run));
}
