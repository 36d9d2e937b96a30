//===- AttentionDecode.cpp - Attention of one query on GPUs ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Attention/AttentionDecode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/Tile/Gpu/Attention/AttentionSources.h"
#include "passes/Tile/Gpu/Core/GpuAtomics.h"
#include "passes/Tile/Gpu/Core/GridOrder.h"
#include "passes/Tile/Gpu/Core/HandIn.h"

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
/// Clusters of these that there are at most where several share the keys of a
/// head. An H200 does not run sixteen at once: with eight heads of 128 two for
/// each were slower than one.
static constexpr int64_t kMaxClusters = 15;
/// Those that share the keys of one head at most, and the keys that each has at
/// least: putting parts together takes as long as reading these.
static constexpr int64_t kMaxParts = 8;
static constexpr int64_t kKeysOfPart = 1024;
/// The same for workgroups of gfx942, which have a part each: with heads of 64
/// a workgroup reads 256 keys at once, so that one on its way hides another.
static constexpr int64_t kMaxPartsOnAmd = 32;
static constexpr int64_t kKeysOfPartOnAmd = 512;
/// Parts that are read at once where they are put together: one after the other
/// would each wait for memory.
static constexpr int64_t kGathered = 8;
/// Of a pair of columns: two outputs, the largest score and the sum.
static constexpr int64_t kNumbersOfPair = 4;
/// Neighbours that a thread finishes.
static constexpr int64_t kWidth = 2;

static bool hasClusters(const GpuInfo &gpu) {
  return gpu.kind == GpuKind::Nvidia;
}

/// Of `group` query heads that share a KV head, those that a workgroup has.
static int64_t getHeadsAtOnce(int64_t group) {
  int64_t heads = std::min(group, kMaxHeads);
  while (group % heads != 0)
    --heads;
  return heads;
}

int64_t gist::getDecodeParts(int64_t numHeads, int64_t kvHeads,
                             const GpuInfo &gpu) {
  int64_t clusters = numHeads / getHeadsAtOnce(numHeads / kvHeads);
  // One workgroup for a compute unit, of eight waves, keeps memory busy.
  if (!hasClusters(gpu))
    return std::clamp<int64_t>(gpu.computeUnits / clusters, 1, kMaxPartsOnAmd);
  return std::clamp<int64_t>(kMaxClusters / clusters, 1, kMaxParts);
}

int64_t gist::getDecodeNumbers(int64_t numHeads, int64_t valueSize,
                               int64_t parts) {
  return parts * numHeads * (valueSize / kWidth) * kNumbersOfPair;
}

int64_t gist::getDecodeWords(int64_t numHeads, int64_t kvHeads,
                             const GpuInfo &gpu) {
  return numHeads / getHeadsAtOnce(numHeads / kvHeads) *
         (hasClusters(gpu) ? kSplit : 1);
}

KernelScratch gist::makeDecodeScratch(int64_t numHeads, int64_t kvHeads,
                                      int64_t valueSize, const GpuInfo &gpu,
                                      MLIRContext *context) {
  KernelScratch scratch;
  int64_t parts = getDecodeParts(numHeads, kvHeads, gpu);
  if (parts == 1)
    return scratch;
  int64_t numbers = getDecodeNumbers(numHeads, valueSize, parts);
  scratch.tensors.push_back(
      {{getAffineConstantExpr(numbers, context)}, Float32Type::get(context)});
  scratch.controlWords = getDecodeWords(numHeads, kvHeads, gpu);
  scratch.leavesZero = true;
  return scratch;
}

FailureOr<DecodeParts> gist::findDecodeParts(GpuKernel &kernel, Operation *op,
                                             int64_t numHeads, int64_t kvHeads,
                                             int64_t valueSize) {
  func::FuncOp source = kernel.source;
  unsigned last = source.getNumArguments() - 1;
  DecodeParts parts;
  if (!source.getArgAttr(last, kControlArgAttr))
    return parts;
  const GpuInfo &gpu = kernel.b.getGpu();
  parts.count = getDecodeParts(numHeads, kvHeads, gpu);
  int64_t numbers = getDecodeNumbers(numHeads, valueSize, parts.count);
  Builder &b = kernel.b;
  Type types[] = {RankedTensorType::get(numbers, b.getF32Type()),
                  RankedTensorType::get(getDecodeWords(numHeads, kvHeads, gpu),
                                        b.getI32Type())};
  // Kernels may be written by hand; the types say whether both passes agree on
  // the number of parts.
  if (last < 1 || source.getArgumentTypes().take_back(2) != ArrayRef(types))
    return op->emitOpError("expects scratch memory of ")
           << types[0] << " and " << types[1] << " for " << parts.count
           << " parts of the keys";
  auto target = cast<func::FuncOp>(kernel.b.getBlock()->getParentOp());
  parts.scratch = target.getArgument(last - 1);
  parts.control = target.getArgument(last);
  return parts;
}

DecodeAttention::DecodeAttention(ElementEmitter &emitter, Value query,
                                 Value output, int64_t kvHeads,
                                 int64_t valueSize, double scale,
                                 DecodeParts parts)
    : emitter(emitter), b(emitter.getBuilder()), query(query), output(output),
      numHeads(cast<RankedTensorType>(query.getType()).getDimSize(1)),
      headSize(cast<RankedTensorType>(query.getType()).getDimSize(2)),
      valueSize(valueSize), group(numHeads / kvHeads),
      heads(getHeadsAtOnce(group)), split(hasClusters(b.getGpu()) ? kSplit : 1),
      team(llvm::PowerOf2Ceil(std::max(headSize, valueSize) / kChunk)),
      waves(b.getThreads() / b.getGpu().waveSize), scale(scale * kLog2E),
      parts(parts) {
  number = b.div(b.block(0), split);
  part = b.rem(number, parts.count);
  number = b.div(number, parts.count);
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
  if (parts.count == 1)
    return emitPart();
  int64_t keysOfPart = hasClusters(b.getGpu()) ? kKeysOfPart : kKeysOfPartOnAmd;
  active = b.max(b.min(b.ceilDiv(count, keysOfPart), b.index(parts.count)),
                 b.index(1));
  waitForGrids(b);
  b.ifThen(b.isLess(part, active), [&] { emitPart(); });
}

void DecodeAttention::emitPart() {
  for (int64_t head = 0; head < heads; ++head)
    queries.push_back(readChunk(headSize, [&](Value at, int64_t width) {
      return emitter.elements(query, {b.index(0), b.add(firstHead, head), at},
                              width);
    }));
  Values state = start();
  int64_t teams = b.getThreads() / team;
  Value first = b.div(b.thread(), team);
  int64_t atOnce = teams * kUnroll;
  Value start = rank, stride = b.index(atOnce * split);
  if (active) {
    start = b.add(b.mul(part, split), rank);
    stride = b.mul(stride, active);
  }
  state = b.loop(b.mul(start, atOnce), count, stride, state,
                 [&](Value base, ValueRange carried) {
                   return step(b.add(base, first), teams, Values(carried));
                 });
  letGridsStart(b);
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
  if (active)
    isFirst = b.both(isFirst, b.isEqual(part, 0));
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
  // All keys and values are asked for before the first score is computed.
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
  // They have side effects for LLVM, so that reads stay behind the barrier of
  // the cluster.
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

Value DecodeAttention::getPlaceOfPart(Value part, Value head, Value at) {
  int64_t pairs = valueSize / kWidth;
  Value row = b.add(b.mul(part, numHeads), b.add(firstHead, head));
  Value pair = b.add(b.mul(row, pairs), b.div(at, kWidth));
  return b.mul(pair, kNumbersOfPair);
}

void DecodeAttention::leavePart(Value head, Value at, ValueRange all) {
  b.write(b.concat({all[2], all[0], all[1]}), parts.scratch,
          getPlaceOfPart(part, head, at));
}

Value DecodeAttention::isLastPart() {
  Value word = b.add(b.mul(number, split), rank);
  if (!hasClusters(b.getGpu())) {
    Value isLast = isLastToArrive(b, parts.control, word, active);
    // The next launch finds zeros.
    b.ifThen(b.both(isLast, b.isEqual(b.thread(), 0)),
             [&] { atomicWrite(b, b.i32(0), parts.control, word); });
    return isLast;
  }
  Value slot = b.allocWorkgroup({1}, b.getI32Type());
  b.barrier();
  b.ifThen(b.isEqual(b.thread(), 0), [&] {
    Value last =
        arith::IndexCastOp::create(b, b.getI32Type(), b.sub(active, 1));
    // The last one leaves the word zero.
    Value ticket = atomicUpdate(b, LLVM::AtomicBinOp::uinc_wrap, last,
                                parts.control, word, Order::Both);
    b.write(ticket, slot, b.index(0));
  });
  b.barrier();
  return b.compare(arith::CmpIPredicate::eq, b.readNumber(slot, b.index(0)),
                   b.sub(active, 1));
}

Values DecodeAttention::gatherParts(Value head, Value at) {
  Values none = {b.f32(-kInfinity), b.f32(0),
                 b.constant(b.vectorOf(kWidth, b.getF32Type()), 0)};
  int64_t together = hasClusters(b.getGpu()) ? 1 : kGathered;
  return b.loop(
      b.index(0), active, together, none, [&](Value first, ValueRange all) {
        Values others, tops = {all[0]}, sums = {all[1]}, outs = {all[2]};
        for (int64_t i = 0; i < together; ++i) {
          Value number = b.add(first, i);
          if (i > 0)
            number = b.min(number, b.sub(active, 1));
          others.push_back(b.read(
              parts.scratch, getPlaceOfPart(number, head, at), kNumbersOfPair));
        }
        for (auto [i, other] : llvm::enumerate(others)) {
          Value top = b.extract(other, kWidth);
          if (i > 0)
            top = b.select(
                b.isLess(b.add(first, static_cast<int64_t>(i)), active), top,
                b.f32(-kInfinity));
          tops.push_back(top);
          sums.push_back(b.extract(other, kWidth + 1));
          outs.push_back(b.slice(other, 0, kWidth));
        }
        return combine(tops, sums, outs);
      });
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
  auto storeOrLeave = [&](Value head, Value at, const Values &all) {
    if (!active)
      return store(head, at, all[1], all[2]);
    b.ifThen(b.isEqual(active, 1), [&] { store(head, at, all[1], all[2]); });
    b.ifThen(b.isLess(b.index(1), active), [&] { leavePart(head, at, all); });
  };
  auto finishParts = [&] {
    if (!active)
      return;
    b.ifThen(b.isLess(b.index(1), active), [&] {
      b.ifThen(isLastPart(), [&] {
        forEachPair(b.add(b.mul(rank, threads), b.thread()), threads * split,
                    [&](Value head, Value at) {
                      Values all = gatherParts(head, at);
                      store(head, at, all[1], all[2]);
                    });
      });
    });
  };
  if (split == 1) {
    forEachPair(b.thread(), threads, [&](Value head, Value at) {
      storeOrLeave(head, at, combineWaves(head, at));
    });
    return finishParts();
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
                storeOrLeave(head, at, combine(partTops, partSums, outs));
              });
  meet(); // Memory that others read is there until they have.
  finishParts();
}
