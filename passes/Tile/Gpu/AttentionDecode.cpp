//===- AttentionDecode.cpp - Attention of one query on GPUs ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/AttentionDecode.h"
#include "passes/Tile/Gpu/Attention.h"
#include "passes/Tile/Gpu/AttentionSources.h"

#include <limits>

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kLog2E = 1.44269504088896340736;
/// Numbers of a head that a lane has.
static constexpr int64_t kChunk = 8;
/// Keys that a team reads at once.
static constexpr int64_t kUnroll = 4;
/// Query heads that a lane can hold the outputs of.
static constexpr int64_t kMaxHeads = 8;

/// Of `group` query heads that share a KV head, those that a workgroup has.
static int64_t getHeadsAtOnce(int64_t group) {
  int64_t heads = std::min(group, kMaxHeads);
  while (group % heads != 0)
    --heads;
  return heads;
}

DecodeAttention::DecodeAttention(ElementEmitter &emitter, Value query,
                                 Value output, int64_t kvHeads,
                                 int64_t valueSize, double scale)
    : emitter(emitter), b(emitter.getBuilder()), query(query), output(output),
      numHeads(cast<RankedTensorType>(query.getType()).getDimSize(1)),
      headSize(cast<RankedTensorType>(query.getType()).getDimSize(2)),
      valueSize(valueSize), group(numHeads / kvHeads),
      heads(getHeadsAtOnce(group)),
      team(llvm::PowerOf2Ceil(std::max(headSize, valueSize) / kChunk)),
      waves(b.getThreads() / b.getGpu().waveSize), scale(scale * kLog2E) {
  Value number = b.block(0);
  kvHead = b.div(number, group / heads);
  firstHead = b.mul(number, heads);
  lane = b.lane();
  column = b.mul(b.rem(lane, team), kChunk);
  chunk = b.vectorOf(kChunk, b.getF32Type());
}

void DecodeAttention::emit(DecodeKeys &seen) {
  keys = &seen;
  count = keys->getCount();
  for (int64_t head = 0; head < heads; ++head)
    queries.push_back(readChunk(headSize, [&](Value at, int64_t width) {
      return emitter.elements(query, {b.index(0), b.add(firstHead, head), at},
                              width);
    }));
  Values state;
  for (int64_t head = 0; head < heads; ++head)
    state.append({b.f32(-kInfinity), b.f32(0), b.constant(chunk, 0)});
  int64_t teams = b.getThreads() / team;
  Value first = b.div(b.thread(), team);
  state = b.loop(b.index(0), count, teams * kUnroll, state,
                 [&](Value base, ValueRange carried) {
                   return step(b.add(base, first), teams, Values(carried));
                 });
  // Teams of a wave.
  for (int64_t mask = team; mask < b.getGpu().waveSize; mask *= 2)
    for (int64_t head = 0; head < heads; ++head)
      merge(state, head, mask);
  emitResult(state);
}

Value DecodeAttention::readChunk(int64_t size,
                                 function_ref<Value(Value, int64_t)> read) {
  Value at = column, isInside;
  if (size != team * kChunk) {
    isInside = b.isLess(column, size);
    at = b.select(isInside, column, b.index(0));
  }
  Value numbers = b.toF32(read(at, kChunk));
  return isInside ? b.select(isInside, numbers, b.constant(chunk, 0)) : numbers;
}

Values DecodeAttention::step(Value first, int64_t stride, Values state) {
  Values keyChunks, valueChunks, isThere, rows, biases;
  for (int64_t i = 0; i < kUnroll; ++i) {
    Value number = b.add(first, i * stride);
    isThere.push_back(b.isLess(number, count));
    number = b.min(number, b.sub(count, 1));
    rows.push_back(keys->getRow(number));
    keyChunks.push_back(readChunk(headSize, [&](Value at, int64_t width) {
      return keys->readKey(rows.back(), at, width);
    }));
    biases.push_back(keys->getBias(number, rows.back()));
  }
  for (int64_t i = 0; i < kUnroll; ++i)
    valueChunks.push_back(readChunk(valueSize, [&](Value at, int64_t width) {
      return keys->readValue(rows[i], at, width);
    }));

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
    Value isNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, top,
                                         b.f32(-kInfinity));
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
    score = b.fma(bias, b.f32(kLog2E), score);
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

Value DecodeAttention::getFactor(Value top, Value highest) {
  Value isNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, top,
                                       b.f32(-kInfinity));
  return b.select(isNone, b.f32(0),
                  getPower(arith::SubFOp::create(b, top, highest)));
}

void DecodeAttention::emitResult(const Values &state) {
  constexpr int64_t kWidth = 2; // neighbours that a thread finishes
  Value memory =
      b.allocWorkgroup({waves, heads, team * kChunk}, b.getF32Type());
  Value tops = b.allocWorkgroup({waves, heads}, b.getF32Type());
  Value sums = b.allocWorkgroup({waves, heads}, b.getF32Type());
  Value wave = b.wave();
  b.ifThen(b.isLess(lane, team), [&] {
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t i = 0; i < kChunk; i += 4)
        b.write(b.slice(state[3 * head + 2], i, 4), memory,
                {wave, b.index(head), b.add(column, i)});
  });
  b.ifThen(b.isEqual(lane, 0), [&] {
    for (int64_t head = 0; head < heads; ++head) {
      b.write(state[3 * head], tops, {wave, b.index(head)});
      b.write(state[3 * head + 1], sums, {wave, b.index(head)});
    }
  });
  b.barrier();
  AttentionResult result(emitter, output);
  int64_t items = heads * valueSize / kWidth;
  b.forEach(
      b.thread(), b.index(items), b.index(b.getThreads()), [&](Value item) {
        Value head = b.div(item, valueSize / kWidth);
        Value at = b.mul(b.rem(item, valueSize / kWidth), kWidth);
        Value highest = b.f32(-kInfinity);
        for (int64_t i = 0; i < waves; ++i)
          highest = arith::MaxNumFOp::create(b, highest,
                                             b.read(tops, {b.index(i), head}));
        Value sum = b.f32(0);
        Value out = b.constant(b.vectorOf(kWidth, b.getF32Type()), 0);
        for (int64_t i = 0; i < waves; ++i) {
          Value factor = getFactor(b.read(tops, {b.index(i), head}), highest);
          sum = b.fma(b.read(sums, {b.index(i), head}), factor, sum);
          out = b.fma(b.read(memory, {b.index(i), head, at}, kWidth),
                      b.broadcast(factor, kWidth), out);
        }
        Value isNone =
            arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum, b.f32(0));
        Value inverse =
            b.select(isNone, b.f32(0), arith::DivFOp::create(b, b.f32(1), sum));
        out = arith::MulFOp::create(b, out, b.broadcast(inverse, kWidth));
        result.store(b.index(0), b.add(firstHead, head), at, out);
      });
}

//===----------------------------------------------------------------------===//
// Dense attention
//===----------------------------------------------------------------------===//

namespace {
/// The keys of a tensor: the sinks, then those in the window.
class DenseKeys final : public DecodeKeys {
public:
  DenseKeys(ElementEmitter &emitter, AttentionOp op, Value kvHead)
      : emitter(emitter), b(emitter.getBuilder()), op(op), kvHead(kvHead) {
    count = emitter.size(op.getKey(), 0);
    if (!op.getWindow())
      return;
    numSinks = b.min(count, b.index(op.getSinks().value_or(0)));
    windowStart = b.max(b.sub(count, *op.getWindow()), numSinks);
    count = b.add(numSinks, b.sub(count, windowStart));
  }

  Value getCount() override { return count; }
  Value getRow(Value number) override {
    if (!op.getWindow())
      return number;
    return b.select(b.isLess(number, numSinks), number,
                    b.add(b.sub(number, numSinks), windowStart));
  }
  Value readKey(Value row, Value column, int64_t width) override {
    return emitter.elements(op.getKey(), {row, kvHead, column}, width);
  }
  Value readValue(Value row, Value column, int64_t width) override {
    return emitter.elements(op.getValue(), {row, kvHead, column}, width);
  }
  Value getBias(Value, Value row) override {
    return op.getMask() ? emitter.element(op.getMask(), {b.index(0), row})
                        : Value();
  }

private:
  ElementEmitter &emitter;
  GpuBuilder &b;
  AttentionOp op;
  Value kvHead, count, numSinks, windowStart;
};
} // namespace

bool gist::isDecodeAttention(AttentionOp op) {
  return op.getQuery().getType().getDimSize(0) == 1;
}

FailureOr<GpuGrid> gist::emitDecodeAttention(GpuKernel &kernel,
                                             AttentionOp op) {
  DecodeAttention attention(kernel.emitter, op.getQuery(), op.getOutput(),
                            op.getKey().getType().getDimSize(1),
                            op.getValue().getType().getDimSize(2),
                            op.getEffectiveScale());
  DenseKeys keys(kernel.emitter, op, attention.getKvHead());
  attention.emit(keys);
  if (kernel.emitter.hasFailed())
    return failure();
  return GpuGrid{kernel.b.getAffineConstantExpr(attention.getWorkgroups())};
}
