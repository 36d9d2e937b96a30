//===- AttentionLoop.cpp - Softmax over steps of keys ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/AttentionLoop.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

#include <limits>

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kLog2E = 1.44269504088896340736;
/// Heads up to this size keep their queries in registers.
static constexpr int64_t kMaxQueryRegisters = 128;

AttentionLoop::AttentionLoop(GpuBuilder &b, GpuTileAttr tile, int64_t headSize,
                             int64_t valueSize, double scale, bool hasBias)
    : b(b), mma(tile), element(tile.getElement()), rows(tile.getWorkgroup()[0]),
      keys(tile.getWorkgroup()[1]), stages(tile.getStages()),
      depth(llvm::alignTo(headSize, mma.depth())),
      width(llvm::alignTo(valueSize, mma.columns())),
      rowTiles(rows / tile.getWaves()[0] / mma.rows()),
      keyTiles(keys / mma.columns()), outTiles(width / mma.columns()),
      factor(scale * kLog2E), isAsync(b.getGpu().kind == GpuKind::Nvidia) {
  assert(rowTiles > 0 && keyTiles > 0 && keys % mma.depth() == 0 &&
         "a tile smaller than its instruction");
  lane = b.lane();
  firstRow = b.mul(b.wave(), rowTiles * mma.rows());
  int64_t held = isAsync ? stages : 1;
  if (isAsync)
    queryTile = SharedTile(b, 1, rows, depth, element);
  keyTile = SharedTile(b, held, keys, depth, element);
  valueTile = mma.makeTransposedTile(b, held, keys, width);
  if (hasBias)
    biases = b.allocWorkgroup({held, keys}, b.getF32Type());
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void AttentionLoop::distribute(int64_t count,
                               function_ref<void(Value, Value)> body) {
  Value isOne = arith::ConstantIntOp::create(b, 1, 1);
  for (int64_t first = 0; first < count; first += b.getThreads()) {
    Value item = b.add(b.thread(), first);
    bool isWhole = first + b.getThreads() <= count;
    body(item, isWhole ? isOne : b.isLess(item, count));
  }
}

Value AttentionLoop::fetchChunk(const RowSource &source, Value row,
                                Value column, int64_t columns) {
  if (columns != source.width)
    column = b.select(b.isLess(column, source.width), column, b.index(0));
  return source.read(row, column, keyTile.getChunk());
}

Value AttentionLoop::finishChunk(const RowSource &source, Value fetched,
                                 Value column, int64_t columns) {
  Value numbers = b.convert(fetched, element);
  if (columns == source.width)
    return numbers;
  return b.select(b.isLess(column, source.width), numbers,
                  b.constant(mma.getFragmentType(), 0));
}

Values AttentionLoop::findRows(Value step) {
  int64_t chunk = keyTile.getChunk();
  Values found;
  auto find = [&](Value item, Value isOne, Value slot) {
    slot = b.select(isOne, slot, b.index(0));
    found.push_back(steps->getRow(b, step, slot));
  };
  distribute(keys * depth / chunk, [&](Value item, Value isOne) {
    find(item, isOne, b.div(item, depth / chunk));
  });
  if (isAsync) {
    distribute(keys * width / chunk, [&](Value item, Value isOne) {
      find(item, isOne, b.div(item, width / chunk));
    });
    return found;
  }
  distribute(keys / 4 * width / chunk, [&](Value item, Value isOne) {
    Value first = b.mul(b.rem(item, keys / 4), 4);
    for (int64_t i = 0; i < 4; ++i)
      find(item, isOne, b.add(first, i));
  });
  return found;
}

/// The first of `values`, which is taken from them.
static Value takeFirst(ValueRange &values) {
  Value first = values.front();
  values = values.drop_front();
  return first;
}

Values AttentionLoop::load(Value step, ValueRange sourceRows) {
  int64_t chunk = keyTile.getChunk();
  Values chunks;
  distribute(keys * depth / chunk, [&](Value item, Value isOne) {
    item = b.select(isOne, item, b.index(0));
    Value column = b.mul(b.rem(item, depth / chunk), chunk);
    chunks.push_back(
        fetchChunk(*keySource, takeFirst(sourceRows), column, depth));
  });
  // Lanes take keys first, so that what they store goes to different banks.
  distribute(keys / 4 * width / chunk, [&](Value item, Value isOne) {
    item = b.select(isOne, item, b.index(0));
    Value column = b.mul(b.div(item, keys / 4), chunk);
    for (int64_t i = 0; i < 4; ++i)
      chunks.push_back(
          fetchChunk(*valueSource, takeFirst(sourceRows), column, width));
  });
  if (biases)
    chunks.push_back(
        steps->getBias(b, step, b.min(b.thread(), b.index(keys - 1))));
  return chunks;
}

void AttentionLoop::store(ValueRange chunks) {
  int64_t chunk = keyTile.getChunk();
  Value stage = b.index(0);
  distribute(keys * depth / chunk, [&](Value item, Value isOne) {
    Value fetched = takeFirst(chunks);
    b.ifThen(isOne, [&] {
      Value column = b.mul(b.rem(item, depth / chunk), chunk);
      keyTile.store(b, finishChunk(*keySource, fetched, column, depth), stage,
                    b.div(item, depth / chunk), column);
    });
  });
  distribute(keys / 4 * width / chunk, [&](Value item, Value isOne) {
    b.ifThen(isOne, [&] {
      Value column = b.mul(b.div(item, keys / 4), chunk);
      Values four;
      for (Value fetched : chunks.take_front(4))
        four.push_back(finishChunk(*valueSource, fetched, column, width));
      mma.storeTransposed(b, valueTile, four, stage,
                          b.mul(b.rem(item, keys / 4), 4), column);
    });
    chunks = chunks.drop_front(4);
  });
  if (biases)
    b.ifThen(b.isLess(b.thread(), keys),
             [&] { b.write(chunks.front(), biases, {stage, b.thread()}); });
}

void AttentionLoop::copyTile(const RowSource &source, const SharedTile &tile,
                             Value step, Value stage, ValueRange &sourceRows) {
  int64_t chunk = tile.getChunk(), chunks = tile.getColumns() / chunk;
  distribute(tile.getRows() * chunks, [&](Value item, Value isOne) {
    Value row = takeFirst(sourceRows);
    b.ifThen(isOne, [&] {
      Value slot = b.div(item, chunks);
      Value column = b.mul(b.rem(item, chunks), chunk);
      if (!source.place) {
        Value fetched = fetchChunk(source, row, column, tile.getColumns());
        tile.store(b, finishChunk(source, fetched, column, tile.getColumns()),
                   stage, slot, column);
        return;
      }
      Value to = tile.getPlace(b, slot, column), count;
      if (tile.getColumns() != source.width) {
        // What is past the row is filled with zeros.
        Value isInside = b.isLess(column, source.width);
        count = b.select(isInside, b.index(chunk), b.index(0));
        column = b.select(isInside, column, b.index(0));
      }
      auto [buffer, place] = source.place(row, column);
      nvgpu::DeviceAsyncCopyOp::create(
          b, nvgpu::DeviceAsyncTokenType::get(b.getContext()), tile.getBuffer(),
          ValueRange{stage, slot, to}, buffer, place, b.getIndexAttr(chunk),
          count, b.getUnitAttr());
    });
  });
}

void AttentionLoop::copy(Value step, Value stage, ValueRange sourceRows) {
  copyTile(*keySource, keyTile, step, stage, sourceRows);
  copyTile(*valueSource, valueTile, step, stage, sourceRows);
  if (biases)
    b.ifThen(b.isLess(b.thread(), keys), [&] {
      b.write(steps->getBias(b, step, b.thread()), biases, {stage, b.thread()});
    });
}

void AttentionLoop::loadQueries(const RowSource &queries) {
  auto readChunk = [&](Value row, Value column) {
    return finishChunk(queries, fetchChunk(queries, row, column, depth), column,
                       depth);
  };
  if (!isAsync) {
    // A lane's fragment is a chunk of its row.
    Value column = b.mul(b.div(lane, mma.rows()), keyTile.getChunk());
    for (int64_t tile = 0; tile < rowTiles; ++tile)
      for (int64_t k = 0; k < depth; k += mma.depth())
        queryFragments.push_back(readChunk(getRow(tile, 0), b.add(column, k)));
    return;
  }
  int64_t chunk = queryTile.getChunk(), chunks = depth / chunk;
  distribute(rows * chunks, [&](Value item, Value isOne) {
    b.ifThen(isOne, [&] {
      Value row = b.div(item, chunks);
      Value column = b.mul(b.rem(item, chunks), chunk);
      queryTile.store(b, readChunk(row, column), b.index(0), row, column);
    });
  });
  b.barrier();
  if (depth <= kMaxQueryRegisters)
    for (int64_t tile = 0; tile < rowTiles; ++tile)
      for (int64_t k = 0; k < depth; k += mma.depth())
        queryFragments.push_back(mma.loadA(b, queryTile, lane, b.index(0),
                                           b.add(firstRow, tile * mma.rows()),
                                           b.index(k)));
}

Value AttentionLoop::getQuery(int64_t tile, int64_t k) {
  if (queryFragments.empty())
    return mma.loadA(b, queryTile, lane, b.index(0),
                     b.add(firstRow, tile * mma.rows()), b.index(k));
  return queryFragments[(tile * depth + k) / mma.depth()];
}

//===----------------------------------------------------------------------===//
// One step
//===----------------------------------------------------------------------===//

Value AttentionLoop::getRow(int64_t tile, int64_t i) {
  return b.add(b.add(firstRow, tile * mma.rows()), mma.getRow(b, lane, i));
}

Value AttentionLoop::spread(ValueRange numbers) {
  int64_t size = mma.getAccumulatorType().getNumElements();
  if (numbers.size() == 1)
    return b.broadcast(numbers.front(), size);
  Values all;
  for (int64_t i = 0; i < size; ++i)
    all.push_back(numbers[getLaneRow(i)]);
  return vector::FromElementsOp::create(b, mma.getAccumulatorType(), all);
}

Values AttentionLoop::emitScores(Value stage) {
  Values scores(rowTiles * keyTiles, mma.makeAccumulator(b));
  for (int64_t k = 0; k < depth; k += mma.depth()) {
    Values queries;
    for (int64_t tile = 0; tile < rowTiles; ++tile)
      queries.push_back(getQuery(tile, k));
    for (int64_t key = 0; key < keyTiles; ++key) {
      Value right = mma.loadB(b, keyTile, lane, stage,
                              b.index(key * mma.columns()), b.index(k));
      for (int64_t tile = 0; tile < rowTiles; ++tile) {
        Value &score = scores[tile * keyTiles + key];
        score = mma.multiply(b, queries[tile], right, score);
      }
    }
  }
  return scores;
}

void AttentionLoop::addBiases(Values &scores, Value stage) {
  int64_t run = mma.getRun();
  for (int64_t key = 0; key < keyTiles; ++key) {
    Values parts;
    for (int64_t i = 0; i < mma.getAccumulatorType().getNumElements();
         i += run) {
      Value slot = b.add(mma.getColumn(b, lane, i), key * mma.columns());
      // Numbers that lie in different rows of a lane have the same slots.
      parts.push_back(b.read(biases, {stage, slot}, run));
    }
    Value bias = b.concat(parts);
    for (int64_t tile = 0; tile < rowTiles; ++tile) {
      Value &score = scores[tile * keyTiles + key];
      score = arith::AddFOp::create(b, score, bias);
    }
  }
}

Values AttentionLoop::getTops(ArrayRef<Value> scores) {
  auto largest = [&](Value x, Value y) -> Value {
    return arith::MaxNumFOp::create(b, x, y);
  };
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
          largest));
    }
  return tops;
}

Values AttentionLoop::adjustScores(Value step, Values scores) {
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
  for (int64_t tile = 0; tile < rowTiles; ++tile)
    for (int64_t key = 0; key < keyTiles; ++key) {
      Value &score = scores[tile * keyTiles + key];
      Values numbers;
      for (int64_t i = 0; i < mma.getAccumulatorType().getNumElements(); ++i) {
        Value slot = b.add(mma.getColumn(b, lane, i), key * mma.columns());
        numbers.push_back(
            steps->adjust(b, b.extract(score, i), step, getRow(tile, i), slot));
      }
      score =
          vector::FromElementsOp::create(b, mma.getAccumulatorType(), numbers);
    }
  yield();
  return branch.getResults();
}

/// 2^x. Results that are not normal may be 0.
static Value emitPower(GpuBuilder &b, Value x) {
  return math::Exp2Op::create(b, x, arith::FastMathFlags::afn);
}

Values AttentionLoop::emitWeights(Values scores, ArrayRef<Value> tops,
                                  Values &state) {
  auto largest = [&](Value x, Value y) -> Value {
    return arith::MaxNumFOp::create(b, x, y);
  };
  int64_t size = mma.getAccumulatorType().getNumElements();
  Value never = b.f32(-kInfinity), scale = b.f32(factor);
  Value scales = b.broadcast(scale, size);
  for (int64_t tile = 0; tile < rowTiles; ++tile) {
    MutableArrayRef<Value> parts =
        MutableArrayRef<Value>(scores).slice(tile * keyTiles, keyTiles);
    Values factors, bases;
    for (int64_t row = 0; row < mma.getLaneRows(); ++row) {
      Value top = tops[tile * mma.getLaneRows() + row];
      for (int64_t mask : mma.getRowShuffles())
        top = largest(top, b.exchange(top, mask));
      Value &old = getTop(state, tile, row);
      top = largest(top, old);
      // Nothing seen yet: any finite number will do in place of -infinity.
      Value isNone =
          arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, top, never);
      Value base = arith::MulFOp::create(b, b.select(isNone, b.f32(0), top),
                                         b.f32(-factor));
      factors.push_back(emitPower(b, b.fma(old, scale, base)));
      bases.push_back(base);
      old = top;
    }
    Value base = spread(bases);
    Value sum;
    for (Value &part : parts) {
      part = emitPower(b, b.fma(part, scales, base));
      sum = sum ? arith::AddFOp::create(b, sum, part).getResult() : part;
    }
    for (int64_t row = 0; row < mma.getLaneRows(); ++row) {
      // A lane's share of the sum: shares are added up when all is done.
      Value &total = getSum(state, tile, row);
      total = arith::MulFOp::create(b, total, factors[row]);
      for (int64_t i = 0; i < size; ++i)
        if (getLaneRow(i) == row)
          total = arith::AddFOp::create(b, total, b.extract(sum, i));
    }
    Value rescale = spread(factors);
    for (int64_t column = 0; column < outTiles; ++column) {
      Value &out = getOut(state, tile, column);
      out = arith::MulFOp::create(b, out, rescale);
    }
  }
  return scores;
}

void AttentionLoop::emitProduct(ArrayRef<Value> weights, Value stage,
                                Values &state) {
  SmallVector<Values> left;
  for (int64_t tile = 0; tile < rowTiles; ++tile)
    left.push_back(
        mma.getFragments(b, weights.slice(tile * keyTiles, keyTiles)));
  for (int64_t k = 0; k < keys; k += mma.depth())
    for (int64_t column = 0; column < outTiles; ++column) {
      Value right =
          mma.loadTransposedB(b, valueTile, lane, stage,
                              b.index(column * mma.columns()), b.index(k));
      for (int64_t tile = 0; tile < rowTiles; ++tile) {
        Value &out = getOut(state, tile, column);
        out = mma.multiply(b, left[tile][k / mma.depth()], right, out);
      }
    }
}

Values AttentionLoop::compute(Value step, Value stage, ValueRange state) {
  Values next(state);
  Values scores = emitScores(stage);
  if (biases)
    addBiases(scores, stage);
  Values adjusted = adjustScores(step, scores);
  ArrayRef<Value> tops = ArrayRef<Value>(adjusted).drop_front(scores.size());
  Values weights = emitWeights(
      Values(ArrayRef<Value>(adjusted).take_front(scores.size())), tops, next);
  emitProduct(weights, stage, next);
  return next;
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

Values AttentionLoop::getStart() {
  Values state;
  for (int64_t tile = 0; tile < rowTiles; ++tile) {
    state.append(mma.getLaneRows(), b.f32(-kInfinity));
    state.append(mma.getLaneRows(), b.f32(0));
    state.append(outTiles, mma.makeAccumulator(b));
  }
  return state;
}

Values AttentionLoop::run(Values state, KeySteps &keySteps, const RowSource &k,
                          const RowSource &v) {
  steps = &keySteps;
  keySource = &k;
  valueSource = &v;
  Value count = steps->getCount(b);
  return isAsync ? runAsync(state, count) : runStaged(state, count);
}

Values AttentionLoop::runStaged(Values state, Value count) {
  Value zero = b.index(0), last = b.sub(count, 1);
  size_t numStates = state.size();
  // The last steps load themselves again, which nobody stores.
  auto getNext = [&](Value step, int64_t by) {
    return b.max(b.min(b.add(step, by), last), zero);
  };
  llvm::append_range(state, load(zero, findRows(zero)));
  size_t numChunks = state.size() - numStates;
  if (steps->isGathered())
    llvm::append_range(state, findRows(getNext(zero, 1)));
  state = b.loop(zero, count, 1, state, [&](Value step, ValueRange carried) {
    b.barrier(); // The last step has been read.
    store(carried.slice(numStates, numChunks));
    b.barrier();
    Value nextStep = getNext(step, 1);
    Values loaded =
        load(nextStep, steps->isGathered()
                           ? Values(carried.drop_front(numStates + numChunks))
                           : findRows(nextStep));
    if (steps->isGathered())
      llvm::append_range(loaded, findRows(getNext(step, 2)));
    // Loads are to be ahead of the products that hide them.
    amdgpu::SchedBarrierOp::create(b, amdgpu::sched_barrier_opt_enum::none);
    Values next = compute(step, zero, carried.take_front(numStates));
    llvm::append_range(next, loaded);
    return next;
  });
  state.truncate(numStates);
  return state;
}

Values AttentionLoop::runAsync(Values state, Value count) {
  Value zero = b.index(0), last = b.max(b.sub(count, 1), zero);
  size_t numStates = state.size();
  auto findNext = [&](Value step) { return findRows(b.min(step, last)); };
  auto copyIf = [&](Value step, ValueRange sourceRows) {
    b.ifThen(b.isLess(step, count),
             [&] { copy(step, b.rem(step, stages), sourceRows); });
    return nvgpu::DeviceAsyncCreateGroupOp::create(
        b, nvgpu::DeviceAsyncTokenType::get(b.getContext()), ValueRange());
  };
  for (int64_t i = 0; i + 1 < stages; ++i)
    copyIf(b.index(i), findNext(b.index(i)));
  if (steps->isGathered())
    llvm::append_range(state, findNext(b.index(stages - 1)));
  state = b.loop(zero, count, 1, state, [&](Value step, ValueRange carried) {
    Value ahead = b.add(step, stages - 1);
    Value group = copyIf(ahead, steps->isGathered()
                                    ? Values(carried.drop_front(numStates))
                                    : findNext(ahead));
    Values found;
    if (steps->isGathered())
      found = findNext(b.add(ahead, 1));
    nvgpu::DeviceAsyncWaitOp::create(b, group, b.getI32IntegerAttr(stages - 1));
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

void AttentionLoop::finish(Values &state) {
  for (int64_t tile = 0; tile < rowTiles; ++tile) {
    Values inverses;
    for (int64_t row = 0; row < mma.getLaneRows(); ++row) {
      Value sum = getSum(state, tile, row);
      for (int64_t mask : mma.getRowShuffles())
        sum = arith::AddFOp::create(b, sum, b.exchange(sum, mask));
      Value isNone =
          arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum, b.f32(0));
      inverses.push_back(
          b.select(isNone, b.f32(0), arith::DivFOp::create(b, b.f32(1), sum)));
    }
    Value inverse = spread(inverses);
    for (int64_t column = 0; column < outTiles; ++column) {
      Value &out = getOut(state, tile, column);
      out = arith::MulFOp::create(b, out, inverse);
    }
  }
}

void AttentionLoop::emitOutputs(Values &state, int64_t begin, int64_t end,
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
