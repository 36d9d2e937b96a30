//===- SelectWords.cpp - Sets of tokens as words --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The workgroup that decides what comes next reads a word for 32 tokens; work
// on every token is done by all workgroups:
//
//   mark     words of what is kept
//   (ranks: how many are kept before each word)
//   close    ids, ranks, and words of tokens whose nearest was not kept
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Select/SelectKernel.h"

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;
using Values = GpuBuilder::Values;

/// Tokens of a word.
static constexpr int64_t kWord = 32;

/// Where word `i` of a set lies: one after the other in an array of tokens.
Value SelectKernel::getWordPlace(WordSet set, Value i) {
  // The sets lie in one array of a word per token, which has room for them all.
  Value words = b.add(b.div(rounds.tokens, kWord), 1);
  Value first = b.mul(words, static_cast<int64_t>(set));
  return rounds.getPlace(SelectArray::Suspects, b.add(first, i));
}

Value SelectKernel::readWord(WordSet set, Value i) {
  return b.read(problem.to.scratch, getWordPlace(set, i));
}

/// Writes the word of `row` and its 31 neighbours, for which `isInside` says
/// whether they are in the set: those of this thread and its neighbours.
void SelectKernel::writeWord(WordSet set, Value row, Value isInside) {
  Value word = b.select(isInside, getBit(row), b.i32(0));
  word = b.waveReduce(word, GpuBuilder::Kind::OR, kWord);
  Value isWriter = b.both(b.isEqual(b.rem(b.thread(), kWord), 0),
                          b.isLess(row, rounds.tokens));
  b.ifThen(isWriter, [&] {
    b.write(word, problem.to.scratch, getWordPlace(set, b.div(row, kWord)));
  });
}

/// Whether token t is in a set.
Value SelectKernel::isInWords(WordSet set, Value t) {
  Value word = readWord(set, b.div(t, kWord));
  Value bit = arith::AndIOp::create(b, word, getBit(t));
  return b.compare(CmpIPredicate::ne, bit, b.i32(0));
}

/// Calls `body` for the first `words` words of a set, with how many tokens are
/// before; returns how many there are. All threads take part.
Value SelectKernel::scanWords(WordSet set, Value words,
                              function_ref<void(Value, Value, Value)> body) {
  return b
      .loop(b.index(0), words, b.getThreads(), b.index(0),
            [&](Value first, ValueRange carried) {
              Value i = b.add(first, b.thread());
              Value exists = b.isLess(i, words);
              Value word = readWord(set, b.min(i, b.sub(words, 1)));
              word = b.select(exists, word, b.i32(0));
              Value number = math::CtPopOp::create(b, word);
              auto [before, total] = compact.scan(b.toIndex(number));
              Value start = b.add(carried[0], before);
              b.ifThen(exists, [&] { body(i, word, start); });
              return Values{b.add(carried[0], total)};
            })
      .front();
}

/// Lists `firstToken` plus the numbers of a set in Others.
Value SelectKernel::listWords(WordSet set, Value words, Value firstToken) {
  Value count = scanWords(set, words, [&](Value i, Value word, Value before) {
    Value base = b.add(firstToken, b.mul(i, kWord));
    Value number = b.toIndex(math::CtPopOp::create(b, word));
    b.loop(b.index(0), number, 1, word, [&](Value j, ValueRange carried) {
      Value left = carried[0];
      Value bit = math::CountTrailingZerosOp::create(b, left);
      rounds.write(b.add(base, b.toIndex(bit)), SelectArray::Others,
                   b.add(before, j));
      // x & (x - 1) clears the lowest bit.
      Value less = arith::SubIOp::create(b, left, b.i32(1));
      return Values{arith::AndIOp::create(b, left, less)};
    });
  });
  b.barrier(); // Other threads have written parts of the list.
  return count;
}

Value SelectKernel::getNumWords() { return b.ceilDiv(rounds.tokens, kWord); }

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

void SelectKernel::emitMark(Value item) {
  Value t = b.add(b.mul(item, b.getThreads()), b.thread());
  Value safe = b.min(t, b.sub(rounds.tokens, 1));
  Value isKept = b.isEqual(rounds.readNumber(SelectArray::Covered, safe), 0);
  writeWord(WordSet::Kept, t, b.both(isKept, b.isLess(t, rounds.tokens)));
}

/// The words of the kept tokens are written: counts them and lets tokens be
/// closed.
void SelectKernel::rankKept() {
  Value count = scanWords(WordSet::Kept, getNumWords(),
                          [&](Value i, Value, Value before) {
                            b.write(b.toI32(before), problem.to.scratch,
                                    getWordPlace(WordSet::Rank, i));
                          });
  rounds.set(kNumKept, count);
  rounds.set(kNumCommon, b.index(0));
  b.ifThen(b.isEqual(b.thread(), 0),
           [&] { b.write(b.toI32(count), problem.to.count, atHead()); });
  setStage(SelectStage::Close);
  rounds.publish(RoundKind::Close, b.ceilDiv(rounds.tokens, b.getThreads()));
}

void SelectKernel::emitClose(Value item) {
  Value t = b.add(b.mul(item, b.getThreads()), b.thread());
  Value exists = b.isLess(t, rounds.tokens);
  Value safe = b.min(t, b.sub(rounds.tokens, 1)), place = b.div(safe, kWord);
  Value word = readWord(WordSet::Kept, place), bit = getBit(safe);
  Value isKept = b.compare(CmpIPredicate::ne,
                           arith::AndIOp::create(b, word, bit), b.i32(0));
  Value earlier = arith::AndIOp::create(
      b, word, arith::SubIOp::create(b, bit, b.i32(1)).getResult());
  Value rank =
      arith::AddIOp::create(b, readWord(WordSet::Rank, place),
                            math::CtPopOp::create(b, earlier).getResult());
  b.ifThen(exists, [&] {
    rounds.write(b.select(isKept, b.i32(0), b.i32(1)), SelectArray::Covered, t);
    rounds.write(rank, SelectArray::Rank, t);
    b.ifThen(isKept, [&] {
      rounds.write(t, SelectArray::Kept, b.toIndex(rank));
      b.write(b.toI32(t), problem.to.ids, at(b.toIndex(rank)));
    });
  });
  if (!hasNearest())
    return;
  // The nearest among a superset of the representatives is also the nearest
  // representative, if it is one.
  auto getBest = [&](int64_t half) {
    return rounds.getPlace(SelectArray::Best, b.add(b.mul(safe, 2), half));
  };
  Value hasNone = b.compare(CmpIPredicate::eq,
                            b.read(problem.to.scratch, getBest(1)), b.i32(0));
  Value owner = arith::XOrIOp::create(b, b.read(problem.to.scratch, getBest(0)),
                                      b.i32(-1));
  owner = b.select(hasNone, safe, b.toIndex(owner));
  Value isRight = isInWords(WordSet::Kept, owner);
  Value isLost = b.both(b.both(exists, b.negate(isKept)), b.negate(isRight));
  b.ifThen(isLost, [&] {
    for (int64_t half : {0, 1})
      b.write(b.i32(0), problem.to.scratch, getBest(half));
  });
  writeWord(WordSet::Lost, t, isLost);
}
