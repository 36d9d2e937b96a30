//===- SelectRounds.cpp - Rounds of work inside of one launch -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Select/SelectRounds.h"
#include "passes/Tile/Gpu/Core/Registers.h"
#include "passes/Tile/Gpu/Elements/GpuKernel.h"

#include <tuple>

using namespace mlir;
using namespace gist;
using LLVM::AtomicBinOp;

/// Arrays have room for tables of tiles however few tokens there are, and are a
/// multiple of four words.
static constexpr int64_t kRoom = kScratchRoom - 4;

/// The room after the bits of the last token is that of the columns.
static_assert(kRoom * kBitWords >= kMaxColumns);

/// Places in workgroup memory that thread 0 tells the others through.
enum : int64_t { kTicketSlot, kLimitSlot, kLeaderSlot, kEarlySlot, kNumSlots };

SelectRounds::SelectRounds(GpuBuilder &b, Value control, Value scratch,
                           Value head, int64_t heads, Value tokens,
                           bool hasBits)
    : control(control), scratch(scratch), b(b), heads(heads),
      factor(getScratchFactor(hasBits)), head(head ? head : b.index(0)) {
  slots = b.allocWorkgroup({kNumSlots}, b.getI32Type());
  setTokens(tokens);
}

void SelectRounds::setTokens(Value number) {
  tokens = number;
  // A multiple of four words, so that every array begins at 16 bytes.
  unit = b.mul(b.div(b.add(tokens, kRoom + 3), 4), 4);
  base = b.mul(head, b.mul(unit, factor));
}

void SelectRounds::computeHere(function_ref<void()> body) {
  // Only gfx942 runs out of scalar registers.
  if (b.getGpu().kind != GpuKind::Amd)
    return body();
  std::tuple known(tokens, unit, base);
  Value knownHead = head, thread = b.thread();
  Value thisThread = b.rem(computeHereByThread(b, thread), b.getThreads());
  if (!getConstantIntValue(head))
    head = gist::computeHere(b, head);
  setTokens(gist::computeHere(b, tokens));
  Operation *begin = &*std::prev(b.getInsertionPoint());
  body();
  // The ops that `body` has written use the hidden copies of these numbers.
  auto isWritten = [&](OpOperand &use) {
    Operation *user = begin->getBlock()->findAncestorOpInBlock(*use.getOwner());
    return user && begin->isBeforeInBlock(user);
  };
  thread.replaceUsesWithIf(thisThread, isWritten);
  knownHead.replaceUsesWithIf(head, isWritten);
  head = knownHead;
  std::tie(tokens, unit, base) = known;
}

void SelectRounds::ifThenHere(Value condition, function_ref<void()> body) {
  b.ifThen(condition, [&] { loadHere(body); });
}

void SelectRounds::loadHere(function_ref<void()> body) {
  b.getBlock()->getParentOp()->setAttr(kLoadArgumentsAttr, b.getUnitAttr());
  computeHere(body);
}

Value SelectRounds::getSplitWords() {
  Value rest = b.sub(b.size(scratch, 0), b.mul(unit, factor * heads));
  // Whole vectors of four words.
  return b.mul(b.div(b.max(rest, b.index(0)), 4 * heads), 4);
}

Value SelectRounds::getSplitPlace() {
  return b.add(b.mul(unit, factor * heads), b.mul(head, getSplitWords()));
}

Value SelectRounds::getOffset(SelectArray array) {
  Value offset = b.mul(unit, static_cast<int64_t>(array));
  if (array == SelectArray::Columns)
    return b.add(offset, b.mul(tokens, kBitWords));
  return offset;
}

Value SelectRounds::getPlace(SelectArray array, Value i) {
  return b.add(b.add(base, getOffset(array)), i);
}

Value SelectRounds::getBitPlace(Value row, Value word) {
  constexpr auto kArrays = static_cast<int64_t>(SelectArray::NumArrays);
  Value begin = b.add(base, b.mul(unit, kArrays));
  return b.add(begin, b.add(b.mul(row, kBitWords), word));
}

Value SelectRounds::read(SelectArray array, Value i) {
  return b.read(scratch, getPlace(array, i));
}

Value SelectRounds::readNumber(SelectArray array, Value i) {
  return b.readNumber(scratch, getPlace(array, i));
}

Value SelectRounds::readF32(SelectArray array, Value i) {
  return arith::BitcastOp::create(b, b.getF32Type(), read(array, i));
}

void SelectRounds::write(Value value, SelectArray array, Value i) {
  if (isa<IndexType>(value.getType()))
    value = b.toI32(value);
  if (value.getType().isF32())
    value = arith::BitcastOp::create(b, b.getI32Type(), value);
  b.write(value, scratch, getPlace(array, i));
}

Value SelectRounds::get(Value word) {
  return b.readNumber(control, getControlPlace(word));
}

void SelectRounds::set(int64_t word, Value number) {
  b.ifThen(b.isEqual(b.thread(), 0),
           [&] { b.write(b.toI32(number), control, getControlPlace(word)); });
}

Value SelectRounds::getItemsBefore() {
  return b.max(countFirstItems(), b.index(1));
}

void SelectRounds::publish(RoundKind kind, Value items) {
  Value limit = b.readNumber(slots, b.index(kLimitSlot));
  set(kRound, b.index(static_cast<int64_t>(kind)));
  set(kBase, b.add(getItemsBefore(), limit));
  releaseFence(b);
  b.barrier();
  b.ifThen(b.isEqual(b.thread(), 0), [&] {
    // At least one item: the workgroup that ends the last one decides what
    // comes next.
    Value next = b.add(limit, b.max(items, b.index(1)));
    atomicWrite(b, b.toI32(next), control, getControlPlace(kLimit),
                Order::Release);
  });
}

void SelectRounds::finish() {
  releaseFence(b);
  b.barrier();
  b.ifThen(b.isEqual(b.thread(), 0), [&] {
    // A negative limit lets waiting workgroups leave.
    atomicWrite(b, b.i32(-1), control, getControlPlace(kLimit), Order::Release);
  });
}

void SelectRounds::run(int64_t workgroups, std::function<Value()> getFirstItems,
                       function_ref<void(Value, Value)> run,
                       function_ref<void()> decide) {
  countFirstItems = std::move(getFirstItems);
  auto loop = scf::WhileOp::create(b, TypeRange(), ValueRange());
  writeItems(loop, run, decide);
  b.barrier(); // All have read their last ticket.
  leave(workgroups, /*mayBeEarly=*/false);
}

/// The last to leave restores the zeros. A workgroup that has left early knows
/// how many had left before it.
void SelectRounds::leave(int64_t workgroups, bool mayBeEarly) {
  auto count = [&] {
    return atomicUpdate(b, AtomicBinOp::add, b.i32(1), control,
                        getControlPlace(kLeft));
  };
  b.ifThen(b.isEqual(b.thread(), 0), [&] {
    Value left;
    if (mayBeEarly) {
      Value early = b.read(slots, b.index(kEarlySlot));
      Value isEarly = b.compare(arith::CmpIPredicate::sge, early, b.i32(0));
      left = b.ifElse(isEarly, [&] { return early; }, count);
    } else {
      left = count();
    }
    b.write(left, slots, b.index(kTicketSlot));
  });
  b.barrier();
  Value left = b.readNumber(slots, b.index(kTicketSlot));
  b.ifThen(b.isEqual(left, workgroups - 1), [&] {
    b.forEach(b.thread(), b.index(kControlWords), b.index(b.getThreads()),
              [&](Value i) { b.write(b.i32(0), control, getControlPlace(i)); });
  });
}

Value SelectRounds::leaveEarly() {
  Value isLast =
      b.compare(arith::CmpIPredicate::sge, b.toIndex(nextTicket), numItems);
  return b.ifElse(
      b.both(b.isEqual(b.thread(), 0), isLast),
      [&] { return drawTicket(b, control, getControlPlace(kLeft)); },
      [&]() -> Value { return b.i32(-1); });
}

void SelectRounds::noteLeft(Value left) {
  b.ifThen(b.isEqual(b.thread(), 0),
           [&] { b.write(left, slots, b.index(kEarlySlot)); });
}

void SelectRounds::runInOrder(int64_t workgroups, Value items,
                              function_ref<Value()> countAwaited,
                              function_ref<void(Value)> run) {
  Value isFirst = b.isEqual(b.thread(), 0);
  numItems = items;
  // In thread 0.
  auto draw = [&] {
    return b.ifElse(
        isFirst,
        [&] { return drawTicket(b, control, getControlPlace(kTicket)); },
        [&]() -> Value { return b.i32(0); });
  };
  Value first = draw();
  b.ifThen(isFirst, [&] {
    b.write(first, slots, b.index(kTicketSlot));
    b.write(b.i32(-1), slots, b.index(kEarlySlot));
  });
  b.barrier();
  auto loop = scf::WhileOp::create(b, TypeRange(), ValueRange());
  {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&loop.getBefore());
    Value ticket = b.readNumber(slots, b.index(kTicketSlot));
    Value hasItem = b.isLess(ticket, items);
    b.ifThen(hasItem, [&] {
      // The next ticket is drawn while this item is computed.
      nextTicket = draw();
      computeHere([&] { run(ticket); });
      releaseFence(b);
      b.barrier();
      b.ifThen(isFirst, [&] {
        b.write(nextTicket, slots, b.index(kTicketSlot));
        b.ifThen(b.isLess(ticket, countAwaited()), [&] {
          atomicUpdate(b, AtomicBinOp::add, b.i32(1), control,
                       getControlPlace(kDone), Order::Release);
        });
      });
      b.barrier();
    });
    scf::ConditionOp::create(b, hasItem, ValueRange());
    b.createBlock(&loop.getAfter());
    scf::YieldOp::create(b);
  }
  b.barrier(); // All have read their last ticket.
  leave(workgroups, /*mayBeEarly=*/true);
}

void SelectRounds::waitFor(Value count) {
  b.ifThen(b.isEqual(b.thread(), 0), [&] {
    auto wait = scf::WhileOp::create(b, TypeRange(), ValueRange());
    OpBuilder::InsertionGuard inside(b);
    b.createBlock(&wait.getBefore());
    Value done = b.toIndex(
        atomicRead(b, control, getControlPlace(kDone), Order::Acquire));
    scf::ConditionOp::create(b, b.isLess(done, count), ValueRange());
    b.createBlock(&wait.getAfter());
    scf::YieldOp::create(b);
  });
  b.barrier();
  acquireFence(b);
}

void SelectRounds::writeItems(scf::WhileOp loop,
                              function_ref<void(Value, Value)> run,
                              function_ref<void()> decide) {
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  Value one = b.i32(1);
  auto isFirst = [&] { return b.isEqual(b.thread(), 0); };

  // Draws a ticket and waits until its round has begun.
  ifThenHere(isFirst(), [&] {
    Value ticket = b.toIndex(atomicUpdate(b, AtomicBinOp::add, one, control,
                                          getControlPlace(kTicket)));
    auto wait =
        scf::WhileOp::create(b, TypeRange(b.getIndexType()), ValueRange());
    {
      OpBuilder::InsertionGuard inside(b);
      b.createBlock(&wait.getBefore());
      Value limit = b.toIndex(
          atomicRead(b, control, getControlPlace(kLimit), Order::Acquire));
      Value isRunning = b.compare(arith::CmpIPredicate::sge, limit, b.index(0));
      Value isEarly = b.compare(arith::CmpIPredicate::sge, ticket,
                                b.add(getItemsBefore(), limit));
      scf::ConditionOp::create(b, b.both(isRunning, isEarly), limit);
      b.createBlock(&wait.getAfter(), {}, b.getIndexType(), b.getLoc());
      scf::YieldOp::create(b);
    }
    b.write(b.toI32(ticket), slots, b.index(kTicketSlot));
    b.write(b.toI32(wait.getResult(0)), slots, b.index(kLimitSlot));
  });
  b.barrier();
  acquireFence(b);
  Value ticket = b.readNumber(slots, b.index(kTicketSlot));
  Value limit = b.readNumber(slots, b.index(kLimitSlot));
  Value hasTicket = b.compare(arith::CmpIPredicate::sge, limit, b.index(0));

  ifThenHere(hasTicket, [&] {
    // The first round is what zeros say: norms, from ticket 0 on.
    run(get(kRound), b.sub(ticket, get(kBase)));

    releaseFence(b);
    b.barrier();
    ifThenHere(isFirst(), [&] {
      Value done = b.toIndex(atomicUpdate(b, AtomicBinOp::add, one, control,
                                          getControlPlace(kDone), Order::Both));
      Value isLast = b.compare(arith::CmpIPredicate::eq, b.add(done, 1),
                               b.add(getItemsBefore(), limit));
      b.write(arith::ExtUIOp::create(b, b.getI32Type(), isLast), slots,
              b.index(kLeaderSlot));
    });
    b.barrier();
    ifThenHere(b.isEqual(b.readNumber(slots, b.index(kLeaderSlot)), 1), [&] {
      acquireFence(b);
      decide();
    });
    // Threads meet before the next ticket: thread 0 could otherwise be left
    // behind in the branch that it alone takes.
    b.barrier();
  });
  scf::ConditionOp::create(b, hasTicket, ValueRange());
  b.createBlock(&loop.getAfter());
  scf::YieldOp::create(b);
}
