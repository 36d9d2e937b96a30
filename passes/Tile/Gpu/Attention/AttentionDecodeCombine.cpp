//===- AttentionDecodeCombine.cpp - Parts of one query put together -------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each wave has seen some keys. What waves, the workgroups of a cluster and
// clusters have of a head becomes one result here.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/Tile/Gpu/Attention/AttentionDecode.h"
#include "passes/Tile/Gpu/Attention/AttentionSources.h"
#include "passes/Tile/Gpu/Core/ClusterMemory.h"
#include "passes/Tile/Gpu/Core/GpuAtomics.h"
#include "passes/Tile/Gpu/Core/HandIn.h"

#include <limits>

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Parts that are read at once: one after the other would each wait for memory.
static constexpr int64_t kGathered = 8;
static constexpr int64_t kWidth = kDecodeWidth;

Value DecodeAttention::getFactor(Value top, Value highest) {
  Value isNone = b.compare(arith::CmpFPredicate::OEQ, top, b.f32(-kInfinity));
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

Value DecodeAttention::getPlaceOfPart(Value of, Value head, Value at) {
  int64_t pairs = valueSize / kWidth;
  if (multiplied)
    of = b.add(b.mul(of, split), rank);
  Value row = b.add(b.mul(of, heads), head);
  Value pair = b.add(b.mul(row, pairs), b.div(at, kWidth));
  return b.mul(pair, kNumbersOfPair);
}

void DecodeAttention::leavePart(Value head, Value at, ValueRange all) {
  b.write(b.concat({all[2], all[0], all[1]}), parts.scratch,
          getPlaceOfPart(cluster, head, at));
}

Value DecodeAttention::isLastPart() {
  Value word = b.add(b.mul(number, split), rank);
  if (!hasClusters()) {
    Value isLast = isLastToArrive(b, parts.control, word, active);
    // The next launch finds zeros.
    b.ifThen(b.both(isLast, b.isEqual(b.thread(), 0)),
             [&] { atomicWrite(b, b.i32(0), parts.control, word); });
    return isLast;
  }
  Value slot = b.allocWorkgroup({1}, b.getI32Type());
  b.barrier();
  b.ifThen(b.isEqual(b.thread(), 0), [&] {
    Value last = b.toI32(b.sub(active, 1));
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
  return b.loop(
      b.index(0), active, kGathered, none, [&](Value first, ValueRange all) {
        Values others, tops = {all[0]}, sums = {all[1]}, outs = {all[2]};
        for (int64_t i = 0; i < kGathered; ++i) {
          Value number = b.add(first, i);
          if (i > 0)
            number = b.min(number, b.sub(active, 1));
          others.push_back(
              b.read(parts.scratch,
                     getPlaceOfPart(b.add(firstCluster, number), head, at),
                     kNumbersOfPair));
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

Value DecodeAttention::isFirstAlone() {
  Value isAlone = b.isLess(count, keysAtOnce() + 1);
  return active ? b.both(isAlone, b.isEqual(active, 1)) : isAlone;
}

Values DecodeAttention::combineCluster(Value part, Value numbers, Value head,
                                       Value at) {
  Values tops, sums, outs;
  for (int64_t i = 0; i < split; ++i) {
    Value both = b.read(numbers, {b.index(i), head, b.index(0)}, 2);
    tops.push_back(b.extract(both, 0));
    sums.push_back(b.extract(both, 1));
    outs.push_back(b.read(part, {b.index(i), head, at}, kWidth));
  }
  return combine(tops, sums, outs);
}

Value DecodeAttention::divide(Value out, Value sum) {
  Value isNone = b.compare(arith::CmpFPredicate::OEQ, sum, b.f32(0));
  Value inverse =
      b.select(isNone, b.f32(0), arith::DivFOp::create(b, b.f32(1), sum));
  return arith::MulFOp::create(b, out, b.broadcast(inverse, kWidth));
}

void DecodeAttention::forEachPair(
    Value first, int64_t step, function_ref<void(Value head, Value at)> body) {
  int64_t pairs = valueSize / kWidth;
  b.forEach(first, b.index(heads * pairs), b.index(step), [&](Value item) {
    body(b.div(item, pairs), b.mul(b.rem(item, pairs), kWidth));
  });
}

void DecodeAttention::emitOutput(GetPair combineWaves) {
  int64_t threads = b.getThreads();
  Value row = multiplied->getHeads();
  Value part = b.allocWorkgroup({split, heads, valueSize}, b.getF32Type());
  Value numbers = b.allocWorkgroup({split, heads, 2}, b.getF32Type());
  // As the kernel's tensors have them.
  Type element = getElementTypeOrSelf(output);
  auto finish = [&](const Values &all) {
    return b.toF32(b.convert(divide(all[2], all[1]), element));
  };
  auto getPlace = [&](Value head, Value at) {
    return b.add(b.mul(head, valueSize), at);
  };
  // Workgroup memory can be written remotely only after its workgroup has
  // started.
  if (!product)
    NVVM::ClusterWaitOp::create(b, b.getUnitAttr());
  // If the first workgroup has read all keys, the others take its heads.
  // Otherwise each workgroup gets the parts of all and combines them itself.
  Value isAlone = isFirstAlone();
  Value isOne = active ? b.isEqual(active, 1) : Value();
  b.ifThen(b.both(isAlone, b.isEqual(rank, 0)), [&] {
    forEachPair(b.thread(), threads, [&](Value head, Value at) {
      Value out = finish(combineWaves(head, at));
      for (int64_t to = 0; to < split; ++to)
        writeRemote(b, out, row, getPlace(head, at), b.index(to));
    });
  });
  b.ifThen(b.negate(isAlone), [&] {
    forEachPair(b.thread(), threads, [&](Value head, Value at) {
      Values all = combineWaves(head, at);
      for (int64_t to = 0; to < split; ++to)
        writeRemote(b, all[2], part, {rank, head, at}, b.index(to));
      b.ifThen(b.isEqual(at, 0), [&] {
        for (int64_t to = 0; to < split; ++to)
          writeRemote(b, b.concat({all[0], all[1]}), numbers,
                      {rank, head, b.index(0)}, b.index(to));
      });
    });
  });
  NVVM::ClusterArriveOp::create(b, b.getUnitAttr());
  NVVM::ClusterWaitOp::create(b, b.getUnitAttr());
  auto keep = [&](Value head, Value at, const Values &all) {
    b.write(finish(all), row, getPlace(head, at));
  };
  b.ifThen(b.negate(isAlone), [&] {
    forEachPair(b.thread(), threads, [&](Value head, Value at) {
      Values all = combineCluster(part, numbers, head, at);
      if (!active)
        return keep(head, at, all);
      b.ifThen(isOne, [&] { keep(head, at, all); });
      b.ifThen(b.negate(isOne), [&] { leavePart(head, at, all); });
    });
    b.barrier();
  });
  if (!active)
    return multiplied->compute();
  b.ifThen(isOne, [&] { multiplied->compute(); });
  // Of the workgroups of all clusters that have the same rows of W, the last
  // one multiplies.
  b.ifThen(b.negate(isOne), [&] {
    b.ifThen(isLastPart(), [&] {
      forEachPair(b.thread(), threads, [&](Value head, Value at) {
        keep(head, at, gatherParts(head, at));
      });
      b.barrier();
      multiplied->compute();
    });
  });
}

void DecodeAttention::emitResult(const Values &state) {
  Value memory =
      b.allocWorkgroup({waves, heads, team * kChunk}, b.getF32Type());
  Value tops = b.allocWorkgroup({waves, heads}, b.getF32Type());
  Value sums = b.allocWorkgroup({waves, heads}, b.getF32Type());
  if (matrices)
    matrices->store(state, memory, tops, sums);
  else
    storeWave(state, memory, tops, sums);
  b.barrier();

  auto combineWaves = [&](Value head, Value at) {
    Values waveTops, waveSums, outs;
    for (int64_t i = 0; i < waves; ++i) {
      waveTops.push_back(b.read(tops, {b.index(i), head}));
      waveSums.push_back(b.read(sums, {b.index(i), head}));
      outs.push_back(b.read(memory, {b.index(i), head, at}, kWidth));
    }
    return combine(waveTops, waveSums, outs);
  };
  if (multiplied)
    return emitOutput(combineWaves);

  AttentionResult result(emitter, output, keys->getResult());
  auto store = [&](Value head, Value at, Value sum, Value out) {
    out = divide(out, sum);
    result.store(b.index(0), b.add(firstHead, head), at, out);
  };
  int64_t pairs = valueSize / kWidth, threads = b.getThreads();
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

  // If the first workgroup has read all keys, no workgroup waits.
  Value isAlone = isFirstAlone();
  b.ifThen(b.both(isAlone, b.isEqual(rank, 0)), [&] {
    forEachPair(b.thread(), threads, [&](Value head, Value at) {
      Values all = combineWaves(head, at);
      store(head, at, all[1], all[2]);
    });
  });
  // Else each workgroup hands what it has of a pair of columns to the one that
  // puts these together: pairs that threads have in turn n are those of
  // workgroup n.
  b.ifThen(b.negate(isAlone), [&] {
    int64_t owners =
        std::min<int64_t>(split, llvm::divideCeil(heads * pairs, threads));
    Value part = b.allocWorkgroup({split, heads, valueSize}, b.getF32Type());
    Value numbers = b.allocWorkgroup({split, heads, 2}, b.getF32Type());
    // Workgroup memory can be written remotely only after its workgroup has
    // started.
    if (!product)
      NVVM::ClusterWaitOp::create(b, b.getUnitAttr());
    b.forEach(b.thread(), b.index(heads * pairs), b.index(threads),
              [&](Value item) {
                Value head = b.div(item, pairs);
                Value at = b.mul(b.rem(item, pairs), kWidth);
                Value owner = b.rem(b.div(item, threads), split);
                Values all = combineWaves(head, at);
                writeRemote(b, all[2], part, {rank, head, at}, owner);
                b.ifThen(b.isEqual(at, 0), [&] {
                  for (int64_t to = 0; to < owners; ++to)
                    writeRemote(b, b.concat({all[0], all[1]}), numbers,
                                {rank, head, b.index(0)}, b.index(to));
                });
              });
    NVVM::ClusterArriveOp::create(b, b.getUnitAttr());
    // The other workgroups may end: no workgroup writes into their memory.
    b.ifThen(b.isLess(rank, owners), [&] {
      NVVM::ClusterWaitOp::create(b, b.getUnitAttr());
      forEachPair(b.add(b.mul(rank, threads), b.thread()), threads * split,
                  [&](Value head, Value at) {
                    storeOrLeave(head, at,
                                 combineCluster(part, numbers, head, at));
                  });
      finishParts();
    });
  });
}
