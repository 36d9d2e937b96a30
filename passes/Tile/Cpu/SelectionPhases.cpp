//===- SelectionPhases.cpp - Selections on the CPU: their phases ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/SelectionKernel.h"

#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;
using arith::CmpIPredicate;
using Values = TileBuilder::Values;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

void SelectionKernel::emitNorms() {
  b.forEach(b.index(0), rows.count, 1, [&](Value row) {
    Value token = b.add(rows.first, row);
    write(cosines->emitInverseNorm(token), kInverse, token);
  });
}

/// Rows of the block against one another, and what becomes of them.
void SelectionKernel::emitBlock(Value isNeverCovered) {
  Value zero = b.index(0);
  Value inside = b.scratch({kSelectRows, kSelectRows}, f32);
  Value flags = b.scratch({kSelectRows}, b.getI1Type());
  auto keep = [&](Value row, Value found, Value ids) {
    Value column =
        b.sub(b.toIndex(vector::ExtractOp::create(b, ids, 0)), rows.first);
    b.storeVector(found, inside, {row, column});
  };
  b.ifThen(negate(isNeverCovered), [&] {
    Candidates own = {rows.first, b.add(rows.first, rows.count),
                      [](Value number) { return number; }};
    if (!getLimit())
      return cosines->emit(rows, own, keep);
    b.forEach(zero, rows.count, 1, [&](Value row) {
      b.forEach(zero, b.index(kSelectRows), kLanes, [&](Value column) {
        b.storeVector(b.splat(kLanes, f32, -kInfinity), inside, {row, column});
      });
    });
    cosines->emit(rows, own, keep, getLimit());
  });
  b.forEach(zero, rows.count, 1, [&](Value row) {
    reduceRow(row);
    Value owner = b.load(owners, {row, zero});
    Value best = b.load(bests, {row, zero});
    Value cover = what.rule == Rule::All ? b.load(covers, row) : best;
    // Nothing is compared where nothing can be covered.
    // Only earlier tokens of the block count, whose flags are set by now.
    Value end = b.select(isNeverCovered, zero, row);
    Values found = b.loop(
        zero, end, 1, {best, owner, cover},
        [&](Value other, ValueRange carried) {
          Value cosine = b.load(inside, {row, other});
          Value isKept = b.load(flags, other);
          Value isBetter =
              b.both(isKept, b.compare(CmpFPredicate::OGT, cosine, carried[0]));
          Value id = b.toI32(b.add(rows.first, other));
          Value isCloser = b.compare(CmpFPredicate::OGT, cosine, carried[2]);
          if (what.rule == Rule::Kept)
            isCloser = isBetter;
          return Values{b.select(isBetter, cosine, carried[0]),
                        b.select(isBetter, id, carried[1]),
                        b.select(isCloser, cosine, carried[2])};
        });
    b.store(found[0], bests, {row, zero});
    b.store(found[1], owners, {row, zero});
    Value isKept = negate(b.compare(CmpFPredicate::OGE, found[2], theta));
    b.store(isKept, flags, row);
    commit(b.add(rows.first, row), row, isKept);
  });
}

void SelectionKernel::emitScan() {
  emitNorms();
  setState();
  // tau = 0 keeps everything by definition: nothing has to be compared.
  Value isNever = b.compare(CmpFPredicate::OEQ, theta, b.f32(kInfinity));
  Value done = b.scratch({1}, b.getIndexType());
  Value zero = b.index(0), mine = b.toI32(block);
  b.store(zero, done, zero);
  auto visit = [&](Value row, Value found, Value ids) {
    if (what.rule == Rule::Kept)
      return improve(row, found, ids);
    Value cover = vector::ReductionOp::create(b, vector::CombiningKind::MAXNUMF,
                                              found, b.load(covers, row));
    b.store(cover, covers, row);
    Value first = b.toIndex(vector::ExtractOp::create(b, ids, 0));
    // Blocks are whole vectors of tokens.
    Value flags = b.loadVector(what.to.scratch, at(kFlag, first));
    improve(row, found, ids,
            b.compare(CmpIPredicate::ne, flags, b.splat(kLanes, i32, 0)));
  };
  // Works on what is known while it waits. The last round begins when all
  // blocks before have finished, so nothing is missed.
  b.repeatWhile([&]() -> Value {
    // Read before the number of kept ones: if it says that all blocks before
    // are finished, that number is final.
    Value finished = b.acquire(what.to.control, wordAt(kFinished));
    Value known;
    Candidates some;
    some.begin = b.load(done, zero);
    if (what.rule == Rule::Kept) {
      known = b.toIndex(b.acquire(what.to.control, wordAt(kNumKept)));
      some.token = [&](Value number) {
        return b.loadIndex(what.to.ids, part(number));
      };
    } else {
      known = b.mul(b.toIndex(finished), kSelectRows);
      some.token = [](Value number) { return number; };
    }
    some.end = b.select(isNever, zero, known);
    cosines->emit(rows, some, visit, getLimit());
    b.store(some.end, done, zero);
    return b.compare(CmpIPredicate::slt, finished, mine);
  });
  emitBlock(isNever);
}

/// Redundant tokens meet the representatives they have not met yet.
void SelectionKernel::emitNearest() {
  bool isPaper = what.rule == Rule::Paper;
  waitFor(b.mul(b.index(countPhases() - 1), blocks));
  loadState();
  Rows redundant = rows;
  redundant.isActive = [&](Value row) -> Value {
    Value flags;
    for (int64_t i = 0; i < kLanes; ++i) {
      Value last = b.min(b.add(row, i), b.add(rows.count, -1));
      Value flag = read(kFlag, b.add(rows.first, last));
      flags = flags ? b.both(flags, flag) : flag;
    }
    return b.compare(CmpIPredicate::eq, flags, b.i32(0));
  };
  Candidates others;
  if (isPaper) {
    others.begin = b.index(0);
    others.end = b.toIndex(readWord(kNumNew));
    others.token = [&](Value number) { return b.toIndex(read(kNew, number)); };
  } else {
    // Representatives before the block were met by the scan.
    others.begin = b.toIndex(read(kRank, rows.first));
    others.end = b.toIndex(readWord(kNumKept));
    others.token = [&](Value number) {
      return b.loadIndex(what.to.ids, part(number));
    };
  }
  auto visit = [&](Value row, Value found, Value ids) {
    improve(row, found, ids);
  };
  // Cosines below the best so far change nothing.
  cosines->emit(redundant, others, visit,
                [&](Value row) { return b.load(bests, {row, b.index(0)}); });
  waitFor(b.add(b.mul(b.index(countPhases() - 1), blocks), block));
  b.forEach(b.index(0), rows.count, 1, [&](Value row) {
    Value token = b.add(rows.first, row);
    Value isRedundant =
        b.compare(CmpIPredicate::eq, read(kFlag, token), b.i32(0));
    b.ifThen(isRedundant, [&] {
      reduceRow(row);
      Value owner = b.load(owners, {row, b.index(0)});
      b.store(owner, what.to.nearest, part(token));
      addMember(owner);
    });
  });
}

/// Which inherited representatives no earlier one of them covers.
void SelectionKernel::emitValidate() {
  waitFor(blocks);
  setState();
  Candidates old;
  Value number = b.loadIndex(what.oldCount, one());
  old.begin = b.index(0);
  // Those before the end of the block: the first that is not, by halves.
  Value last = b.add(rows.first, rows.count), zero = b.index(0);
  Values found = b.loop(
      zero, b.index(32), 1, {zero, number}, [&](Value, ValueRange carried) {
        Value low = carried[0], high = carried[1];
        Value isOpen = b.compare(CmpIPredicate::slt, low, high);
        Value middle = arith::ShRUIOp::create(b, b.add(low, high), b.index(1));
        Value there = b.min(middle, b.add(total, -1));
        Value isBefore = b.compare(CmpIPredicate::slt,
                                   b.loadIndex(what.oldIds, part(there)), last);
        Value nextLow = b.select(isBefore, b.add(middle, 1), low);
        Value nextHigh = b.select(isBefore, high, middle);
        return Values{b.select(isOpen, nextLow, low),
                      b.select(isOpen, nextHigh, high)};
      });
  old.end = found[0];
  old.token = [&](Value n) { return b.loadIndex(what.oldIds, part(n)); };
  auto visit = [&](Value row, Value cosine, Value ids) {
    Value own = b.broadcast(b.toI32(b.add(rows.first, row)), kLanes);
    Value isEarlier = b.compare(CmpIPredicate::slt, ids, own);
    Value eligible =
        b.select(isEarlier, cosine, b.splat(kLanes, f32, -kInfinity));
    Value cover = vector::ReductionOp::create(b, vector::CombiningKind::MAXNUMF,
                                              eligible, b.load(covers, row));
    b.store(cover, covers, row);
  };
  cosines->emit(rows, old, visit, [&](Value) { return theta; });
  waitFor(b.add(blocks, block));
  b.forEach(zero, rows.count, 1, [&](Value row) {
    Value token = b.add(rows.first, row);
    Value isCovered = b.compare(CmpFPredicate::OGE, b.load(covers, row), theta);
    Value isValid = b.both(isInherited(token), negate(isCovered));
    write(arith::ExtUIOp::create(b, i32, isValid), kFlag, token);
    b.ifThen(isValid, [&] {
      Value listed = readWord(kNumValid);
      write(b.toI32(token), kValid, b.toIndex(listed));
      writeWord(arith::AddIOp::create(b, listed, b.i32(1)), kNumValid);
    });
  });
}

/// Which other tokens no valid representative covers, earlier or later.
void SelectionKernel::emitCover() {
  Value before = b.mul(blocks, 2);
  waitFor(before);
  setState();
  Candidates valid;
  valid.begin = b.index(0);
  valid.end = b.toIndex(readWord(kNumValid));
  valid.token = [&](Value number) { return b.toIndex(read(kValid, number)); };
  cosines->emit(rows, valid, [&](Value row, Value found, Value ids) {
    improve(row, found, ids);
  });
  waitFor(b.add(before, block));
  b.forEach(b.index(0), rows.count, 1, [&](Value row) {
    reduceRow(row);
    Value token = b.add(rows.first, row);
    Value best = b.load(bests, {row, b.index(0)});
    Value isValid = b.compare(CmpIPredicate::ne, read(kFlag, token), b.i32(0));
    Value isNew = negate(b.compare(CmpFPredicate::OGE, best, theta));
    commit(token, row, b.select(isInherited(token), isValid, isNew));
  });
}
