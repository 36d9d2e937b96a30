//===- SelectCovering.cpp - Chunks of a greedy covering -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `against kept` keeps token t iff no earlier kept token covers it. Tokens are
// decided in chunks:
//
//   for chunk:
//     bits of its tokens against its columns          gram
//     decide the columns (SelectColumns.cpp)
//     later tokens against what the chunk has kept    gram, with the next bits
//
// The second product marks what is covered and, where `nearest` looks back,
// finds the nearest representative as well: the chunk's own tokens are among
// its rows for that. With r tokens kept of T, both together are about
// T (r + C) / 2 cosines for chunks of C.
//
// `against all` keeps t iff no earlier token at all covers it, T^2 / 2 cosines
// if computed as it says. But a token that an earlier kept one covers is not
// kept here either, so what is kept is part of what `against kept` keeps. Long
// sequences compute that first, and then compare the r tokens with earlier ones
// that were not kept: r (T - r) / 2 cosines more, r (2 T - r) / 2 with the
// above, which is never more than T^2 / 2. For r = T / 4 it is 7 / 32 T^2.
// The nearest representative of a token is then known unless the first rule
// kept it and the second does not.
//
// `rule covering`: the columns of a chunk are the inherited representatives. A
// token that is not a column and that no kept column covers is a suspect;
// suspects become columns, and the chunk is decided again. Without suspects
// every kept token is a column, all that can cover a token has been compared
// with it, and the result is the greedy covering itself. With a good hint that
// is T r / 2 cosines, and the nearest representative is known but for tokens
// whose nearest column was dropped. If there are more suspects than free
// columns the chunk ends before the first one that does not fit: a bad hint
// costs only time.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Select/SelectKernel.h"

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;
using Values = GpuBuilder::Values;

/// Tokens of a chunk without a hint.
static constexpr int64_t kChunk = 2048;
static_assert(kChunk <= kMaxColumns);
/// Up to this many tokens `against all` is computed directly: more rounds would
/// take longer than more cosines.
static constexpr int64_t kDirect = 2 * kChunk;
/// Columns that inherited representatives leave to suspects.
static constexpr int64_t kSpareColumns = kMaxColumns / 4;

void SelectKernel::decideCovering(Value stage) {
  auto isAt = [&](SelectStage which) {
    return b.isEqual(stage, static_cast<int64_t>(which));
  };
  if (!hasHint()) {
    Value isStart = isAt(SelectStage::Start),
          isDecide = isAt(SelectStage::Decide);
    rounds.ifThenHere(arith::OrIOp::create(b, isStart, isDecide), [&] {
      b.ifThen(isDecide, [&] {
        resolve();
        closeChunk();
      });
      openChunk();
    });
    return;
  }
  atStage(stage, SelectStage::Start, [&] {
    markInherited();
    openChunk();
  });
  atStage(stage, SelectStage::Decide, [&] {
    resolve();
    storeKept();
    setStage(SelectStage::Suspect);
    Value tokens = b.sub(rounds.get(kChunkEnd), rounds.get(kChunkBegin));
    rounds.publish(RoundKind::Check, b.ceilDiv(tokens, b.getThreads()));
  });
  atStage(stage, SelectStage::Suspect, [&] { addSuspects(); });
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

/// Lets the products run that follow the chunk that ends where kChunkEnd says,
/// and those of the one that begins there.
void SelectKernel::openChunk() {
  Value zero = b.index(0);
  Value before = rounds.get(kChunkBegin), begin = rounds.get(kChunkEnd);
  Value firstKept = rounds.get(kNumBefore), numKept = rounds.get(kNumKept);
  b.barrier(); // All have read the words that change now.
  // The last time there is no next chunk: its product has no rows.
  Value isDone = b.compare(CmpIPredicate::sge, begin, rounds.tokens);

  // Later tokens, and without a hint those of the chunk itself, against what
  // it has kept.
  bool isOwn = findsNearest() && !hasHint();
  Value firstRow = isOwn ? before : begin;
  Value use = b.index(findsNearest() ? kUseCover | kUseBest : kUseCover);
  Product cross = {{std::nullopt, firstRow, b.sub(rounds.tokens, firstRow)},
                   {SelectArray::Kept, firstKept, b.sub(numKept, firstKept)},
                   Reach::Before,
                   use};
  cross.coverFrom = begin;
  if (isOwn)
    cross.getLimit = [&](Value row) {
      Value t = b.add(firstRow, row);
      Value rank = rounds.readNumber(SelectArray::Rank, t);
      return b.select(b.isLess(t, begin), b.sub(rank, firstKept),
                      b.sub(numKept, firstKept));
    };

  if (hasHint()) {
    rounds.set(kStage, b.select(isDone, b.index(int64_t(SelectStage::List)),
                                b.index(int64_t(SelectStage::Decide))));
    Value end = openInherited(begin);
    Product inside = {{std::nullopt, begin, b.sub(end, begin)},
                      {SelectArray::Columns, {}, rounds.get(kNumColumns)},
                      Reach::Before,
                      b.index(kUseBits | (findsNearest() ? kUseBest : 0))};
    inside.isSearched = true;
    return publishGram({cross, inside});
  }

  Value end = b.min(b.add(begin, kChunk), rounds.tokens);
  Value isDirect;
  if (problem.rule == SelectRule::All) {
    isDirect = b.compare(CmpIPredicate::sle, rounds.tokens, b.index(kDirect));
    end = b.select(isDirect, rounds.tokens, end);
  }
  Value count = b.sub(end, begin);
  rounds.set(kChunkBegin, begin);
  rounds.set(kChunkEnd, end);
  rounds.set(kNumColumns, count);
  List tokens = {std::nullopt, begin, count};
  Product inside = {tokens, tokens, Reach::Before, b.index(kUseBits)};
  inside.getLimit = [](Value row) { return row; };
  Value next = isDone;
  SmallVector<Product> products = {cross, inside};
  if (problem.rule == SelectRule::All) {
    products[1].use = b.select(isDirect, b.index(kUseCover), b.index(kUseBits));
    next = arith::OrIOp::create(b, isDone, isDirect);
    // Kept tokens against earlier ones that are not kept.
    b.ifThen(isDone, [&] {
      compact.run(
          zero, rounds.tokens, zero,
          [&](Value t) {
            return b.isEqual(rounds.readNumber(SelectArray::Covered, t), 1);
          },
          [&](Value t, Value holds, Value before) {
            b.ifThen(holds,
                     [&] { rounds.write(t, SelectArray::Others, before); });
          });
      b.barrier();
    });
    products.push_back(
        {{SelectArray::Kept, {}, b.select(isDone, numKept, zero)},
         {SelectArray::Others, {}, b.sub(rounds.tokens, numKept)},
         Reach::Before,
         b.index(kUseCover)});
    products.back().getLimit = [&](Value row) {
      return b.sub(rounds.readNumber(SelectArray::Kept, row), row);
    };
  }
  rounds.set(kStage, b.select(next, b.index(int64_t(SelectStage::List)),
                              b.index(int64_t(SelectStage::Decide))));
  publishGram(products, canRecall() ? isDirect : Value());
}

/// The columns are the inherited representatives from `begin` on, as many as
/// there is room for. Returns where their chunk ends.
Value SelectKernel::openInherited(Value begin) {
  Value all = rounds.get(kNumInherited);
  // Those before `begin`.
  auto countEarlier = [&] {
    Value zero = b.i32(0), one = b.i32(1);
    Value mine =
        b.loop(b.thread(), all, b.getThreads(), zero,
               [&](Value j, ValueRange sum) {
                 Value id = b.readNumber(problem.oldIds, at(j));
                 Value part = b.select(b.isLess(id, begin), one, zero);
                 return Values{
                     arith::AddIOp::create(b, sum[0], part).getResult()};
               })
            .front();
    return b.toIndex(b.workgroupReduce(mine, GpuBuilder::Kind::ADD));
  };
  Value first =
      b.ifElse(b.isEqual(begin, 0), [&] { return b.index(0); }, countEarlier);
  Value rest = b.sub(all, first);
  Value count = b.min(rest, b.index(kMaxColumns - kSpareColumns));
  Value end = b.ifElse(
      b.isLess(count, rest),
      [&] { return b.readNumber(problem.oldIds, at(b.add(first, count))); },
      [&] { return rounds.tokens; });
  auto readId = [&](Value j) {
    return Values{b.readNumber(problem.oldIds, at(b.add(first, j)))};
  };
  forLoaded(b.index(0), count, readId, [&](Value j, ArrayRef<Value> ids) {
    Value id = ids.front();
    rounds.write(id, SelectArray::Columns, j);
    // Plus one, so that zeros say "none".
    rounds.write(b.add(j, 1), SelectArray::ColumnOf, id);
  });
  rounds.set(kChunkBegin, begin);
  rounds.set(kChunkEnd, end);
  rounds.set(kNumColumns, count);
  b.barrier();
  return end;
}

/// Appends what the chunk keeps to the representatives.
void SelectKernel::closeChunk() {
  Value begin = rounds.get(kChunkBegin), end = rounds.get(kChunkEnd);
  Value numBefore = rounds.get(kNumKept);
  auto isKept = [&](Value t) -> Value {
    if (!hasHint())
      return isColumnKept(b.sub(t, begin));
    Value column = rounds.readNumber(SelectArray::ColumnOf, t);
    Value kept = isColumnKept(b.max(b.sub(column, 1), b.index(0)));
    return b.both(kept, b.compare(CmpIPredicate::sgt, column, b.index(0)));
  };
  Value numKept = compact.run(
      begin, end, numBefore, isKept, [&](Value t, Value holds, Value before) {
        rounds.write(b.select(holds, b.i32(0), b.i32(1)), SelectArray::Covered,
                     t);
        rounds.write(before, SelectArray::Rank, t);
        b.ifThen(holds, [&] { rounds.write(t, SelectArray::Kept, before); });
      });
  // Columns past the end belong to the next chunk.
  if (hasHint())
    forTokens(b.index(0), rounds.get(kNumColumns), [&](Value j) {
      Value id = rounds.readNumber(SelectArray::Columns, j);
      b.ifThen(b.compare(CmpIPredicate::sge, id, end),
               [&] { rounds.write(b.i32(0), SelectArray::ColumnOf, id); });
    });
  b.barrier(); // All have read the words that change now.
  rounds.set(kNumBefore, numBefore);
  rounds.set(kNumKept, numKept);
  b.barrier();
}

//===----------------------------------------------------------------------===//
// Suspects
//===----------------------------------------------------------------------===//

/// Finds tokens that are not columns and that no kept column covers, and marks
/// which are kept columns.
void SelectKernel::emitCheck(Value item) {
  Value begin = rounds.get(kChunkBegin), end = rounds.get(kChunkEnd);
  Value row = b.add(b.mul(item, b.getThreads()), b.thread());
  Value exists = b.isLess(b.add(begin, row), end);
  row = b.min(row, b.sub(b.sub(end, begin), 1));
  Value t = b.add(begin, row);
  Value numWords = b.ceilDiv(rounds.get(kNumColumns), 32);
  Value column = rounds.readNumber(SelectArray::ColumnOf, t);
  auto getKept = [&](Value word, int64_t width) {
    return b.read(problem.to.control,
                  rounds.getControlPlace(b.add(word, kKeptMask)), width);
  };
  Value isColumn = b.compare(CmpIPredicate::sgt, column, b.index(0));
  Value own = b.max(b.sub(column, 1), b.index(0));
  Value ownWord =
      b.read(problem.to.control,
             rounds.getControlPlace(b.add(b.div(own, 32), kKeptMask)));
  Value isKept =
      b.compare(CmpIPredicate::ne,
                arith::AndIOp::create(b, ownWord, getBit(own)), b.i32(0));
  Value isOpen =
      b.both(b.isEqual(rounds.readNumber(SelectArray::Covered, t), 0),
             b.both(exists, b.isEqual(column, 0)));
  Value isHit = b.ifElse(
      isOpen,
      [&] {
        Value none = b.constant(b.vectorOf(4, b.getI32Type()), 0);
        Value found =
            b.loop(b.index(0), numWords, 4, none,
                   [&](Value word, ValueRange carried) {
                     Value mask = b.read(rounds.scratch,
                                         rounds.getBitPlace(row, word), 4);
                     Value hit =
                         arith::AndIOp::create(b, mask, getKept(word, 4));
                     return Values{
                         arith::OrIOp::create(b, carried[0], hit).getResult()};
                   })
                .front();
        return b.reduceLanes(found, [&](Value x, Value y) -> Value {
          return arith::OrIOp::create(b, x, y);
        });
      },
      [&] { return b.i32(0); });
  Value isSuspect =
      b.both(isOpen, b.compare(CmpIPredicate::eq, isHit, b.i32(0)));
  Value place = b.add(b.mul(item, b.getThreads()), b.thread());
  writeWord(WordSet::Suspects, place, isSuspect);
  writeWord(WordSet::Kept, place, b.both(exists, b.both(isColumn, isKept)));
}

void SelectKernel::addSuspects() {
  Value begin = rounds.get(kChunkBegin), end = rounds.get(kChunkEnd);
  Value columns = rounds.get(kNumColumns);
  // New columns begin at a whole tile, so that their product does not overwrite
  // the old bits.
  int64_t width = gram.getColumns();
  Value first = b.mul(b.ceilDiv(columns, width), width);
  Value room = b.sub(b.index(kMaxColumns), first);
  Value total =
      listWords(WordSet::Suspects, b.ceilDiv(b.sub(end, begin), 32), begin);
  Value count = b.min(total, room);
  Value newEnd = b.ifElse(
      b.isLess(count, total),
      [&] { return rounds.readNumber(SelectArray::Others, count); },
      [&] { return end; });
  b.barrier(); // All have read the words that change now.
  rounds.set(kChunkEnd, newEnd);
  // After a chunk of all tokens they only have to be listed.
  Value isNone = b.isEqual(count, 0);
  Value isWhole = b.both(b.isEqual(begin, 0),
                         b.compare(CmpIPredicate::eq, newEnd, rounds.tokens));
  b.ifThen(b.both(isNone, isWhole), [&] { rankKept(); });
  Value isPart = b.negate(isWhole);
  b.ifThen(b.both(isNone, isPart), [&] {
    loadKept();
    b.barrier();
    closeChunk();
    openChunk();
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
    setStage(SelectStage::Decide);
    // The list of the new columns alone, at its place in the bits.
    Product product = {{std::nullopt, begin, b.sub(newEnd, begin)},
                       {SelectArray::Others, {}, count},
                       Reach::Before,
                       b.index(kUseBits | (findsNearest() ? kUseBest : 0)),
                       first};
    product.isSearched = true;
    publishGram(product);
  });
}
