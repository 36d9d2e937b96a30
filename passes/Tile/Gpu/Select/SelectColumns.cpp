//===- SelectColumns.cpp - Deciding the columns of a chunk ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One bit for each pair says that an earlier column covers a row, and a word
// for each row whether any does. One workgroup decides:
//
//   a column that none covers is kept; of the others, in a list,
//   one that a kept one covers is dropped, one that no kept or undecided one
//   covers is kept; repeat.
//
// Every pass decides at least the first undecided column; in practice a few
// passes decide all.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Select/SelectKernel.h"

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;
using LLVM::AtomicBinOp;
using Values = GpuBuilder::Values;

/// Words of bits that a thread reads at once.
static constexpr int64_t kWordsAtOnce = 32;

/// What is said of a column.
enum : int64_t { kOpen, kKeep, kDrop, kDecided };

Value SelectKernel::hasBit(Value set, Value column) {
  Value shift = b.toI32(b.rem(column, 32));
  Value word = b.read(set, b.div(column, 32));
  Value bit = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, word, shift).getResult(), b.i32(1));
  return b.compare(CmpIPredicate::ne, bit, b.i32(0));
}

/// In the word that the column is in.
Value SelectKernel::getBit(Value column) {
  return arith::ShLIOp::create(b, b.i32(1), b.toI32(b.rem(column, 32)));
}

void SelectKernel::storeKept() {
  forTokens(b.index(0), b.index(kBitWords), [&](Value i) {
    b.write(b.read(kept, i), problem.to.control,
            rounds.getControlPlace(b.add(i, kKeptMask)));
  });
}

void SelectKernel::loadKept() {
  forTokens(b.index(0), b.index(kBitWords), [&](Value i) {
    b.write(
        b.read(problem.to.control, rounds.getControlPlace(b.add(i, kKeptMask))),
        kept, i);
  });
  b.barrier();
}

Value SelectKernel::getColumnToken(Value column) {
  return hasHint() ? rounds.readNumber(SelectArray::Columns, column)
                   : b.add(rounds.get(kChunkBegin), column);
}

/// Decides the columns of the chunk: `kept` is the set of those that stay.
void SelectKernel::resolve() {
  Value begin = rounds.get(kChunkBegin), end = rounds.get(kChunkEnd);
  Value numColumns = rounds.get(kNumColumns), threads = b.index(b.getThreads());
  forTokens(b.index(0), b.index(kBitWords), [&](Value i) {
    b.write(b.i32(0), kept, i);
    b.write(b.i32(0), undecided, i);
  });
  b.ifThen(b.isEqual(b.thread(), 0),
           [&] { b.write(b.i32(0), numListed, b.index(0)); });
  b.barrier();
  // 0 for a column that is not to be decided, 1 for one that nothing covers.
  auto getKind = [&](Value token) {
    Value isInside = b.both(b.compare(CmpIPredicate::sge, token, b.index(0)),
                            b.isLess(token, end));
    Value safe = b.select(isInside, token, begin);
    Value isOpen = b.isEqual(rounds.readNumber(SelectArray::Covered, safe), 0);
    Value touched = rounds.read(SelectArray::Touched, safe);
    return b.select(b.both(isInside, isOpen),
                    arith::AddIOp::create(b, touched, b.i32(1)), b.i32(0));
  };
  forLoaded(
      b.index(0), numColumns,
      [&](Value column) { return Values{getKind(getColumnToken(column))}; },
      [&](Value column, ArrayRef<Value> kinds) {
        Value kind = kinds.front();
        Value word = b.div(column, 32);
        b.ifThen(b.compare(CmpIPredicate::eq, kind, b.i32(2)), [&] {
          atomicUpdate(b, AtomicBinOp::_or, getBit(column), undecided, word);
          Value place = atomicUpdate(b, AtomicBinOp::add, b.i32(1), numListed,
                                     b.index(0));
          rounds.write(column, SelectArray::Others, b.toIndex(place));
        });
        b.ifThen(b.compare(CmpIPredicate::eq, kind, b.i32(1)), [&] {
          atomicUpdate(b, AtomicBinOp::_or, getBit(column), kept, word);
        });
      });
  b.barrier();
  Value listed = b.readNumber(numListed, b.index(0));

  // A verdict has one bit for each column of this thread, so there must not be
  // more than 32.
  auto passes = scf::WhileOp::create(b, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&passes.getBefore());
  // Verdicts on this thread's columns, the first in the lowest bit: the sets
  // change when all have read them.
  Value none = b.i32(0), one = b.i32(1);
  Values verdicts =
      b.loop(b.thread(), listed, threads, Values{none, none, none, one},
             [&](Value i, ValueRange carried) {
               Value column = rounds.readNumber(SelectArray::Others, i);
               Value verdict = b.ifElse(
                   hasBit(undecided, column), [&] { return judge(column); },
                   [&] { return b.i32(kDecided); });
               Values next;
               constexpr int64_t kinds[] = {kKeep, kDrop, kOpen};
               for (auto [i, which] : llvm::enumerate(kinds)) {
                 Value isIt =
                     b.compare(CmpIPredicate::eq, verdict, b.i32(which));
                 Value bit = b.select(isIt, carried[3], none);
                 next.push_back(arith::OrIOp::create(b, carried[i], bit));
               }
               next.push_back(arith::ShLIOp::create(b, carried[3], one));
               return next;
             });
  b.barrier();
  b.loop(b.thread(), listed, threads, one, [&](Value i, ValueRange carried) {
    Value column = rounds.readNumber(SelectArray::Others, i);
    auto is = [&](Value set) {
      Value bit = arith::AndIOp::create(b, set, carried[0]);
      return b.compare(CmpIPredicate::ne, bit, none);
    };
    Value word = b.div(column, 32);
    Value isKept = is(verdicts[0]);
    b.ifThen(isKept, [&] {
      atomicUpdate(b, AtomicBinOp::_or, getBit(column), kept, word);
    });
    b.ifThen(arith::OrIOp::create(b, isKept, is(verdicts[1])), [&] {
      Value others = arith::XOrIOp::create(b, getBit(column), b.i32(-1));
      atomicUpdate(b, AtomicBinOp::_and, others, undecided, word);
    });
    return Values{arith::ShLIOp::create(b, carried[0], one)};
  });
  Value isAnyOpen = b.workgroupReduce(verdicts[2], GpuBuilder::Kind::OR);
  scf::ConditionOp::create(b, b.compare(CmpIPredicate::ne, isAnyOpen, none),
                           ValueRange());
  b.createBlock(&passes.getAfter());
  scf::YieldOp::create(b);
}

/// What becomes of an undecided column in a pass.
Value SelectKernel::judge(Value column) {
  Value row = b.sub(getColumnToken(column), rounds.get(kChunkBegin));
  // Without a hint no column past the row itself covers it.
  Value words = hasHint() ? b.ceilDiv(rounds.get(kNumColumns), 32)
                          : b.add(b.div(column, 32), 1);
  Value none = b.constant(b.vectorOf(4, b.getI32Type()), 0);
  Values found = b.loop(
      b.index(0), words, kWordsAtOnce, Values{none, none},
      [&](Value first, ValueRange carried) {
        Values masks;
        for (int64_t i = 0; i < kWordsAtOnce; i += 4)
          masks.push_back(b.read(rounds.scratch,
                                 rounds.getBitPlace(row, b.add(first, i)), 4));
        auto meet = [&](Value any, Value set, int64_t i) -> Value {
          Value both = arith::AndIOp::create(
              b, masks[i], b.read(set, b.add(first, 4 * i), 4));
          return arith::OrIOp::create(b, any, both);
        };
        Value byKept = carried[0], byUndecided = carried[1];
        for (int64_t i = 0; i < kWordsAtOnce / 4; ++i) {
          byKept = meet(byKept, kept, i);
          byUndecided = meet(byUndecided, undecided, i);
        }
        return Values{byKept, byUndecided};
      });
  auto isAny = [&](Value vector) {
    Value word = b.reduceLanes(vector, [&](Value x, Value y) -> Value {
      return arith::OrIOp::create(b, x, y);
    });
    return b.compare(CmpIPredicate::ne, word, b.i32(0));
  };
  Value open = b.select(isAny(found[1]), b.i32(kOpen), b.i32(kKeep));
  return b.select(isAny(found[0]), b.i32(kDrop), open);
}
