//===- AttentionDecode.cpp - Attention of one query on GPUs ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One query is bound by reading keys and values, which is done once for all
// query heads that share them. A key is read by a team of lanes, 16 bytes each;
// teams have running maxima, sums and outputs of their own, so that they meet
// only once, when all keys have been read: by shuffles in a wave, then in
// workgroup memory.
//
//===----------------------------------------------------------------------===//

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

namespace {
class DecodeAttention {
public:
  DecodeAttention(ElementEmitter &emitter, AttentionOp op)
      : emitter(emitter), b(emitter.getBuilder()), op(op),
        headSize(op.getKey().getType().getDimSize(2)),
        valueSize(op.getValue().getType().getDimSize(2)),
        group(op.getQuery().getType().getDimSize(1) /
              op.getKey().getType().getDimSize(1)),
        heads(getHeadsAtOnce(group)),
        team(llvm::PowerOf2Ceil(std::max(headSize, valueSize) / kChunk)),
        waves(b.getThreads() / b.getGpu().waveSize),
        scale(op.getEffectiveScale() * kLog2E) {
    Value number = b.block(0);
    kvHead = b.div(number, group / heads);
    firstHead = b.mul(number, heads);
    lane = b.lane();
    column = b.mul(b.rem(lane, team), kChunk);
    chunk = b.vectorOf(kChunk, b.getF32Type());
  }

  int64_t getWorkgroups() {
    return op.getQuery().getType().getDimSize(1) / heads;
  }

  void emit() {
    findKeys();
    for (int64_t head = 0; head < heads; ++head)
      queries.push_back(readChunk(op.getQuery(), b.index(0),
                                  b.add(firstHead, head), headSize));
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

private:
  /// Which keys are seen: the sinks, then those in the window.
  void findKeys() {
    numKeys = count = emitter.size(op.getKey(), 0);
    if (!op.getWindow())
      return;
    numSinks = b.min(numKeys, b.index(op.getSinks().value_or(0)));
    windowStart = b.max(b.sub(numKeys, *op.getWindow()), numSinks);
    count = b.add(numSinks, b.sub(numKeys, windowStart));
  }
  Value getKey(Value number) {
    if (!op.getWindow())
      return number;
    return b.select(b.isLess(number, numSinks), number,
                    b.add(b.sub(number, numSinks), windowStart));
  }

  /// This lane's part of a row, zeros past the head, in f32.
  Value readChunk(Value tensor, Value token, Value head, int64_t size) {
    Value at = column, isInside;
    if (size != team * kChunk) {
      isInside = b.isLess(column, size);
      at = b.select(isInside, column, b.index(0));
    }
    Value numbers =
        b.toF32(emitter.elements(tensor, {token, head, at}, kChunk));
    return isInside ? b.select(isInside, numbers, b.constant(chunk, 0))
                    : numbers;
  }

  /// Keys `first`, `first` + `stride`, … of those that are seen.
  Values step(Value first, int64_t stride, Values state) {
    Values keyChunks, valueChunks, isThere, tokens;
    for (int64_t i = 0; i < kUnroll; ++i) {
      Value number = b.add(first, i * stride);
      isThere.push_back(b.isLess(number, count));
      tokens.push_back(getKey(b.min(number, b.sub(count, 1))));
      keyChunks.push_back(
          readChunk(op.getKey(), tokens.back(), kvHead, headSize));
    }
    for (int64_t i = 0; i < kUnroll; ++i)
      valueChunks.push_back(
          readChunk(op.getValue(), tokens[i], kvHead, valueSize));

    for (int64_t head = 0; head < heads; ++head) {
      Value &top = state[3 * head], &sum = state[3 * head + 1],
            &out = state[3 * head + 2];
      Value old = top;
      Values scores;
      for (int64_t i = 0; i < kUnroll; ++i) {
        scores.push_back(getScore(head, keyChunks[i], tokens[i], isThere[i]));
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

  /// The score of a key in powers of two, -infinity where it is not there.
  Value getScore(int64_t head, Value key, Value token, Value isThere) {
    Value sum;
    for (int64_t i = 0; i < kChunk; ++i) {
      Value x = b.extract(queries[head], i), y = b.extract(key, i);
      sum = sum ? b.fma(x, y, sum) : arith::MulFOp::create(b, x, y).getResult();
    }
    sum = b.waveReduce(sum, GpuBuilder::Kind::ADD, team);
    Value score = arith::MulFOp::create(b, sum, b.f32(scale));
    if (op.getMask()) {
      Value mask = emitter.element(op.getMask(), {b.index(0), token});
      score = b.fma(mask, b.f32(kLog2E), score);
    }
    return b.select(isThere, score, b.f32(-kInfinity));
  }

  Value getPower(Value x) {
    return math::Exp2Op::create(b, x, arith::FastMathFlags::afn);
  }

  /// Adds what the team that differs by `mask` has.
  void merge(Values &state, int64_t head, int64_t mask) {
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

  /// 2^(top - highest), 0 for a top of -infinity.
  Value getFactor(Value top, Value highest) {
    Value isNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, top,
                                         b.f32(-kInfinity));
    return b.select(isNone, b.f32(0),
                    getPower(arith::SubFOp::create(b, top, highest)));
  }

  /// Brings the waves together.
  void emitResult(const Values &state) {
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
    AttentionResult result(emitter, op.getOutput());
    int64_t items = heads * valueSize / kWidth;
    b.forEach(
        b.thread(), b.index(items), b.index(b.getThreads()), [&](Value item) {
          Value head = b.div(item, valueSize / kWidth);
          Value at = b.mul(b.rem(item, valueSize / kWidth), kWidth);
          Value highest = b.f32(-kInfinity);
          for (int64_t i = 0; i < waves; ++i)
            highest = arith::MaxNumFOp::create(
                b, highest, b.read(tops, {b.index(i), head}));
          Value sum = b.f32(0);
          Value out = b.constant(b.vectorOf(kWidth, b.getF32Type()), 0);
          for (int64_t i = 0; i < waves; ++i) {
            Value factor = getFactor(b.read(tops, {b.index(i), head}), highest);
            sum = b.fma(b.read(sums, {b.index(i), head}), factor, sum);
            out = b.fma(b.read(memory, {b.index(i), head, at}, kWidth),
                        b.broadcast(factor, kWidth), out);
          }
          Value isNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ,
                                               sum, b.f32(0));
          Value inverse = b.select(isNone, b.f32(0),
                                   arith::DivFOp::create(b, b.f32(1), sum));
          out = arith::MulFOp::create(b, out, b.broadcast(inverse, kWidth));
          result.store(b.index(0), b.add(firstHead, head), at, out);
        });
  }

  ElementEmitter &emitter;
  GpuBuilder &b;
  AttentionOp op;
  int64_t headSize, valueSize, group, heads;
  int64_t team; ///< lanes that read one key
  int64_t waves;
  double scale;
  VectorType chunk;
  Value kvHead, firstHead, lane, column;
  Value numKeys, count, numSinks, windowStart;
  Values queries;
};
} // namespace

bool gist::isDecodeAttention(AttentionOp op) {
  return op.getQuery().getType().getDimSize(0) == 1;
}

FailureOr<GpuGrid> gist::emitDecodeAttention(GpuKernel &kernel,
                                             AttentionOp op) {
  DecodeAttention attention(kernel.emitter, op);
  attention.emit();
  if (kernel.emitter.hasFailed())
    return failure();
  return GpuGrid{kernel.b.getAffineConstantExpr(attention.getWorkgroups())};
}
