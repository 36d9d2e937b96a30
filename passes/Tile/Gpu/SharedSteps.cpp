//===- SharedSteps.cpp - Steps that workgroups share ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/SharedSteps.h"

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

/// Counts an item as done, or none, and draws the next ticket.
void SharedSteps::draw(bool isDone) {
  if (isDone) {
    releaseFence(b);
    b.barrier();
  }
  b.ifThen(b.isEqual(b.thread(), 0), [&] {
    if (isDone)
      atomicUpdate(b, AtomicBinOp::add, b.i32(1), control, doneWord);
    Value ticket =
        atomicUpdate(b, AtomicBinOp::add, b.i32(1), control, ticketWord);
    b.write(ticket, slot, b.index(0));
  });
  b.barrier();
}

void SharedSteps::begin() { draw(/*isDone=*/false); }

void SharedSteps::run(Value items, function_ref<void(Value)> body) {
  Type number = b.getIndexType();
  Value end = b.add(total, items);
  auto loop = scf::WhileOp::create(b, TypeRange(number), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  Value ticket = b.readNumber(slot, b.index(0));
  scf::ConditionOp::create(b, b.isLess(ticket, end), ticket);
  Block *block = b.createBlock(&loop.getAfter(), {}, number, b.getLoc());
  body(b.sub(block->getArgument(0), total));
  draw(/*isDone=*/true);
  scf::YieldOp::create(b);
  total = end;
}

void SharedSteps::wait() {
  b.ifThen(b.isEqual(b.thread(), 0), [&] {
    auto loop = scf::WhileOp::create(b, TypeRange(), ValueRange());
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&loop.getBefore());
    Value done = arith::IndexCastOp::create(b, b.getIndexType(),
                                            atomicRead(b, control, doneWord));
    scf::ConditionOp::create(b, b.isLess(done, total), ValueRange());
    b.createBlock(&loop.getAfter());
    scf::YieldOp::create(b);
  });
  b.barrier();
  acquireFence(b);
}
