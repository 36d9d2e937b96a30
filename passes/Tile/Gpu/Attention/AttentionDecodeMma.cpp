//===- AttentionDecodeMma.cpp - One query by matrix instructions ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Attention/AttentionDecodeMma.h"
#include "passes/Tile/Gpu/Attention/AttentionDecode.h"

#include <limits>

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Numbers of a row that a lane reads at once.
static constexpr int64_t kChunk = 8;
/// Numbers of a head. With more a lane has too few registers.
static constexpr int64_t kSize = 64;
/// Rows of an accumulator are in two halves, of which heads have the first.
static constexpr int64_t kMostHeads = 8;
/// Keys of a wave, and those of them that a lane has scores of: numbers 0, 1, 4
/// and 5 of an accumulator are its row, in columns 2p, 2p + 1, 2p + 8, 2p + 9.
static constexpr int64_t kKeysOfWave = 16, kOwnKeys = 4,
                         kOwn[kOwnKeys] = {0, 1, 4, 5};
/// Lanes that share a row.
static constexpr int64_t kLanesOfRow = 4;
/// Outputs of a head that a lane has: 16 neighbours, two runs of eight. Number
/// kOwn[i] of accumulator f is number 2f + i / 2 of run i % 2.
static constexpr int64_t kRuns = 2;

bool DecodeMma::isFor(const GpuInfo &gpu, Type element, int64_t heads,
                      int64_t headSize, int64_t valueSize) {
  return gpu.kind == GpuKind::Nvidia && element && element.isF16() &&
         heads <= kMostHeads && headSize == kSize && valueSize == kSize;
}

DecodeMma::DecodeMma(GpuBuilder &b, DecodeKeys &keys, Value count, Type element,
                     int64_t heads, double scale)
    : b(b), keys(keys), count(count), element(element), heads(heads),
      scale(scale), mma(Instruction::Mma16x8x16, element), lanes(b, mma),
      head(lanes.getRow(0)), place(lanes.getPlace()),
      last(b.max(b.sub(count, 1), b.index(0))),
      outputType(b.vectorOf(kOwnKeys, b.getF32Type())) {}

void DecodeMma::takeRows(Value given) {
  rows = given;
  Value none = b.constant(b.vectorOf(kChunk, element), 0);
  Value isHead = b.isLess(head, heads);
  Value row = b.min(head, b.index(heads - 1));
  for (int64_t span = 0; span < kSize; span += kLanesOfRow * kChunk) {
    Value at = b.add(b.mul(place, kChunk), span);
    Value chunk = b.convert(b.read(rows, {row, at}, kChunk), element);
    queries.append(lanes.makeA({b.select(isHead, chunk, none), none}));
  }
}

Values DecodeMma::start(Value hasOwn) {
  constexpr int64_t kNumbers = kSize / kLanesOfRow;
  Value row = b.min(head, b.index(heads - 1));
  Value from = b.mul(place, kNumbers), zero = b.f32(0), sum = zero;
  Values values;
  for (int64_t i = 0; i < kNumbers; i += kChunk) {
    Value at = b.add(from, i);
    Value query = b.read(rows, {row, at}, kChunk);
    Value key = b.read(rows, {b.index(heads), at}, kChunk);
    Value value = b.read(rows, {b.index(heads + 1), at}, kChunk);
    for (int64_t j = 0; j < kChunk; ++j) {
      sum = b.fma(b.extract(query, j), b.extract(key, j), sum);
      values.push_back(b.select(hasOwn, b.extract(value, j), zero));
    }
  }
  Value score = arith::MulFOp::create(
      b, b.waveReduce(sum, GpuBuilder::Kind::ADD, kLanesOfRow), b.f32(scale));
  // The lanes of a row have separate sums: only one counts the key.
  Value isCounted = b.both(hasOwn, b.isEqual(place, 0));
  Values state{b.select(hasOwn, score, b.f32(-kInfinity)),
               b.select(isCounted, b.f32(1), zero)};
  for (int64_t f = 0; f < kSize / mma.columns(); ++f) {
    Values numbers;
    for (int64_t i = 0; i < kOwnKeys; ++i)
      numbers.push_back(values[i % kRuns * kChunk + 2 * f + i / kRuns]);
    state.push_back(vector::FromElementsOp::create(b, outputType, numbers));
  }
  return state;
}

Value DecodeMma::getFirstOfWave(Value first) {
  return b.add(first, b.mul(b.wave(), kKeysOfWave));
}

Value DecodeMma::getNumber(Value first, int64_t i) {
  Value column = b.add(b.mul(place, 2), i / 2 * kKeysOfWave / 2 + i % 2);
  return b.add(getFirstOfWave(first), column);
}

Values DecodeMma::getOwn(Value accumulator) {
  Values own;
  for (int64_t i : kOwn)
    own.push_back(b.extract(accumulator, i));
  return own;
}

Value DecodeMma::makeAccumulator(ValueRange own) {
  Values all(mma.getAccumulatorType().getNumElements(), b.f32(0));
  for (auto [i, number] : llvm::zip_equal(kOwn, own))
    all[i] = number;
  return vector::FromElementsOp::create(b, mma.getAccumulatorType(), all);
}

Values DecodeMma::fetchKeys(Value first) {
  Values found, fragments;
  // Past the end the last key is read again, and not counted.
  for (int64_t i = 0; i < lanes.getChunks(); ++i)
    found.push_back(keys.getRow(
        b.min(b.add(getFirstOfWave(first), lanes.getRow(i)), last)));
  for (int64_t span = 0; span < kSize; span += kLanesOfRow * kChunk) {
    Value at = b.add(b.mul(place, kChunk), span);
    Values chunks;
    for (Value row : found)
      chunks.push_back(keys.readKey(row, at, kChunk));
    fragments.append(lanes.makeB(chunks));
  }
  return fragments;
}

Values DecodeMma::getScores(ArrayRef<Value> fragments) {
  Value scores = mma.makeAccumulator(b);
  for (auto [query, key] : llvm::zip_equal(queries, fragments))
    scores = mma.multiply(b, query, key, scores);
  return getOwn(scores);
}

Values DecodeMma::step(Value first, ValueRange state) {
  // Values are in flight while scores are computed.
  Values fragments = fetchKeys(first), isThere, values, biases;
  for (int64_t i = 0; i < kOwnKeys; ++i) {
    Value number = getNumber(first, i);
    isThere.push_back(b.isLess(number, count));
    number = b.min(number, last);
    Value row = keys.getRow(number);
    values.push_back(keys.readValue(row, b.mul(head, kChunk), kChunk));
    Value bias = keys.readBias(number, row);
    biases.push_back(bias ? keys.getBias(number, bias) : Value());
  }
  Values scores = getScores(fragments);
  Value top = state[0], highest;
  for (auto [score, bias, there] : llvm::zip_equal(scores, biases, isThere)) {
    score = arith::MulFOp::create(b, score, b.f32(scale));
    if (bias)
      score = arith::AddFOp::create(b, score, bias);
    score = b.select(there, score, b.f32(-kInfinity));
    highest = highest ? arith::MaxNumFOp::create(b, highest, score).getResult()
                      : score;
  }
  highest = arith::MaxNumFOp::create(
      b, top, b.waveReduce(highest, GpuBuilder::Kind::MAXNUMF, kLanesOfRow));
  // Nothing seen yet: any finite number will do in place of -infinity.
  Value isNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, highest,
                                       b.f32(-kInfinity));
  Value base = b.select(isNone, b.f32(0), highest);
  auto getPower = [&](Value x) -> Value {
    return math::Exp2Op::create(b, arith::SubFOp::create(b, x, base),
                                arith::FastMathFlags::afn);
  };
  Value factor = getPower(top);
  Value sum = arith::MulFOp::create(b, state[1], factor);
  for (Value &score : scores) {
    score = getPower(score);
    sum = arith::AddFOp::create(b, sum, score);
  }
  Values next{highest, sum};
  Value weights = mma.getFragments(b, makeAccumulator(scores)).front();
  for (auto [f, output] : llvm::enumerate(state.drop_front(2))) {
    // The same two numbers of all four keys: column n of a half of B is number
    // 8n + 2f of a value, and in the other half the one behind it.
    Values numbers;
    for (int64_t i : {0, 1})
      for (Value value : values)
        numbers.push_back(b.extract(value, 2 * static_cast<int64_t>(f) + i));
    Value fragment =
        vector::FromElementsOp::create(b, mma.getFragmentType(), numbers);
    Value scaled =
        arith::MulFOp::create(b, output, b.broadcast(factor, kOwnKeys));
    Values before;
    for (int64_t i = 0; i < kOwnKeys; ++i)
      before.push_back(b.extract(scaled, i));
    Value sums = mma.multiply(b, weights, fragment, makeAccumulator(before));
    next.push_back(vector::FromElementsOp::create(b, outputType, getOwn(sums)));
  }
  return next;
}

void DecodeMma::store(ValueRange state, Value outputs, Value tops, Value sums) {
  Value wave = b.wave(),
        sum = b.waveReduce(state[1], GpuBuilder::Kind::ADD, kLanesOfRow);
  b.ifThen(b.isLess(head, heads), [&] {
    for (int64_t run = 0; run < kRuns; ++run)
      for (int64_t first = 0; first < kChunk; first += 4) {
        Values numbers;
        for (int64_t i = first; i < first + 4; ++i)
          numbers.push_back(b.extract(state[2 + i / 2], i % 2 * kRuns + run));
        b.write(b.concat(numbers), outputs,
                {wave, head,
                 b.add(b.mul(place, kRuns * kChunk), run * kChunk + first)});
      }
    b.ifThen(b.isEqual(place, 0), [&] {
      b.write(state[0], tops, {wave, head});
      b.write(sum, sums, {wave, head});
    });
  });
}
