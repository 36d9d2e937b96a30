//===- HandIn.cpp - Parts that the last workgroup puts together -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Core/HandIn.h"
#include "passes/Tile/Gpu/Core/GpuAtomics.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

int64_t gist::countNumbers(TypeRange types) {
  int64_t count = 0;
  for (Type type : types) {
    auto vector = dyn_cast<VectorType>(type);
    count += vector ? vector.getNumElements() : 1;
  }
  return count;
}

/// Calls `body` with neighbouring lanes of each number of this thread's state
/// and where they lie.
static void
forNumbers(GpuBuilder &b, const HandedIn &place, TypeRange types,
           function_ref<void(size_t, int64_t, int64_t, ValueRange)> body) {
  // The widest access: 16 bytes.
  constexpr int64_t kAtOnce = 4;
  int64_t done = 0;
  for (auto [i, type] : llvm::enumerate(types)) {
    int64_t count = countNumbers(type), width = std::min(count, kAtOnce);
    for (int64_t lane = 0; lane < count; lane += width, done += width) {
      Value at = b.add(b.add(place.first, b.mul(b.thread(), width)),
                       done * b.getThreads());
      body(i, lane, width, Values{place.row, at});
    }
  }
}

void gist::writeState(GpuBuilder &b, const HandedIn &place, ValueRange state) {
  forNumbers(b, place, state.getTypes(),
             [&](size_t i, int64_t lane, int64_t width, ValueRange at) {
               bool isWhole = countNumbers(state[i].getType()) == width;
               b.write(isWhole ? state[i] : b.slice(state[i], lane, width),
                       place.memory, at);
             });
}

Values gist::readState(GpuBuilder &b, const HandedIn &place, TypeRange types) {
  SmallVector<Values> parts(types.size());
  forNumbers(b, place, types,
             [&](size_t i, int64_t, int64_t width, ValueRange at) {
               parts[i].push_back(width == 1 ? b.read(place.memory, at)
                                             : b.read(place.memory, at, width));
             });
  Values state;
  for (Values &numbers : parts)
    state.push_back(numbers.size() == 1 ? numbers.front() : b.concat(numbers));
  return state;
}

Value gist::isLastToArrive(GpuBuilder &b, Value control, Value word,
                           Value count, Value free) {
  Value slot = free ? free : b.allocWorkgroup({1}, b.getI32Type());
  auto type = cast<MemRefType>(slot.getType());
  Values first(type.getRank(), b.index(0));
  VectorType single = b.vectorOf(1, b.getI32Type());
  releaseFence(b);
  b.barrier();
  b.ifThen(b.isEqual(b.thread(), 0), [&] {
    Value before = atomicUpdate(b, LLVM::AtomicBinOp::add, b.i32(1), control,
                                word, Order::Both);
    if (free)
      before = vector::BitCastOp::create(
          b, b.vectorOf(2, type.getElementType()),
          vector::BroadcastOp::create(b, single, before));
    b.write(before, slot, first);
  });
  b.barrier();
  acquireFence(b);
  Value before = free ? b.read(slot, first, 2) : b.read(slot, first);
  if (free)
    before = b.extract(vector::BitCastOp::create(b, single, before), 0);
  before = b.toIndex(before);
  return b.compare(arith::CmpIPredicate::eq, before, b.sub(count, 1));
}
