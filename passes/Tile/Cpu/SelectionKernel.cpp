//===- SelectionKernel.cpp - Selections on the CPU: rows and their order --===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/SelectionKernel.h"
#include "dialect/Formats.h"

#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;
using arith::CmpIPredicate;
using Values = TileBuilder::Values;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

void SelectionKernel::emit() {
  Value zero = b.index(0);
  total = memref::DimOp::create(b, what.tokens, 0);
  blocks = b.ceilDiv(total, kSelectRows);
  Value ticket = b.toIndex(b.fetchAdd(b.i32(1), what.to.control, b.index(0)));
  Value last = b.add(b.mul(blocks, heads * countPhases()), -1);
  b.ifThen(b.compare(CmpIPredicate::eq, ticket, last), [&] {
    // The holder of the last ticket clears the word for the next call.
    b.store(b.i32(0), what.to.control, b.index(kNextTicket));
  });
  auto divide = [&](Value x, Value y) -> Value {
    return arith::DivUIOp::create(b, x, y);
  };
  auto remainder = [&](Value x, Value y) -> Value {
    return arith::RemUIOp::create(b, x, y);
  };
  // Heads first: they do not wait for one another.
  head = remainder(ticket, b.index(heads));
  Value item = divide(ticket, b.index(heads));
  block = remainder(item, blocks);
  phase = divide(item, blocks);
  words = b.mul(head, kControlWords);
  arrays = b.mul(head, b.mul(total, kNumArrays));
  rows.first = b.mul(block, kSelectRows);
  rows.count = b.min(b.index(kSelectRows), b.sub(total, rows.first));
  bests = b.scratch({kSelectRows, kLanes}, f32);
  owners = b.scratch({kSelectRows, kLanes}, i32);
  covers = b.scratch({kSelectRows}, f32);
  theta = b.f32(what.theta);
  if (what.taus)
    theta =
        createTheta(b, b.load(what.taus, type.getRank() == 3 ? head : zero));
  cosines.emplace(b, what.tokens, what.coefficients, what.residuals,
                  what.similarity, head,
                  [this](Value token) { return readFloat(kInverse, token); });

  using Phase = void (SelectionKernel::*)();
  SmallVector<Phase> phases = {&SelectionKernel::emitScan};
  if (what.rule == Rule::Paper)
    phases = {&SelectionKernel::emitNorms, &SelectionKernel::emitValidate,
              &SelectionKernel::emitCover};
  if (countPhases() > 1)
    phases.push_back(&SelectionKernel::emitNearest);
  for (auto [number, emitPhase] : llvm::enumerate(phases))
    b.ifThen(b.compare(CmpIPredicate::eq, phase, b.index(number)), [&] {
      // The code of each phase is emitted once; the ticket selects the phase.
      (this->*emitPhase)();
      auto order = static_cast<int64_t>(number);
      // Some phases have waited for their turn already, and pass here at once.
      waitFor(b.add(b.mul(b.index(order), blocks), block));
      finishPhase(order, number + 1 == phases.size());
    });
}

//===----------------------------------------------------------------------===//
// Rows of the block: what they have found
//===----------------------------------------------------------------------===//

void SelectionKernel::setState() {
  b.forEach(b.index(0), b.index(kSelectRows), 1, [&](Value row) {
    b.storeVector(b.splat(kLanes, f32, -kInfinity), bests, {row, b.index(0)});
    b.storeVector(b.splat(kLanes, i32, -1), owners, {row, b.index(0)});
    b.store(b.f32(-kInfinity), covers, row);
  });
}

/// Goes on from what an earlier phase has found.
void SelectionKernel::loadState() {
  setState();
  b.forEach(b.index(0), rows.count, 1, [&](Value row) {
    Value token = b.add(rows.first, row);
    Values first = {row, b.index(0)};
    b.store(readFloat(kBest, token), bests, first);
    b.store(read(kOwner, token), owners, first);
  });
}

/// Takes four candidates into account, those that `isEligible` says.
void SelectionKernel::improve(Value row, Value cosines, Value ids,
                              Value isEligible) {
  Values first = {row, b.index(0)};
  Value best = b.loadVector(bests, first), owner = b.loadVector(owners, first);
  // Candidates of a lane come in ascending order; those of an earlier phase
  // may be larger.
  Value isTie = b.both(b.compare(CmpFPredicate::OEQ, cosines, best),
                       b.compare(CmpIPredicate::slt, ids, owner));
  Value isBetter = arith::OrIOp::create(
      b, b.compare(CmpFPredicate::OGT, cosines, best), isTie);
  if (isEligible)
    isBetter = b.both(isBetter, isEligible);
  b.storeVector(b.select(isBetter, cosines, best), bests, first);
  b.storeVector(b.select(isBetter, ids, owner), owners, first);
}

/// Puts the best of the lanes into the first.
void SelectionKernel::reduceRow(Value row) {
  Value zero = b.index(0);
  Value best = b.load(bests, {row, zero}), owner = b.load(owners, {row, zero});
  for (int64_t lane = 1; lane < kLanes; ++lane) {
    Value cosine = b.load(bests, {row, b.index(lane)});
    Value id = b.load(owners, {row, b.index(lane)});
    // Compared as unsigned, the sentinel -1 is larger than every id.
    Value isTie = b.both(b.compare(CmpFPredicate::OEQ, cosine, best),
                         b.compare(CmpIPredicate::ult, id, owner));
    Value isBetter = arith::OrIOp::create(
        b, b.compare(CmpFPredicate::OGT, cosine, best), isTie);
    best = b.select(isBetter, cosine, best);
    owner = b.select(isBetter, id, owner);
  }
  b.store(best, bests, {row, zero});
  b.store(owner, owners, {row, zero});
}

//===----------------------------------------------------------------------===//
// The order of blocks
//===----------------------------------------------------------------------===//

/// Waits until that many blocks of the head are finished.
void SelectionKernel::waitFor(Value count) {
  Value wanted = b.toI32(count);
  b.repeatWhile([&] {
    return b.compare(CmpIPredicate::slt,
                     b.acquire(what.to.control, wordAt(kFinished)), wanted);
  });
}

/// Counts a redundant token; in the order of blocks.
void SelectionKernel::addMember(Value owner) {
  // The rank of a representative is its place in the list of ids.
  Values slot = part(b.toIndex(read(kRank, b.toIndex(owner))));
  Value members = b.load(what.to.weight, slot);
  b.store(arith::AddIOp::create(b, members, b.i32(1)), what.to.weight, slot);
}

/// Writes down whether a token is a representative; in the order of tokens.
void SelectionKernel::commit(Value token, Value row, Value isKept) {
  Value kept = readWord(kNumKept);
  write(kept, kRank, token);
  write(arith::ExtUIOp::create(b, i32, isKept), kFlag, token);
  if (what.oldNearest) {
    Value wasKept = isInherited(token);
    addToWord(b.both(wasKept, negate(isKept)), kNumRemoved);
    addToWord(b.both(isKept, negate(wasKept)), kNumAdded);
    if (what.rule == Rule::Paper)
      b.ifThen(b.both(isKept, negate(wasKept)), [&] {
        Value listed = readWord(kNumNew);
        write(b.toI32(token), kNew, b.toIndex(listed));
        writeWord(arith::AddIOp::create(b, listed, b.i32(1)), kNumNew);
      });
  }
  auto choice = scf::IfOp::create(b, isKept, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(choice.thenBlock()->getTerminator());
    Value slot = b.toIndex(kept);
    b.store(b.toI32(token), what.to.ids, part(slot));
    b.store(b.i32(1), what.to.weight, part(slot));
    b.store(b.toI32(token), what.to.nearest, part(token));
    Value more = arith::AddIOp::create(b, kept, b.i32(1));
    // Released, because later blocks read the ids before this one is finished.
    b.release(more, what.to.control, wordAt(kNumKept));
  }
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(choice.elseBlock()->getTerminator());
    Value zero = b.index(0);
    Value owner = b.load(owners, {row, zero});
    if (countPhases() > 1) { // A later phase may find a nearer one.
      write(b.load(bests, {row, zero}), kBest, token);
      write(owner, kOwner, token);
      return;
    }
    b.store(owner, what.to.nearest, part(token));
    addMember(owner);
  }
}

/// Lets the next block go on.
void SelectionKernel::finishPhase(int64_t number, bool isLast) {
  Value done = b.add(b.mul(b.index(number), blocks), b.add(block, 1));
  if (isLast)
    b.ifThen(b.compare(CmpIPredicate::eq, b.add(block, 1), blocks),
             [&] { finishAll(); });
  // No block waits for the last one: it resets the words to zero for the next
  // call.
  Value word = b.toI32(done);
  if (isLast)
    word = b.select(b.compare(CmpIPredicate::eq, b.add(block, 1), blocks),
                    b.i32(0), word);
  b.release(word, what.to.control, wordAt(kFinished));
}

/// The parts of the selection that only the last block knows.
void SelectionKernel::finishAll() {
  Value kept = readWord(kNumKept);
  b.store(kept, what.to.count, one());
  b.forEach(b.toIndex(kept), total, 1, [&](Value slot) {
    b.store(b.i32(-1), what.to.ids, part(slot));
    b.store(b.i32(0), what.to.weight, part(slot));
  });
  if (what.to.removed) {
    b.store(readWord(kNumRemoved), what.to.removed, one());
    b.store(readWord(kNumAdded), what.to.added, one());
  }
  for (Word word : {kNumKept, kNumValid, kNumNew, kNumRemoved, kNumAdded})
    writeWord(b.i32(0), word);
}
