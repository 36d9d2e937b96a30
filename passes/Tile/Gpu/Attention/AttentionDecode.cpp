//===- AttentionDecode.cpp - Attention of one query on GPUs ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Attention/AttentionDecode.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/Tile/Gpu/Core/GridOrder.h"

#include <limits>
#include <numbers>

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Keys that a team reads at once.
static constexpr int64_t kUnroll = 4;
/// With more heads a lane has no registers for the keys of a second step.
static constexpr int64_t kHeadsAhead = 4;
/// Where more workgroups share keys, each has one or two steps: too few to read
/// ahead.
static constexpr int64_t kWorkgroupsAhead = 2;
/// Steps whose keys are asked for before the kernels before this one are over.
/// They go into the second level cache, which has room for all workgroups'.
static constexpr int64_t kStepsAhead = 2;

DecodeAttention::DecodeAttention(ElementEmitter &emitter, Value query,
                                 Value output, int64_t kvHeads,
                                 int64_t valueSize, double scale,
                                 DecodeParts parts)
    : emitter(emitter), b(emitter.getBuilder()), query(query), output(output),
      numHeads(cast<RankedTensorType>(query.getType()).getDimSize(1)),
      headSize(cast<RankedTensorType>(query.getType()).getDimSize(2)),
      valueSize(valueSize), group(numHeads / kvHeads),
      heads(getDecodeSplit(numHeads, kvHeads, b.getGpu()).heads),
      split(getDecodeSplit(numHeads, kvHeads, b.getGpu()).workgroups),
      team(llvm::PowerOf2Ceil(std::max(headSize, valueSize) / kChunk)),
      waves(b.getThreads() / b.getGpu().waveSize),
      scale(scale * std::numbers::log2e), parts(parts) {
  DecodeSplit decode = getDecodeSplit(numHeads, kvHeads, b.getGpu());
  keysOfPart = std::max(decode.keysOfPart,
                        decode.stepsOfPart * decode.workgroups * keysAtOnce());
  cluster = b.div(b.block(0), split);
  part = b.rem(cluster, parts.count);
  firstCluster = b.sub(cluster, part);
  rank = b.rem(b.block(0), split);
  if (split > 1)
    b.getBlock()->getParentOp()->setAttr(
        NVVM::NVVMDialect::getClusterDimAttrName(),
        b.getDenseI32ArrayAttr({static_cast<int32_t>(split), 1, 1}));
  setHeads(b.div(cluster, parts.count));
  lane = b.lane();
  column = b.mul(b.rem(lane, team), kChunk);
  chunk = b.vectorOf(kChunk, b.getF32Type());
}

void DecodeAttention::setHeads(Value ofWorkgroup) {
  number = ofWorkgroup;
  kvHead = b.div(number, group / heads);
  firstHead = b.mul(number, heads);
}

void DecodeAttention::shareByKeys(ValueRange counts) {
  int64_t sharers = group / heads; // The least number of clusters of a KV head.
  int64_t items = numHeads / heads, clusters = items * parts.count;
  if (parts.count == 1)
    return;
  auto toFloat = [&](Value number) -> Value {
    return arith::UIToFPOp::create(b, b.getF32Type(), b.toI32(number));
  };
  Value all = b.index(0);
  for (Value seen : counts)
    all = b.add(all, b.mul(seen, sharers));
  // Parts per key. Rounding up gives each head at most one part more than its
  // share, so there are enough clusters; the share is taken slightly smaller
  // because f32 is not exact. No key is lost: parts take turns.
  constexpr double kLess = 1 - 1e-5;
  Value share = arith::DivFOp::create(
      b, b.f32(kLess * static_cast<double>(clusters - items)),
      toFloat(b.max(all, b.index(1))));
  share = arith::MinNumFOp::create(
      b, share, b.f32(kLess / static_cast<double>(keysOfPart)));
  Value next = b.index(0), found = b.index(0);
  for (int64_t item = 0; item < items; ++item) {
    Value own = arith::FPToUIOp::create(
        b, b.getI32Type(),
        arith::MulFOp::create(b, toFloat(counts[item / sharers]), share));
    own = b.add(b.toIndex(own), 1);
    // Clusters past those of the last head get a part number out of range.
    Value isHere = b.compare(arith::CmpIPredicate::sle, next, cluster);
    found = b.select(isHere, b.index(item), found);
    firstCluster = b.select(isHere, next, firstCluster);
    active = active ? b.select(isHere, own, active) : own;
    next = b.add(next, own);
  }
  part = b.sub(cluster, firstCluster);
  setHeads(found);
}

void DecodeAttention::takeProduct(linalg::LinalgOp op,
                                  const DecodeColumns &first) {
  auto from = [&](int64_t begin, Value head, int64_t size) {
    return b.add(b.mul(head, size), begin);
  };
  product.emplace(
      emitter, op,
      ArrayRef<DecodeProduct::Columns>{
          {from(first.query, firstHead, headSize), heads * headSize},
          {from(first.key, kvHead, headSize), headSize},
          {from(first.value, kvHead, valueSize), valueSize}},
      split, rank);
}

void DecodeAttention::takeOutput(const HeadOutput &product, unsigned result) {
  multiplied.emplace(emitter, product,
                     getDecodeSplit(numHeads, numHeads / group, b.getGpu()),
                     number, rank, result);
}

void DecodeAttention::emit(DecodeKeys &seen) {
  keys = &seen;
  count = keys->getCount();
  if (parts.count > 1 && !active)
    active = b.max(b.min(b.ceilDiv(count, keysOfPart), b.index(parts.count)),
                   b.index(1));
  // Keys arrive while the product that makes the query is computed, here or by
  // the kernel before; for a cluster that has all keys of its heads that pays.
  bool hasAll = hasClusters() && parts.count == 1;
  if (keys->areKnownEarly() && (readsAhead() || product || hasAll))
    prefetchKeys();
  // Clusters without keys read no weights.
  if (keys->areKnownEarly() && !product)
    waitForGrids(b);
  if (!active)
    return emitPart();
  b.ifThen(b.isLess(part, active), [&] { emitPart(); });
}

bool DecodeAttention::readsAhead() const {
  return b.getGpu().kind == GpuKind::Nvidia && keys->areKnownEarly() &&
         heads <= kHeadsAhead && split <= kWorkgroupsAhead;
}

Value DecodeAttention::getFirstKey() {
  Value start = active ? b.add(b.mul(part, split), rank) : rank;
  return b.mul(start, keysAtOnce());
}

Value DecodeAttention::getStride() {
  Value stride = b.index(keysAtOnce() * split);
  return active ? b.mul(stride, active) : stride;
}

void DecodeAttention::prefetchKeys() {
  Value first = getFirstKey(), stride = getStride();
  for (int64_t step = 0; step < kStepsAhead; ++step) {
    for (bool isKey : {true, false}) {
      int64_t line = keys->getColumnsOfLine(isKey);
      if (line == 0)
        continue;
      int64_t lines = llvm::divideCeil(isKey ? headSize : valueSize, line);
      b.forEach(b.thread(), b.index(keysAtOnce() * lines),
                b.index(b.getThreads()), [&](Value item) {
                  Value number = b.add(first, b.div(item, lines));
                  Value at = b.mul(b.rem(item, lines), line);
                  b.ifThen(b.isLess(number, count),
                           [&] { keys->prefetch(isKey, number, at); });
                });
    }
    first = b.add(first, stride);
  }
}

void DecodeAttention::readRows() {
  for (int64_t head = 0; head < heads; ++head)
    queries.push_back(readChunk(headSize, [&](Value at, int64_t width) {
      return emitter.elements(query, {b.index(0), b.add(firstHead, head), at},
                              width);
    }));
  if (!keys->hasOwn())
    return;
  auto read = [&](bool isKey, int64_t size) {
    return readChunk(size, [&](Value at, int64_t width) {
      return keys->readOwn(isKey, at, width);
    });
  };
  ownKey = read(/*isKey=*/true, headSize);
  ownValue = read(/*isKey=*/false, valueSize);
}

Value DecodeAttention::makeRows() {
  int64_t columns = team * kChunk, waveSize = b.getGpu().waveSize;
  Value rows = b.allocWorkgroup({heads + 2, columns}, b.getF32Type());
  // Computing a row costs one or two memory latencies. Keys, values and queries
  // are made by different waves, so that these latencies overlap. `count` rows,
  // which go to `place`, from wave `wave` on.
  auto make = [&](int64_t place, int64_t count, int64_t size, int64_t wave,
                  function_ref<Value(Value row, Value at)> get,
                  function_ref<void(Value at, Value numbers)> write) {
    int64_t chunks = size / kChunk, threads = b.getThreads();
    Value first = b.rem(b.add(b.thread(), threads - wave * waveSize), threads);
    b.forEach(first, b.index(count * chunks), b.index(threads),
              [&](Value item) {
                Value row = b.div(item, chunks);
                Value at = b.mul(b.rem(item, chunks), kChunk);
                Value numbers = b.toF32(get(row, at));
                for (int64_t i = 0; i < kChunk; i += 4)
                  b.write(b.slice(numbers, i, 4), rows,
                          {b.add(row, place), b.add(at, i)});
                write(at, numbers);
              });
  };
  Value isFirst = b.isEqual(rank, 0);
  if (active)
    isFirst = b.both(isFirst, b.isEqual(part, 0));
  // Of the heads that share a KV head one workgroup writes.
  Value isWriter = b.both(isFirst, b.isEqual(b.rem(number, group / heads), 0));
  for (bool isKey : {true, false})
    make(
        isKey ? heads : heads + 1, 1, isKey ? headSize : valueSize,
        isKey ? 0 : 1,
        [&](Value, Value at) { return keys->readOwn(isKey, at, kChunk); },
        [&](Value at, Value numbers) {
          b.ifThen(isWriter, [&] { keys->writeOwn(isKey, at, numbers); });
        });
  make(
      0, heads, headSize, 2,
      [&](Value row, Value at) {
        return emitter.elements(query, {b.index(0), b.add(firstHead, row), at},
                                kChunk);
      },
      [](Value, Value) {});
  b.barrier();
  return rows;
}

void DecodeAttention::takeRows(Value rows) {
  auto read = [&](int64_t row, int64_t size) {
    return readChunk(size, [&](Value at, int64_t width) {
      return b.read(rows, {b.index(row), at}, width);
    });
  };
  for (int64_t head = 0; head < heads; ++head)
    queries.push_back(read(head, headSize));
  ownKey = read(heads, headSize);
  ownValue = read(heads + 1, valueSize);
}

bool DecodeAttention::usesMma() {
  return keys->makesOwn() && !readsAhead() &&
         DecodeMma::isFor(b.getGpu(), keys->getMultiplied(), heads, headSize,
                          valueSize);
}

int64_t DecodeAttention::keysAtOnce() const {
  return b.getThreads() / team * kUnroll;
}

void DecodeAttention::emitPart() {
  // Others wait for it when they have something to hand over.
  if (split > 1)
    NVVM::ClusterArriveRelaxedOp::create(b, b.getUnitAttr());
  if (multiplied)
    multiplied->prefetch();
  if (product) {
    product->fetch();
    waitForGrids(b);
    product->compute();
  }
  bool isByMatrices = usesMma();
  if (multiplied && !isByMatrices)
    multiplied->fetch();
  // A step's keys and values are in flight while the one before it is
  // computed, and the first ones' while the query is made.
  bool isAhead = readsAhead();
  Value base = getFirstKey(), stride = getStride();
  Value ofTeam = b.div(b.thread(), team);
  Values fetched;
  if (isAhead)
    fetched = fetch(b.add(base, ofTeam));
  if (isByMatrices) {
    matrices.emplace(b, *keys, count, keys->getMultiplied(), heads, scale);
    matrices->takeRows(makeRows());
  } else if (keys->makesOwn())
    takeRows(makeRows());
  else
    readRows();
  // Where at least half of the clusters have no keys, later kernels find idle
  // compute units.
  if (product && active)
    b.ifThen(b.isLess(b.mul(active, 2), parts.count + 1),
             [&] { letGridsStart(b); });
  Values state = start();
  size_t numbers = state.size();
  state.append(fetched);
  state = b.loop(base, count, stride, state, [&](Value at, ValueRange carried) {
    if (matrices)
      return matrices->step(at, carried);
    at = b.add(at, ofTeam);
    Values now = isAhead ? Values(carried.drop_front(numbers)) : fetch(at);
    Values next = isAhead ? fetch(b.add(at, stride)) : Values();
    Values after = step(at, Values(carried.take_front(numbers)), now);
    after.append(next);
    return after;
  });
  state.truncate(numbers);
  // Fragments leave no registers for weights, which were prefetched before.
  // They arrive while the workgroups synchronise.
  if (multiplied && isByMatrices)
    multiplied->fetch();
  letGridsStart(b);
  // Teams of a wave.
  if (!matrices)
    for (int64_t mask = team; mask < b.getGpu().waveSize; mask *= 2)
      for (int64_t head = 0; head < heads; ++head)
        merge(state, head, mask);
  emitResult(state);
}

Values DecodeAttention::start() {
  Values state;
  if (!keys->hasOwn()) {
    for (int64_t head = 0; head < heads; ++head)
      state.append({b.f32(-kInfinity), b.f32(0), b.constant(chunk, 0)});
    return state;
  }
  // All teams have the query's own token, and the first has seen it.
  Value isFirst =
      b.both(b.isEqual(rank, 0),
             b.isLess(b.thread(), matrices ? b.getGpu().waveSize : team));
  if (active)
    isFirst = b.both(isFirst, b.isEqual(part, 0));
  if (matrices)
    return matrices->start(isFirst);
  for (int64_t head = 0; head < heads; ++head)
    state.append({getScore(head, ownKey, /*bias=*/Value(), isFirst),
                  b.select(isFirst, b.f32(1), b.f32(0)),
                  b.select(isFirst, ownValue, b.constant(chunk, 0))});
  return state;
}

Value DecodeAttention::fetchChunk(int64_t size,
                                  function_ref<Value(Value, int64_t)> read) {
  Value at = column;
  if (size != team * kChunk)
    at = b.select(b.isLess(column, size), column, b.index(0));
  return read(at, kChunk);
}

Value DecodeAttention::finishChunk(int64_t size, Value fetched) {
  Value numbers = b.toF32(fetched);
  if (size == team * kChunk)
    return numbers;
  return b.select(b.isLess(column, size), numbers, b.constant(chunk, 0));
}

Value DecodeAttention::readChunk(int64_t size,
                                 function_ref<Value(Value, int64_t)> read) {
  return finishChunk(size, fetchChunk(size, read));
}

Value DecodeAttention::getNumber(Value first, int64_t i) {
  return b.add(first, i * (b.getThreads() / team));
}

Values DecodeAttention::fetch(Value first) {
  Values rows, chunks, biases;
  // Past the end the last key is read again, and not counted.
  Value last = b.max(b.sub(count, 1), b.index(0));
  for (int64_t i = 0; i < kUnroll; ++i) {
    Value number = b.min(getNumber(first, i), last);
    rows.push_back(keys->getRow(number));
    chunks.push_back(fetchChunk(headSize, [&](Value at, int64_t width) {
      return keys->readKey(rows.back(), at, width);
    }));
    if (Value bias = keys->readBias(number, rows.back()))
      biases.push_back(bias);
  }
  for (Value row : rows)
    chunks.push_back(fetchChunk(valueSize, [&](Value at, int64_t width) {
      return keys->readValue(row, at, width);
    }));
  chunks.append(biases);
  return chunks;
}

Values DecodeAttention::step(Value first, Values state, ValueRange fetched) {
  Values keyChunks, valueChunks, isThere, biases;
  for (int64_t i = 0; i < kUnroll; ++i) {
    Value number = getNumber(first, i);
    isThere.push_back(b.isLess(number, count));
    keyChunks.push_back(finishChunk(headSize, fetched[i]));
    valueChunks.push_back(finishChunk(valueSize, fetched[kUnroll + i]));
    biases.push_back(fetched.size() > 2 * kUnroll
                         ? keys->getBias(number, fetched[2 * kUnroll + i])
                         : Value());
  }

  for (int64_t head = 0; head < heads; ++head) {
    Value &top = state[3 * head], &sum = state[3 * head + 1],
          &out = state[3 * head + 2];
    Value old = top;
    Values scores;
    for (int64_t i = 0; i < kUnroll; ++i) {
      scores.push_back(getScore(head, keyChunks[i], biases[i], isThere[i]));
      top = arith::MaxNumFOp::create(b, top, scores.back());
    }
    // Nothing seen yet: any finite number will do in place of -infinity.
    Value isNone = b.compare(arith::CmpFPredicate::OEQ, top, b.f32(-kInfinity));
    Value base = b.select(isNone, b.f32(0), top);
    Value factor = getPower(arith::SubFOp::create(b, old, base));
    sum = arith::MulFOp::create(b, sum, factor);
    out = arith::MulFOp::create(b, out, b.broadcast(factor, kChunk));
    for (int64_t i = 0; i < kUnroll; ++i) {
      Value power = getPower(arith::SubFOp::create(b, scores[i], base));
      sum = arith::AddFOp::create(b, sum, power);
      out = b.fma(b.broadcast(power, kChunk), valueChunks[i], out);
    }
  }
  return state;
}

Value DecodeAttention::getScore(int64_t head, Value key, Value bias,
                                Value isThere) {
  Value sum;
  for (int64_t i = 0; i < kChunk; ++i) {
    Value x = b.extract(queries[head], i), y = b.extract(key, i);
    sum = sum ? b.fma(x, y, sum) : arith::MulFOp::create(b, x, y).getResult();
  }
  sum = b.waveReduce(sum, GpuBuilder::Kind::ADD, team);
  Value score = arith::MulFOp::create(b, sum, b.f32(scale));
  if (bias)
    score = arith::AddFOp::create(b, score, bias);
  return b.select(isThere, score, b.f32(-kInfinity));
}

Value DecodeAttention::getPower(Value x) {
  return math::Exp2Op::create(b, x, arith::FastMathFlags::afn);
}

void DecodeAttention::merge(Values &state, int64_t head, int64_t mask) {
  Value &top = state[3 * head], &sum = state[3 * head + 1],
        &out = state[3 * head + 2];
  Value otherTop = b.exchange(top, mask), otherSum = b.exchange(sum, mask);
  Value highest = arith::MaxNumFOp::create(b, top, otherTop);
  Value factor = getFactor(top, highest);
  Value otherFactor = getFactor(otherTop, highest);
  sum = b.fma(otherSum, otherFactor, arith::MulFOp::create(b, sum, factor));
  Values numbers;
  for (int64_t i = 0; i < kChunk; ++i) {
    Value mine = b.extract(out, i);
    Value other = b.exchange(mine, mask);
    numbers.push_back(
        b.fma(other, otherFactor, arith::MulFOp::create(b, mine, factor)));
  }
  out = vector::FromElementsOp::create(b, chunk, numbers);
  top = highest;
}

void DecodeAttention::storeWave(const Values &state, Value outputs, Value tops,
                                Value sums) {
  Value wave = b.wave();
  b.ifThen(b.isLess(lane, team), [&] {
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t i = 0; i < kChunk; i += 4)
        b.write(b.slice(state[3 * head + 2], i, 4), outputs,
                {wave, b.index(head), b.add(column, i)});
  });
  b.ifThen(b.isEqual(lane, 0), [&] {
    for (int64_t head = 0; head < heads; ++head) {
      b.write(state[3 * head], tops, {wave, b.index(head)});
      b.write(state[3 * head + 1], sums, {wave, b.index(head)});
    }
  });
}
