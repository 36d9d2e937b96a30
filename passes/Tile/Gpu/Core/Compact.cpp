//===- Compact.cpp - Lists of the tokens that satisfy something -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Core/Compact.h"
#include "passes/Tile/Gpu/Core/Registers.h"

using namespace mlir;
using namespace gist;

/// Neighbouring tokens of one thread: their loads are in flight together.
static constexpr int64_t kTokensOfThread = 8;

Compact::Compact(GpuBuilder &b) : b(b) {
  int64_t waves = b.getThreads() / b.getGpu().waveSize;
  totals = b.allocWorkgroup({waves}, b.getI32Type());
}

std::pair<Value, Value> Compact::scan(Value number) {
  int64_t waveSize = b.getGpu().waveSize;
  Value own = b.toI32(number);
  // Comparisons of lanes are not kept from one scan to the next.
  Value thread = computeHereByThread(b, b.thread());
  Value lane = b.rem(thread, waveSize), wave = b.div(thread, waveSize);
  Value sum = own;
  Value width = b.i32(waveSize);
  for (int64_t distance = 1; distance < waveSize; distance *= 2) {
    Value from = b.toI32(b.max(b.sub(lane, distance), b.index(0)));
    Value other =
        gpu::ShuffleOp::create(b, sum, from, width, gpu::ShuffleMode::IDX)
            .getShuffleResult();
    // The lanes that have no such neighbour read lane 0 above; they add
    // nothing.
    Value isInside =
        b.compare(arith::CmpIPredicate::sge, lane, b.index(distance));
    sum = arith::AddIOp::create(b, sum, b.select(isInside, other, b.i32(0)));
  }
  b.barrier(); // The totals of the scan before have been read.
  b.ifThen(b.isEqual(lane, waveSize - 1), [&] { b.write(sum, totals, wave); });
  b.barrier();
  Value before = arith::SubIOp::create(b, sum, own), total = b.i32(0);
  for (int64_t i = 0; i < b.getThreads() / waveSize; ++i) {
    Value part = b.read(totals, b.index(i));
    Value isEarlier = b.compare(arith::CmpIPredicate::sgt, wave, b.index(i));
    before =
        arith::AddIOp::create(b, before, b.select(isEarlier, part, b.i32(0)));
    total = arith::AddIOp::create(b, total, part);
  }
  return {b.toIndex(before), b.toIndex(total)};
}

Value Compact::run(Value begin, Value end, Value start,
                   function_ref<Value(Value)> test,
                   function_ref<void(Value, Value, Value)> emit) {
  auto step = [&](Value first, ValueRange carried) {
    Value mine = b.add(first, b.mul(b.thread(), kTokensOfThread));
    Value word = b.i32(0); // One bit for each token.
    for (int64_t i = 0; i < kTokensOfThread; ++i) {
      Value t = b.add(mine, i);
      // Tested without a branch, so that the loads of all tokens run together.
      Value nearby = b.min(t, b.sub(end, 1));
      Value holds = b.both(test(nearby), b.isLess(t, end));
      word = arith::OrIOp::create(
          b, word, b.select(holds, b.i32(int64_t(1) << i), b.i32(0)));
    }
    auto count = [&](int64_t bits) -> Value {
      Value some = arith::AndIOp::create(b, word, b.i32(bits));
      return arith::IndexCastUIOp::create(
          b, b.getIndexType(), math::CtPopOp::create(b, some).getResult());
    };
    auto [before, total] = scan(count((int64_t(1) << kTokensOfThread) - 1));
    // Bits rather than comparisons are kept until here.
    word = computeHereByThread(b, word);
    mine = computeHereByThread(b, mine);
    for (int64_t i = 0; i < kTokensOfThread; ++i) {
      Value t = b.add(mine, i), bit = b.i32(int64_t(1) << i);
      b.ifThen(b.isLess(t, end), [&, before = before] {
        Value holds = b.compare(arith::CmpIPredicate::ne,
                                arith::AndIOp::create(b, word, bit).getResult(),
                                b.i32(0));
        Value earlier = count((int64_t(1) << i) - 1);
        emit(t, holds, b.add(carried[0], b.add(before, earlier)));
      });
    }
    return GpuBuilder::Values{b.add(carried[0], total)};
  };
  return b.loop(begin, end, b.getThreads() * kTokensOfThread, start, step)
      .front();
}
