//===- AttentionDecode.cpp - Attention of one query on GPUs ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Attention/AttentionDecode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/Tile/Gpu/Attention/Attention.h"
#include "passes/Tile/Gpu/Attention/AttentionSources.h"

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
/// Workgroups that share keys: as many as any sm_90 runs side by side.
static constexpr int64_t kSplit = 8;
/// Neighbours that a thread finishes.
static constexpr int64_t kWidth = 2;

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
      split(b.getGpu().kind == GpuKind::Nvidia ? kSplit : 1),
      team(llvm::PowerOf2Ceil(std::max(headSize, valueSize) / kChunk)),
      waves(b.getThreads() / b.getGpu().waveSize), scale(scale * kLog2E) {
  Value number = b.div(b.block(0), split);
  rank = b.rem(b.block(0), split);
  if (split > 1)
    b.getBlock()->getParentOp()->setAttr(
        NVVM::NVVMDialect::getClusterDimAttrName(),
        b.getDenseI32ArrayAttr({static_cast<int32_t>(split), 1, 1}));
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
  Values state = start();
  int64_t teams = b.getThreads() / team;
  Value first = b.div(b.thread(), team);
  int64_t atOnce = teams * kUnroll;
  state = b.loop(b.mul(rank, atOnce), count, atOnce * split, state,
                 [&](Value base, ValueRange carried) {
                   return step(b.add(base, first), teams, Values(carried));
                 });
  // Teams of a wave.
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
  // All teams read the query's own token, and the first has seen it.
  Value isFirst = b.both(b.isEqual(rank, 0), b.isLess(b.thread(), team));
  auto read = [&](bool isKey, int64_t size) {
    return readChunk(size, [&](Value at, int64_t width) {
      return keys->readOwn(isKey, at, width);
    });
  };
  Value key = read(/*isKey=*/true, headSize);
  Value value = read(/*isKey=*/false, valueSize);
  for (int64_t head = 0; head < heads; ++head)
    state.append({getScore(head, key, /*bias=*/Value(), isFirst),
                  b.select(isFirst, b.f32(1), b.f32(0)),
                  b.select(isFirst, value, b.constant(chunk, 0))});
  return state;
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

Values DecodeAttention::combine(ValueRange tops, ValueRange sums,
                                ValueRange outs) {
  Value highest = tops.front();
  for (Value top : tops.drop_front())
    highest = arith::MaxNumFOp::create(b, highest, top);
  Value sum = b.f32(0), out = b.constant(outs.front().getType(), 0);
  for (auto [top, part, numbers] : llvm::zip_equal(tops, sums, outs)) {
    Value factor = getFactor(top, highest);
    sum = b.fma(part, factor, sum);
    out = b.fma(numbers, b.broadcast(factor, kWidth), out);
  }
  return {highest, sum, out};
}

Value DecodeAttention::readRemote(Value memory, ValueRange indices,
                                  int64_t number, int64_t width) {
  auto assemble = [&](StringRef text, StringRef constraints, Type type,
                      ValueRange operands) -> Value {
    return LLVM::InlineAsmOp::create(b, type, operands, text, constraints,
                                     /*has_side_effects=*/true,
                                     /*is_align_stack=*/false,
                                     LLVM::TailCallKind::None,
                                     LLVM::AsmDialectAttr(), ArrayAttr())
        .getRes();
  };
  Values sizes;
  for (int64_t size : cast<MemRefType>(memory.getType()).getShape())
    sizes.push_back(b.index(size));
  Value begin = memref::ExtractAlignedPointerAsIndexOp::create(b, memory);
  Value address = b.add(begin, b.mul(b.linearize(indices, sizes), 4));
  Value mapped = assemble(
      "mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r", b.getI32Type(),
      {arith::IndexCastOp::create(b, b.getI32Type(), address), b.i32(number)});
  Values numbers;
  for (int64_t i = 0; i < width; ++i)
    numbers.push_back(assemble("ld.shared::cluster.f32 $0, [$1 + " +
                                   std::to_string(4 * i) + "];",
                               "=f,r", b.getF32Type(), mapped));
  return width == 1 ? numbers.front() : b.concat(numbers);
}

void DecodeAttention::emitResult(const Values &state) {
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
  auto store = [&](Value head, Value at, Value sum, Value out) {
    Value isNone =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum, b.f32(0));
    Value inverse =
        b.select(isNone, b.f32(0), arith::DivFOp::create(b, b.f32(1), sum));
    out = arith::MulFOp::create(b, out, b.broadcast(inverse, kWidth));
    result.store(b.index(0), b.add(firstHead, head), at, out);
  };
  // Pairs of columns, from `first` on.
  int64_t pairs = valueSize / kWidth;
  auto forEachPair = [&](Value first, int64_t step,
                         function_ref<void(Value, Value)> body) {
    b.forEach(first, b.index(heads * pairs), b.index(step), [&](Value item) {
      body(b.div(item, pairs), b.mul(b.rem(item, pairs), kWidth));
    });
  };
  auto combineWaves = [&](Value head, Value at) {
    Values waveTops, waveSums, outs;
    for (int64_t i = 0; i < waves; ++i) {
      waveTops.push_back(b.read(tops, {b.index(i), head}));
      waveSums.push_back(b.read(sums, {b.index(i), head}));
      outs.push_back(b.read(memory, {b.index(i), head, at}, kWidth));
    }
    return combine(waveTops, waveSums, outs);
  };
  int64_t threads = b.getThreads();
  if (split == 1) {
    forEachPair(b.thread(), threads, [&](Value head, Value at) {
      Values all = combineWaves(head, at);
      store(head, at, all[1], all[2]);
    });
    return;
  }

  Value part = b.allocWorkgroup({heads, valueSize}, b.getF32Type());
  Value numbers = b.allocWorkgroup({heads, 2}, b.getF32Type());
  forEachPair(b.thread(), threads, [&](Value head, Value at) {
    Values all = combineWaves(head, at);
    b.write(all[2], part, {head, at});
    b.ifThen(b.isEqual(at, 0), [&] {
      b.write(b.concat({all[0], all[1]}), numbers, {head, b.index(0)});
    });
  });
  auto meet = [&] {
    NVVM::ClusterArriveOp::create(b, b.getUnitAttr());
    NVVM::ClusterWaitOp::create(b, b.getUnitAttr());
  };
  meet();
  forEachPair(b.add(b.mul(rank, threads), b.thread()), threads * split,
              [&](Value head, Value at) {
                Values partTops, partSums, outs;
                for (int64_t i = 0; i < split; ++i) {
                  Value both = readRemote(numbers, {head, b.index(0)}, i, 2);
                  partTops.push_back(b.extract(both, 0));
                  partSums.push_back(b.extract(both, 1));
                  outs.push_back(readRemote(part, {head, at}, i, kWidth));
                }
                Values all = combine(partTops, partSums, outs);
                store(head, at, all[1], all[2]);
              });
  meet(); // Memory that others read is there until they have.
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
