//===- SharedSteps.cpp - Steps that workgroups share ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Core/SharedSteps.h"

using namespace mlir;
using namespace gist;
using LLVM::AtomicBinOp;

/// Words of a cache line: tickets are drawn while others look whether items are
/// done.
static constexpr int64_t kLineWords = 32;
static_assert(2 * kLineWords <= kStepWords);

SharedSteps::SharedSteps(GpuBuilder &b, Value control, Value first)
    : b(b), control(control), ticketWord(first),
      doneWord(b.add(first, kLineWords)),
      slot(b.allocWorkgroup({1}, b.getI32Type())), total(b.index(0)) {}

Value SharedSteps::draw() {
  return b.ifElse(
      b.isEqual(b.thread(), 0),
      [&] { return drawTicket(b, control, ticketWord); },
      [&]() -> Value { return b.i32(0); });
}

void SharedSteps::begin() {
  Value ticket = draw();
  b.ifThen(b.isEqual(b.thread(), 0),
           [&] { b.write(ticket, slot, b.index(0)); });
  b.barrier();
}

void SharedSteps::run(Value items, Values loaded,
                      function_ref<Values(Value)> load,
                      function_ref<void(Value, ValueRange)> body) {
  SmallVector<Type> types(1, b.getIndexType());
  llvm::append_range(types, ValueRange(loaded).getTypes());
  auto loop = scf::WhileOp::create(b, types, loaded);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Location> locations(types.size(), b.getLoc());
  Block *before =
      b.createBlock(&loop.getBefore(), {}, ValueRange(loaded).getTypes(),
                    ArrayRef(locations).drop_front());
  Values passed = {getNext()};
  llvm::append_range(passed, before->getArguments());
  scf::ConditionOp::create(b, b.isLess(passed[0], items), passed);

  Block *block = b.createBlock(&loop.getAfter(), {}, types, locations);
  // The next ticket is drawn while this item is computed.
  Value ticket = draw();
  body(block->getArgument(0), block->getArguments().drop_front());
  releaseFence(b);
  b.barrier();
  Value isFirst = b.isEqual(b.thread(), 0);
  b.ifThen(isFirst, [&] { b.write(ticket, slot, b.index(0)); });
  b.barrier();
  // The others need not wait for this.
  b.ifThen(isFirst, [&] {
    atomicUpdate(b, AtomicBinOp::add, b.i32(1), control, doneWord,
                 Order::Release);
  });
  scf::YieldOp::create(b, load(getNext()));
  b.setInsertionPointAfter(loop);
  // The counter is never set back between steps: wait() compares it with the
  // items of all steps so far.
  total = b.add(total, items);
}

void SharedSteps::wait() {
  b.ifThen(b.isEqual(b.thread(), 0), [&] {
    auto loop = scf::WhileOp::create(b, TypeRange(), ValueRange());
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&loop.getBefore());
    Value done = b.toIndex(atomicRead(b, control, doneWord, Order::Acquire));
    scf::ConditionOp::create(b, b.isLess(done, total), ValueRange());
    b.createBlock(&loop.getAfter());
    scf::YieldOp::create(b);
  });
  b.barrier();
  acquireFence(b);
}
