//===- SelectCovering.cpp - The greedy covering ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Token t is kept iff no earlier kept token covers it. Tokens are decided in
// chunks. Two products are computed for a chunk: its tokens against what was
// kept before it, of which only "covered" remains, and its tokens against the
// chunk's columns, of which one bit per pair remains. Then one workgroup
// decides the columns:
//
//   a column that a kept one covers is dropped; one that no kept or undecided
//   one covers is kept; repeat.
//
// Bits say only that an earlier column covers a later row, so every pass
// decides at least the first undecided column; in practice a few passes decide
// all.
//
// `against kept`: every token of the chunk is a column. `rule covering`: the
// inherited representatives are. A token that is no column and that no kept
// column covers is under suspicion; suspects become columns, and the chunk is
// decided again. Without suspects every kept token is a column, all that can
// cover a token has been compared with it, and the result is the greedy
// covering itself. With a good hint the product is T x r instead of T x T / 2.
// If there are more suspects than columns the chunk ends before the first one
// that has no place; a bad hint so costs time and nothing else.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/SelectKernel.h"

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;
using LLVM::AtomicBinOp;
using Values = GpuBuilder::Values;

/// Columns that inherited representatives leave to suspects.
static constexpr int64_t kSpareColumns = kMaxColumns / 4;
/// Words of bits that a thread reads at once.
static constexpr int64_t kWordsAtOnce = 32;

/// Stages of a covering.
enum : int64_t { kStart, kDecide, kSuspect, kNearest, kEnd };

void SelectKernel::decideCovering(Value stage) {
  bool hasHint = problem.rule == SelectRule::Covering;
  atStage(stage, kStart, [&] {
    rounds.set(kStage, b.index(kDecide));
    if (hasHint)
      markInherited();
    startChunk(b.index(0));
  });
  atStage(stage, kDecide, [&] {
    resolve();
    if (!hasHint)
      return endChunk();
    storeKept();
    rounds.set(kStage, b.index(kSuspect));
    Value tokens = b.sub(rounds.get(kChunkEnd), rounds.get(kChunkBegin));
    rounds.publish(RoundKind::Check, b.ceilDiv(tokens, b.getThreads()));
  });
  if (hasHint)
    atStage(stage, kSuspect, [&] {
      loadKept();
      addSuspects();
    });
  atStage(stage, kNearest, [&] {
    rounds.set(kStage, b.index(kEnd));
    publishFinish();
  });
  atStage(stage, kEnd, [&] { finish(); });
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

/// Lets the products of tokens [begin, end) run: with the first `numKept`
/// representatives, null where that has been done, and with `columns`.
void SelectKernel::publishChunk(Value begin, Value end, Value numKept,
                                const List &columns, Value firstBit) {
  List rows = {std::nullopt, begin, b.sub(end, begin)};
  Product cross = {rows,
                   {SelectArray::Kept, {}, numKept ? numKept : b.index(0)},
                   Reach::Any,
                   GramUse::Cover};
  Product inside = {rows, columns, Reach::Before, GramUse::Bits, firstBit};
  // Tiles that are empty, because no column is before the rows, write zeros.
  publishGram({{cross, [&](Value) { return cross.columns.count; }},
               {inside, [&](Value) { return columns.count; }}});
}

void SelectKernel::startChunk(Value begin) {
  rounds.set(kChunkBegin, begin);
  if (problem.rule == SelectRule::Covering)
    return startInherited(begin);
  Value end = b.min(b.add(begin, kMaxColumns), numTokens);
  Value count = b.sub(end, begin);
  rounds.set(kChunkEnd, end);
  rounds.set(kNumColumns, count);
  publishChunk(begin, end, rounds.get(kNumKept), {std::nullopt, begin, count},
               b.index(0));
}

/// The columns are the inherited representatives from `begin` on, as many as
/// there is room for.
void SelectKernel::startInherited(Value begin) {
  Value all = rounds.get(kNumInherited);
  Value zero = b.i32(0), one = b.i32(1);
  Value mine = b.loop(b.thread(), all, b.getThreads(), zero,
                      [&](Value j, ValueRange sum) {
                        Value id = b.readNumber(problem.oldIds, at(j));
                        Value part = b.select(b.isLess(id, begin), one, zero);
                        return Values{
                            arith::AddIOp::create(b, sum[0], part).getResult()};
                      })
                   .front();
  Value first = toNumber(b.workgroupReduce(mine, GpuBuilder::Kind::ADD));
  Value rest = b.sub(all, first);
  Value count = b.min(rest, b.index(kMaxColumns - kSpareColumns));
  Value end = b.ifElse(
      b.isLess(count, rest),
      [&] { return b.readNumber(problem.oldIds, at(b.add(first, count))); },
      [&] { return numTokens; });
  forTokens(b.index(0), count, [&](Value j) {
    Value id = b.readNumber(problem.oldIds, at(b.add(first, j)));
    rounds.write(id, SelectArray::Columns, j);
    rounds.write(b.add(j, 1), SelectArray::ColumnOf, id);
  });
  rounds.set(kChunkEnd, end);
  rounds.set(kNumColumns, count);
  publishChunk(begin, end, rounds.get(kNumKept),
               {SelectArray::Columns, {}, count}, b.index(0));
}

/// Appends what the chunk keeps to the representatives; the next chunk follows,
/// or the nearest representatives of the others.
void SelectKernel::endChunk() {
  Value begin = rounds.get(kChunkBegin), end = rounds.get(kChunkEnd);
  bool hasHint = problem.rule == SelectRule::Covering;
  auto isKept = [&](Value t) -> Value {
    if (!hasHint)
      return isColumnKept(b.sub(t, begin));
    Value column = rounds.readNumber(SelectArray::ColumnOf, t);
    Value kept = isColumnKept(b.max(b.sub(column, 1), b.index(0)));
    return b.both(kept, b.compare(CmpIPredicate::sgt, column, b.index(0)));
  };
  Value numKept = compact.run(
      begin, end, rounds.get(kNumKept), isKept,
      [&](Value t, Value holds, Value before) {
        rounds.write(b.select(holds, b.i32(0), b.i32(1)), SelectArray::Covered,
                     t);
        b.ifThen(holds, [&] { rounds.write(t, SelectArray::Kept, before); });
      });
  // Columns past the end belong to the next chunk.
  if (hasHint)
    forTokens(b.index(0), rounds.get(kNumColumns), [&](Value j) {
      Value id = rounds.readNumber(SelectArray::Columns, j);
      b.ifThen(b.compare(CmpIPredicate::sge, id, end),
               [&] { rounds.write(b.i32(0), SelectArray::ColumnOf, id); });
    });
  b.barrier(); // All have read the words that change now.
  rounds.set(kNumKept, numKept);
  b.barrier();
  b.ifThen(b.isLess(end, numTokens), [&] {
    rounds.set(kStage, b.index(kDecide));
    startChunk(end);
  });
  b.ifThen(b.compare(CmpIPredicate::sge, end, numTokens), [&] {
    rounds.set(kStage, b.index(kNearest));
    publishNearest();
  });
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// Whether bit `column` of a set in workgroup memory is there.
static Value hasBit(GpuBuilder &b, Value set, Value column) {
  Value shift =
      arith::IndexCastOp::create(b, b.getI32Type(), b.rem(column, 32));
  Value word = b.read(set, b.div(column, 32));
  Value bit = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, word, shift).getResult(), b.i32(1));
  return b.compare(CmpIPredicate::ne, bit, b.i32(0));
}

Value SelectKernel::isColumnKept(Value column) {
  return hasBit(b, kept, column);
}

void SelectKernel::storeKept() {
  forTokens(b.index(0), b.index(kBitWords), [&](Value i) {
    b.write(b.read(kept, i), problem.control,
            rounds.getControlPlace(b.add(i, kKeptMask)));
  });
}

void SelectKernel::loadKept() {
  forTokens(b.index(0), b.index(kBitWords), [&](Value i) {
    b.write(
        b.read(problem.control, rounds.getControlPlace(b.add(i, kKeptMask))),
        kept, i);
  });
  b.barrier();
}

/// Decides the columns of the chunk: `kept` is the set of those that stay.
void SelectKernel::resolve() {
  bool hasHint = problem.rule == SelectRule::Covering;
  Value begin = rounds.get(kChunkBegin), end = rounds.get(kChunkEnd);
  Value numColumns = rounds.get(kNumColumns);
  Value numWords = b.ceilDiv(numColumns, 32);
  int64_t threads = b.getThreads(), ofThread = kMaxColumns / threads;
  auto getToken = [&](Value column) {
    return hasHint ? rounds.readNumber(SelectArray::Columns, column)
                   : b.add(begin, column);
  };
  auto getBit = [&](Value column) -> Value {
    Value shift =
        arith::IndexCastOp::create(b, b.getI32Type(), b.rem(column, 32));
    return arith::ShLIOp::create(b, b.i32(1), shift);
  };

  forTokens(b.index(0), b.index(kBitWords), [&](Value i) {
    b.write(b.i32(0), kept, i);
    b.write(b.i32(0), undecided, i);
  });
  b.barrier();
  forTokens(b.index(0), numColumns, [&](Value column) {
    Value token = getToken(column);
    Value isInside = b.both(b.compare(CmpIPredicate::sge, token, b.index(0)),
                            b.isLess(token, end));
    Value safe = b.select(isInside, token, begin);
    Value isOpen = b.isEqual(rounds.readNumber(SelectArray::Covered, safe), 0);
    b.ifThen(b.both(isInside, isOpen), [&] {
      atomicUpdate(b, AtomicBinOp::_or, getBit(column), undecided,
                   b.div(column, 32));
    });
  });
  b.barrier();

  // What the columns of this thread become in a pass: 1 kept, 2 dropped.
  auto judge = [&](Value column) {
    Value row = b.sub(getToken(column), begin);
    // Without a hint no column past the row itself covers it.
    Value words = hasHint ? numWords : b.add(b.div(column, 32), 1);
    Value none = b.constant(b.vectorOf(4, b.getI32Type()), 0);
    Values found = b.loop(
        b.index(0), words, kWordsAtOnce, Values{none, none},
        [&](Value first, ValueRange carried) {
          Values masks;
          for (int64_t i = 0; i < kWordsAtOnce; i += 4)
            masks.push_back(b.read(
                rounds.scratch, rounds.getBitPlace(row, b.add(first, i)), 4));
          Value byKept = carried[0], byUndecided = carried[1];
          for (auto [i, mask] : llvm::enumerate(masks)) {
            Value place = b.add(first, 4 * i);
            byKept = arith::OrIOp::create(
                b, byKept,
                arith::AndIOp::create(b, mask, b.read(kept, place, 4))
                    .getResult());
            byUndecided = arith::OrIOp::create(
                b, byUndecided,
                arith::AndIOp::create(b, mask, b.read(undecided, place, 4))
                    .getResult());
          }
          return Values{byKept, byUndecided};
        });
    auto isAny = [&](Value vector) {
      Value word = b.reduceLanes(vector, [&](Value x, Value y) -> Value {
        return arith::OrIOp::create(b, x, y);
      });
      return b.compare(CmpIPredicate::ne, word, b.i32(0));
    };
    Value open = b.select(isAny(found[1]), b.i32(0), b.i32(1));
    return b.select(isAny(found[0]), b.i32(2), open);
  };

  auto passes = scf::WhileOp::create(b, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&passes.getBefore());
  Values verdicts;
  for (int64_t i = 0; i < ofThread; ++i) {
    Value column = b.add(b.thread(), i * threads);
    verdicts.push_back(b.ifElse(
        hasBit(b, undecided, column), [&] { return judge(column); },
        [&] { return b.i32(3); }));
  }
  b.barrier(); // The sets change when all have read them.
  Value isOpen = b.i32(0);
  for (int64_t i = 0; i < ofThread; ++i) {
    Value column = b.add(b.thread(), i * threads), verdict = verdicts[i];
    auto is = [&](int64_t number) {
      return b.compare(CmpIPredicate::eq, verdict, b.i32(number));
    };
    Value word = b.div(column, 32);
    b.ifThen(is(1), [&] {
      atomicUpdate(b, AtomicBinOp::_or, getBit(column), kept, word);
    });
    b.ifThen(arith::OrIOp::create(b, is(1), is(2)), [&] {
      Value others = arith::XOrIOp::create(b, getBit(column), b.i32(-1));
      atomicUpdate(b, AtomicBinOp::_and, others, undecided, word);
    });
    isOpen = b.select(is(0), b.i32(1), isOpen);
  }
  Value isAnyOpen = b.workgroupReduce(isOpen, GpuBuilder::Kind::OR);
  scf::ConditionOp::create(b, b.compare(CmpIPredicate::ne, isAnyOpen, b.i32(0)),
                           ValueRange());
  b.createBlock(&passes.getAfter());
  scf::YieldOp::create(b);
}

//===----------------------------------------------------------------------===//
// Suspects
//===----------------------------------------------------------------------===//

/// Finds tokens that are no columns and that no kept column covers.
void SelectKernel::emitCheck(Value item) {
  Value begin = rounds.get(kChunkBegin), end = rounds.get(kChunkEnd);
  Value row = b.add(b.mul(item, b.getThreads()), b.thread());
  Value t = b.add(begin, row);
  Value numWords = b.ceilDiv(rounds.get(kNumColumns), 32);
  b.ifThen(b.isLess(t, end), [&] {
    Value isOpen =
        b.both(b.isEqual(rounds.readNumber(SelectArray::Covered, t), 0),
               b.isEqual(rounds.readNumber(SelectArray::ColumnOf, t), 0));
    Value isSuspect = b.ifElse(
        isOpen,
        [&] {
          Value none = b.constant(b.vectorOf(4, b.getI32Type()), 0);
          Value found =
              b.loop(
                   b.index(0), numWords, 4, none,
                   [&](Value word, ValueRange carried) {
                     Value mask = b.read(rounds.scratch,
                                         rounds.getBitPlace(row, word), 4);
                     Value set = b.read(
                         problem.control,
                         rounds.getControlPlace(b.add(word, kKeptMask)), 4);
                     Value hit = arith::AndIOp::create(b, mask, set);
                     return Values{
                         arith::OrIOp::create(b, carried[0], hit).getResult()};
                   })
                  .front();
          Value word = b.reduceLanes(found, [&](Value x, Value y) -> Value {
            return arith::OrIOp::create(b, x, y);
          });
          return b.select(b.compare(CmpIPredicate::eq, word, b.i32(0)),
                          b.i32(1), b.i32(0));
        },
        [&] { return b.i32(0); });
    rounds.write(isSuspect, SelectArray::Suspects, t);
  });
}

void SelectKernel::addSuspects() {
  Value begin = rounds.get(kChunkBegin), end = rounds.get(kChunkEnd);
  Value columns = rounds.get(kNumColumns);
  // Whole tiles: who multiplies with the new ones leaves the old bits alone.
  int64_t width = gram.getColumns();
  Value first = b.mul(b.ceilDiv(columns, width), width);
  Value room = b.sub(b.index(kMaxColumns), first);
  Value total = compact.run(
      begin, end, b.index(0),
      [&](Value t) {
        return b.isEqual(rounds.readNumber(SelectArray::Suspects, t), 1);
      },
      [&](Value t, Value holds, Value before) {
        b.ifThen(holds, [&] { rounds.write(t, SelectArray::Others, before); });
      });
  b.barrier();
  Value count = b.min(total, room);
  Value newEnd = b.ifElse(
      b.isLess(count, total),
      [&] { return rounds.readNumber(SelectArray::Others, count); },
      [&] { return end; });
  b.barrier(); // All have read the words that change now.
  rounds.set(kChunkEnd, newEnd);
  b.ifThen(b.isEqual(count, 0), [&] {
    b.barrier();
    endChunk();
  });
  b.ifThen(b.compare(CmpIPredicate::sgt, count, b.index(0)), [&] {
    forTokens(columns, first, [&](Value j) {
      rounds.write(b.i32(-1), SelectArray::Columns, j);
    });
    forTokens(b.index(0), count, [&](Value j) {
      Value id = rounds.readNumber(SelectArray::Others, j);
      Value column = b.add(first, j);
      rounds.write(id, SelectArray::Columns, column);
      rounds.write(b.add(column, 1), SelectArray::ColumnOf, id);
    });
    rounds.set(kNumColumns, b.add(first, count));
    rounds.set(kStage, b.index(kDecide));
    // The list of the new columns alone, at its place in the bits.
    List list = {SelectArray::Others, {}, count};
    publishChunk(begin, newEnd, {}, list, first);
  });
}
