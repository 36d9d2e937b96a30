//===- Selection.cpp - Selections on the CPU ------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A selection is a few phases over blocks of rows, all in one launch. A
// workgroup draws a ticket: a phase, a block and a head. It compares the rows
// of its block with candidates and then, in the order of the blocks, writes
// down what it found. So it waits for smaller tickets alone, whose holders are
// running, and this ends whatever number of workgroups run at once.
//
//   scan     (against all, against kept, and rule covering, for which the
//            inherited set could save nothing here): a block meets what the
//            blocks before it kept, as they become known, and then itself
//   nearest  where tokens may look ahead: redundant tokens meet what was kept
//            behind them, or was new
//   norms, validate, cover: the first phases of rule paper
//
// Nothing is stored but a few words per token.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/Selection.h"
#include "dialect/Formats.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Tile/Cpu/SelectionCosines.h"
#include "runtime/format/Theta.h"

#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;
using arith::CmpIPredicate;
using Values = TileBuilder::Values;

static constexpr int64_t kLanes = BufferBuilder::kLanes;
static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {
enum class Rule { All, Kept, Paper };

/// Words of control of a head. Each is on a cache line of its own that others
/// read while it is written.
enum Word : int64_t {
  kNextTicket = 0, ///< of all heads
  kFinished = 32,  ///< blocks, phases one after the other
  kNumKept = 64,   ///< representatives so far
  kNumValid = 96,  ///< tokens in the list of valid ones
  kNumNew,         ///< tokens in the list of new ones
  kNumRemoved,     ///< of the inherited
  kNumAdded,
  kControlWords = 128 ///< of a head
};

/// Arrays of one word per token, for each head.
enum Array : int64_t {
  kInverse, ///< f32: one over the norm
  kRank,    ///< representatives before the token
  kBest,    ///< f32: the largest cosine with a representative so far
  kWho,     ///< whose it is
  kFlag,    ///< 1 for a representative, or an inherited one that is valid
  kValid,   ///< list: ids of valid inherited representatives
  kNew,     ///< list: ids of representatives that are not inherited
  kNumArrays
};

/// What the kernel of a selection has.
struct Problem {
  Rule rule = Rule::Kept;
  Similarity similarity = Similarity::Absolute;
  bool isCausal = false;
  float theta = 0;
  Value tokens, taus, coefficients, residuals, oldIds, oldCount, oldNearest;
  Value ids, count, nearest, weight, removed, added, control, scratch;
};

class Selection {
public:
  Selection(BufferBuilder &b, const Problem &what)
      : b(b), what(what), f32(b.getF32Type()), i32(b.getI32Type()),
        type(cast<MemRefType>(what.tokens.getType())),
        heads(type.getRank() == 3 ? type.getDimSize(1) : 1) {}

  int64_t countPhases() const {
    return what.rule == Rule::Paper ? 4 : what.isCausal ? 1 : 2;
  }
  int64_t getNumHeads() const { return heads; }

  /// The code of one workgroup.
  void emit();

private:
  using Rows = SelectionCosines::Rows;
  using Candidates = SelectionCosines::Candidates;

  void emitScan();
  void emitBlock(Value isNeverCovered);
  void emitNearest();
  void emitNorms();
  void emitValidate();
  void emitCover();

  void setState();
  void loadState();
  void improve(Value row, Value cosines, Value ids, Value isEligible = {});
  void reduceRow(Value row);
  void commit(Value token, Value row, Value isKept);
  void addMember(Value who);
  void finishPhase(int64_t phase, bool isLast);
  void finishAll();
  void waitFor(Value blocks);

  /// What a cosine must reach to matter in a scan: a token that is redundant
  /// against the kept has one of at least theta, so smaller ones decide
  /// nothing. Null where they might.
  std::function<Value(Value)> getLimit() {
    if (what.rule != Rule::Kept || !what.coefficients)
      return nullptr;
    return [this](Value) { return theta; };
  }

  // Memory of the head.
  Value at(Array array, Value token) {
    return b.add(arrays, b.add(b.multiply(b.index(array), total), token));
  }
  Value read(Array array, Value token) {
    return b.load(what.scratch, at(array, token));
  }
  Value readFloat(Array array, Value token) {
    return arith::BitcastOp::create(b, f32, read(array, token));
  }
  void write(Value word, Array array, Value token) {
    if (word.getType() == f32)
      word = arith::BitcastOp::create(b, i32, word);
    b.store(word, what.scratch, at(array, token));
  }
  Value wordAt(Word word) { return b.add(words, word); }
  Value readWord(Word word) { return b.load(what.control, wordAt(word)); }
  void writeWord(Value value, Word word) {
    b.store(value, what.control, wordAt(word));
  }
  void addToWord(Value bit, Word word) {
    Value one = arith::ExtUIOp::create(b, i32, bit);
    writeWord(arith::AddIOp::create(b, readWord(word), one), word);
  }
  /// The indices of `token` in a part of a selection.
  Values part(Value token) {
    return type.getRank() == 3 ? Values{head, token} : Values{token};
  }
  Values one() { return type.getRank() == 3 ? Values{head} : Values{}; }
  Value isInherited(Value token) {
    return b.compare(CmpIPredicate::eq, b.load(what.oldNearest, part(token)),
                     b.toI32(token));
  }
  Value negate(Value bit) {
    return arith::XOrIOp::create(
        b, bit, arith::ConstantOp::create(b, b.getBoolAttr(true)));
  }

  BufferBuilder &b;
  const Problem &what;
  Type f32, i32;
  MemRefType type;
  int64_t heads;

  Value total, blocks;         ///< tokens, and blocks of them
  Value head, block, phase;    ///< of this workgroup
  Value words, arrays;         ///< where the head's control and arrays start
  Value theta;                 ///< of the head
  Rows rows;                   ///< of the block
  Value bests, owners, covers; ///< rows x lanes, and one number a row
  std::optional<SelectionCosines> cosines;
};
} // namespace

//===----------------------------------------------------------------------===//
// Rows of the block: what they have found
//===----------------------------------------------------------------------===//

void Selection::setState() {
  b.repeat(b.index(0), b.index(kSelectRows), 1, [&](Value row) {
    b.storeVector(b.splat(kLanes, f32, -kInfinity), bests, {row, b.index(0)});
    b.storeVector(b.splat(kLanes, i32, -1), owners, {row, b.index(0)});
    b.store(b.constant(-kInfinity), covers, row);
  });
}

/// Goes on from what an earlier phase has found.
void Selection::loadState() {
  setState();
  b.repeat(b.index(0), rows.count, 1, [&](Value row) {
    Value token = b.add(rows.first, row);
    Values first = {row, b.index(0)};
    b.store(readFloat(kBest, token), bests, first);
    b.store(read(kWho, token), owners, first);
  });
}

/// Takes four candidates into account, those that `isEligible` says.
void Selection::improve(Value row, Value cosines, Value ids, Value isEligible) {
  Values first = {row, b.index(0)};
  Value best = b.loadVector(bests, first), who = b.loadVector(owners, first);
  // Candidates of a lane come in ascending order; those of an earlier phase
  // may be larger.
  Value isTie = b.both(b.compare(CmpFPredicate::OEQ, cosines, best),
                       b.compare(CmpIPredicate::slt, ids, who));
  Value isBetter = arith::OrIOp::create(
      b, b.compare(CmpFPredicate::OGT, cosines, best), isTie);
  if (isEligible)
    isBetter = b.both(isBetter, isEligible);
  b.storeVector(b.choose(isBetter, cosines, best), bests, first);
  b.storeVector(b.choose(isBetter, ids, who), owners, first);
}

/// Puts the best of the lanes into the first.
void Selection::reduceRow(Value row) {
  Value zero = b.index(0);
  Value best = b.load(bests, {row, zero}), who = b.load(owners, {row, zero});
  for (int64_t lane = 1; lane < kLanes; ++lane) {
    Value cosine = b.load(bests, {row, b.index(lane)});
    Value id = b.load(owners, {row, b.index(lane)});
    // Without a sign, -1 for none is larger than every id.
    Value isTie = b.both(b.compare(CmpFPredicate::OEQ, cosine, best),
                         b.compare(CmpIPredicate::ult, id, who));
    Value isBetter = arith::OrIOp::create(
        b, b.compare(CmpFPredicate::OGT, cosine, best), isTie);
    best = b.choose(isBetter, cosine, best);
    who = b.choose(isBetter, id, who);
  }
  b.store(best, bests, {row, zero});
  b.store(who, owners, {row, zero});
}

//===----------------------------------------------------------------------===//
// The order of blocks
//===----------------------------------------------------------------------===//

/// Waits until that many blocks of the head are finished.
void Selection::waitFor(Value count) {
  Value wanted = b.toI32(count);
  b.repeatWhile([&] {
    return b.compare(CmpIPredicate::slt,
                     b.acquire(what.control, wordAt(kFinished)), wanted);
  });
}

/// Counts a redundant token; in the order of blocks.
void Selection::addMember(Value who) {
  // The rank of a representative is its place in the list of ids.
  Values slot = part(b.toIndex(read(kRank, b.toIndex(who))));
  Value members = b.load(what.weight, slot);
  b.store(arith::AddIOp::create(b, members, b.constantI32(1)), what.weight,
          slot);
}

/// Writes down whether a token is a representative; in the order of tokens.
void Selection::commit(Value token, Value row, Value isKept) {
  Value kept = readWord(kNumKept);
  write(kept, kRank, token);
  write(arith::ExtUIOp::create(b, i32, isKept), kFlag, token);
  if (what.oldNearest) {
    Value wasKept = isInherited(token);
    addToWord(b.both(wasKept, negate(isKept)), kNumRemoved);
    addToWord(b.both(isKept, negate(wasKept)), kNumAdded);
    if (what.rule == Rule::Paper)
      b.when(b.both(isKept, negate(wasKept)), [&] {
        Value listed = readWord(kNumNew);
        write(b.toI32(token), kNew, b.toIndex(listed));
        writeWord(arith::AddIOp::create(b, listed, b.constantI32(1)), kNumNew);
      });
  }
  auto choice = scf::IfOp::create(b, isKept, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(choice.thenBlock()->getTerminator());
    Value slot = b.toIndex(kept);
    b.store(b.toI32(token), what.ids, part(slot));
    b.store(b.constantI32(1), what.weight, part(slot));
    b.store(b.toI32(token), what.nearest, part(token));
    Value more = arith::AddIOp::create(b, kept, b.constantI32(1));
    // Released, because later blocks read the ids before this one is finished.
    b.release(more, what.control, wordAt(kNumKept));
  }
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(choice.elseBlock()->getTerminator());
    Value zero = b.index(0);
    Value who = b.load(owners, {row, zero});
    if (countPhases() > 1) { // Not the last word on who is nearest.
      write(b.load(bests, {row, zero}), kBest, token);
      write(who, kWho, token);
      return;
    }
    b.store(who, what.nearest, part(token));
    addMember(who);
  }
}

/// Lets the next block go on.
void Selection::finishPhase(int64_t number, bool isLast) {
  Value done = b.add(b.multiply(b.index(number), blocks), b.add(block, 1));
  if (isLast)
    b.when(b.compare(CmpIPredicate::eq, b.add(block, 1), blocks),
           [&] { finishAll(); });
  // Nobody waits for the very last: its words are zero again for the next call.
  Value word = b.toI32(done);
  if (isLast)
    word = b.choose(b.compare(CmpIPredicate::eq, b.add(block, 1), blocks),
                    b.constantI32(0), word);
  b.release(word, what.control, wordAt(kFinished));
}

/// The parts of the selection that only the last block knows.
void Selection::finishAll() {
  Value kept = readWord(kNumKept);
  b.store(kept, what.count, one());
  b.repeat(b.toIndex(kept), total, 1, [&](Value slot) {
    b.store(b.constantI32(-1), what.ids, part(slot));
    b.store(b.constantI32(0), what.weight, part(slot));
  });
  if (what.removed) {
    b.store(readWord(kNumRemoved), what.removed, one());
    b.store(readWord(kNumAdded), what.added, one());
  }
  for (Word word : {kNumKept, kNumValid, kNumNew, kNumRemoved, kNumAdded})
    writeWord(b.constantI32(0), word);
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

void Selection::emitNorms() {
  b.repeat(b.index(0), rows.count, 1, [&](Value row) {
    Value token = b.add(rows.first, row);
    write(cosines->emitInverseNorm(token), kInverse, token);
  });
}

/// Rows of the block against one another, and what becomes of them.
void Selection::emitBlock(Value isNeverCovered) {
  Value zero = b.index(0);
  Value inside = b.scratch({kSelectRows, kSelectRows}, f32);
  Value flags = b.scratch({kSelectRows}, b.getI1Type());
  auto keep = [&](Value row, Value found, Value ids) {
    Value column =
        b.sub(b.toIndex(vector::ExtractOp::create(b, ids, 0)), rows.first);
    b.storeVector(found, inside, {row, column});
  };
  b.when(negate(isNeverCovered), [&] {
    Candidates own = {rows.first, b.add(rows.first, rows.count),
                      [](Value number) { return number; }};
    if (!getLimit())
      return cosines->emit(rows, own, keep);
    b.repeat(zero, rows.count, 1, [&](Value row) {
      b.repeat(zero, b.index(kSelectRows), kLanes, [&](Value column) {
        b.storeVector(b.splat(kLanes, f32, -kInfinity), inside, {row, column});
      });
    });
    cosines->emit(rows, own, keep, getLimit());
  });
  b.repeat(zero, rows.count, 1, [&](Value row) {
    reduceRow(row);
    Value who = b.load(owners, {row, zero});
    Value best = b.load(bests, {row, zero});
    Value cover = what.rule == Rule::All ? b.load(covers, row) : best;
    // Nothing is compared where nothing can be covered.
    // Only earlier tokens of the block count, whose flags are set by now.
    Value end = b.choose(isNeverCovered, zero, row);
    Values found = b.loop(
        zero, end, 1, {best, who, cover}, [&](Value other, ValueRange carried) {
          Value cosine = b.load(inside, {row, other});
          Value isKept = b.load(flags, other);
          Value isBetter =
              b.both(isKept, b.compare(CmpFPredicate::OGT, cosine, carried[0]));
          Value id = b.toI32(b.add(rows.first, other));
          Value isCloser = b.compare(CmpFPredicate::OGT, cosine, carried[2]);
          if (what.rule == Rule::Kept)
            isCloser = isBetter;
          return Values{b.choose(isBetter, cosine, carried[0]),
                        b.choose(isBetter, id, carried[1]),
                        b.choose(isCloser, cosine, carried[2])};
        });
    b.store(found[0], bests, {row, zero});
    b.store(found[1], owners, {row, zero});
    Value isKept = negate(b.compare(CmpFPredicate::OGE, found[2], theta));
    b.store(isKept, flags, row);
    commit(b.add(rows.first, row), row, isKept);
  });
}

void Selection::emitScan() {
  emitNorms();
  setState();
  // tau = 0 keeps everything by definition: nothing has to be compared.
  Value isNever = b.compare(CmpFPredicate::OEQ, theta, b.constant(kInfinity));
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
    Value flags = b.loadVector(what.scratch, at(kFlag, first));
    improve(row, found, ids,
            b.compare(CmpIPredicate::ne, flags, b.splat(kLanes, i32, 0)));
  };
  // Works on what is known while it waits. The last round begins when all
  // blocks before have finished, so nothing is missed.
  b.repeatWhile([&]() -> Value {
    // Read before the number of kept ones: if it says that all blocks before
    // are finished, that number is final.
    Value finished = b.acquire(what.control, wordAt(kFinished));
    Value known;
    Candidates some;
    some.begin = b.load(done, zero);
    if (what.rule == Rule::Kept) {
      known = b.toIndex(b.acquire(what.control, wordAt(kNumKept)));
      some.token = [&](Value number) {
        return b.loadIndex(what.ids, part(number));
      };
    } else {
      known = b.mul(b.toIndex(finished), kSelectRows);
      some.token = [](Value number) { return number; };
    }
    some.end = b.choose(isNever, zero, known);
    cosines->emit(rows, some, visit, getLimit());
    b.store(some.end, done, zero);
    return b.compare(CmpIPredicate::slt, finished, mine);
  });
  emitBlock(isNever);
}

/// Redundant tokens meet the representatives they have not met yet.
void Selection::emitNearest() {
  bool isPaper = what.rule == Rule::Paper;
  waitFor(b.multiply(b.index(countPhases() - 1), blocks));
  loadState();
  Rows redundant = rows;
  redundant.isActive = [&](Value row) -> Value {
    Value flags;
    for (int64_t i = 0; i < kLanes; ++i) {
      Value last = b.smaller(b.add(row, i), b.add(rows.count, -1));
      Value flag = read(kFlag, b.add(rows.first, last));
      flags = flags ? b.both(flags, flag) : flag;
    }
    return b.compare(CmpIPredicate::eq, flags, b.constantI32(0));
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
      return b.loadIndex(what.ids, part(number));
    };
  }
  auto visit = [&](Value row, Value found, Value ids) {
    improve(row, found, ids);
  };
  // Smaller than the best so far is as good as unseen.
  cosines->emit(redundant, others, visit,
                [&](Value row) { return b.load(bests, {row, b.index(0)}); });
  waitFor(b.add(b.multiply(b.index(countPhases() - 1), blocks), block));
  b.repeat(b.index(0), rows.count, 1, [&](Value row) {
    Value token = b.add(rows.first, row);
    Value isRedundant =
        b.compare(CmpIPredicate::eq, read(kFlag, token), b.constantI32(0));
    b.when(isRedundant, [&] {
      reduceRow(row);
      Value who = b.load(owners, {row, b.index(0)});
      b.store(who, what.nearest, part(token));
      addMember(who);
    });
  });
}

/// Which inherited representatives no earlier one of them covers.
void Selection::emitValidate() {
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
        Value there = b.smaller(middle, b.add(total, -1));
        Value isBefore = b.compare(CmpIPredicate::slt,
                                   b.loadIndex(what.oldIds, part(there)), last);
        Value nextLow = b.choose(isBefore, b.add(middle, 1), low);
        Value nextHigh = b.choose(isBefore, high, middle);
        return Values{b.choose(isOpen, nextLow, low),
                      b.choose(isOpen, nextHigh, high)};
      });
  old.end = found[0];
  old.token = [&](Value n) { return b.loadIndex(what.oldIds, part(n)); };
  auto visit = [&](Value row, Value cosine, Value ids) {
    Value own = b.broadcast(b.toI32(b.add(rows.first, row)), kLanes);
    Value isEarlier = b.compare(CmpIPredicate::slt, ids, own);
    Value eligible =
        b.choose(isEarlier, cosine, b.splat(kLanes, f32, -kInfinity));
    Value cover = vector::ReductionOp::create(b, vector::CombiningKind::MAXNUMF,
                                              eligible, b.load(covers, row));
    b.store(cover, covers, row);
  };
  cosines->emit(rows, old, visit, [&](Value) { return theta; });
  waitFor(b.add(blocks, block));
  b.repeat(zero, rows.count, 1, [&](Value row) {
    Value token = b.add(rows.first, row);
    Value isCovered = b.compare(CmpFPredicate::OGE, b.load(covers, row), theta);
    Value isValid = b.both(isInherited(token), negate(isCovered));
    write(arith::ExtUIOp::create(b, i32, isValid), kFlag, token);
    b.when(isValid, [&] {
      Value listed = readWord(kNumValid);
      write(b.toI32(token), kValid, b.toIndex(listed));
      writeWord(arith::AddIOp::create(b, listed, b.constantI32(1)), kNumValid);
    });
  });
}

/// Which other tokens no valid representative covers, earlier or later.
void Selection::emitCover() {
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
  b.repeat(b.index(0), rows.count, 1, [&](Value row) {
    reduceRow(row);
    Value token = b.add(rows.first, row);
    Value best = b.load(bests, {row, b.index(0)});
    Value isValid =
        b.compare(CmpIPredicate::ne, read(kFlag, token), b.constantI32(0));
    Value isNew = negate(b.compare(CmpFPredicate::OGE, best, theta));
    commit(token, row, b.choose(isInherited(token), isValid, isNew));
  });
}

void Selection::emit() {
  Value zero = b.index(0);
  total = memref::DimOp::create(b, what.tokens, 0);
  blocks = b.divideUp(total, kSelectRows);
  Value ticket =
      b.toIndex(b.fetchAdd(b.constantI32(1), what.control, b.index(0)));
  Value last = b.add(b.mul(blocks, heads * countPhases()), -1);
  b.when(b.compare(CmpIPredicate::eq, ticket, last), [&] {
    // The holder of the last ticket clears the word for the next call.
    b.store(b.constantI32(0), what.control, b.index(kNextTicket));
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
  arrays = b.multiply(head, b.mul(total, kNumArrays));
  rows.first = b.mul(block, kSelectRows);
  rows.count = b.smaller(b.index(kSelectRows), b.sub(total, rows.first));
  bests = b.scratch({kSelectRows, kLanes}, f32);
  owners = b.scratch({kSelectRows, kLanes}, i32);
  covers = b.scratch({kSelectRows}, f32);
  theta = b.constant(what.theta);
  if (what.taus)
    theta =
        createTheta(b, b.load(what.taus, type.getRank() == 3 ? head : zero));
  cosines.emplace(b, what.tokens, what.coefficients, what.residuals,
                  what.similarity, head,
                  [this](Value token) { return readFloat(kInverse, token); });

  using Phase = void (Selection::*)();
  SmallVector<Phase> phases = {&Selection::emitScan};
  if (what.rule == Rule::Paper)
    phases = {&Selection::emitNorms, &Selection::emitValidate,
              &Selection::emitCover};
  if (countPhases() > 1)
    phases.push_back(&Selection::emitNearest);
  for (auto [number, emitPhase] : llvm::enumerate(phases))
    b.when(b.compare(CmpIPredicate::eq, phase, b.index(number)), [&] {
      // The code of every phase is there once; the ticket says which is run.
      (this->*emitPhase)();
      auto order = static_cast<int64_t>(number);
      // Some phases have waited for their turn already, and pass here at once.
      waitFor(b.add(b.multiply(b.index(order), blocks), block));
      finishPhase(order, number + 1 == phases.size());
    });
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {
/// Finds the buffers of a selection.
class ProblemReader {
public:
  ProblemReader(BufferBuilder &b, func::FuncOp kernel,
                BufferArguments &arguments)
      : b(b), kernel(kernel), arguments(arguments) {}

  FailureOr<Problem> read(Operation *op) {
    Problem problem;
    LogicalResult status = success();
    if (auto select = dyn_cast<GramSelectOp>(op)) {
      problem.rule =
          select.getAgainst() == Against::All ? Rule::All : Rule::Kept;
      status = readOptions(select, problem);
    } else {
      auto update = cast<CascadeUpdateOp>(op);
      auto pack = update.getInherited().getDefiningOp<PackSelectionOp>();
      if (!pack || update.getRule() == CascadeRule::Inherit)
        return update.emitOpError(
            "passes a selection on, which does not need a kernel");
      problem.rule =
          update.getRule() == CascadeRule::Paper ? Rule::Paper : Rule::Kept;
      problem.oldNearest = b.toBuffer(pack.getNearest());
      if (problem.rule == Rule::Paper) {
        problem.oldIds = b.toBuffer(pack.getIds());
        problem.oldCount = b.toBuffer(pack.getCount());
      }
      status = readOptions(update, problem);
    }
    if (failed(status))
      return failure();
    readResults(problem);
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      if (kernel.getArgAttr(i, kControlArgAttr))
        problem.control = arguments.get(kernel.getArgument(i));
    if (!problem.control || !problem.scratch || !problem.weight)
      return op->emitOpError("has no scratch memory");
    return problem;
  }

private:
  template <typename OpTy>
  LogicalResult readOptions(OpTy op, Problem &problem) {
    auto isWhole = [](Value rows) {
      int64_t size = cast<RankedTensorType>(rows.getType()).getShape().back();
      return !ShapedType::isDynamic(size) && size % kLanes == 0;
    };
    if (op.getOffsets())
      return op.emitOpError("has offsets, which CPU kernels do not read yet");
    if (!isWhole(op.getTokens()) ||
        (op.getCoefficients() && !isWhole(op.getCoefficients())))
      return op.emitOpError("has rows whose size is not a multiple of ")
             << kLanes << " numbers";
    problem.similarity = op.getSimilarity();
    problem.isCausal = op.getCausal();
    problem.theta = thetaOfTau(op.getTau().convertToFloat());
    problem.tokens = b.toBuffer(op.getTokens());
    if (op.getTaus())
      problem.taus = b.toBuffer(op.getTaus());
    if (op.getCoefficients()) {
      problem.coefficients = b.toBuffer(op.getCoefficients());
      problem.residuals = b.toBuffer(op.getResiduals());
    }
    return success();
  }

  void readResults(Problem &problem) {
    auto end = cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
    unsigned first = kernel.getNumArguments() - end.getNumOperands();
    for (auto [i, value] : llvm::enumerate(end.getOperands())) {
      Value buffer = arguments.get(kernel.getArgument(first + i));
      auto result = dyn_cast<OpResult>(value);
      if (!result) {
        if (!kernel.getArgAttr(first + i, kControlArgAttr))
          problem.scratch = buffer;
        continue;
      }
      Value *parts[] = {&problem.ids, &problem.count, &problem.nearest,
                        &problem.weight};
      Value *counts[] = {nullptr, &problem.removed, &problem.added};
      if (isa<UnpackSelectionOp>(result.getOwner()))
        *parts[result.getResultNumber()] = buffer;
      else if (isa<CascadeUpdateOp>(result.getOwner()))
        *counts[result.getResultNumber()] = buffer;
    }
  }

  BufferBuilder &b;
  func::FuncOp kernel;
  BufferArguments &arguments;
};
} // namespace

Operation *gist::findSelection(func::FuncOp kernel) {
  Operation *selection = nullptr;
  kernel.walk([&](Operation *op) {
    if (isa<GramSelectOp, CascadeUpdateOp>(op))
      selection = op;
  });
  return selection;
}

FailureOr<KernelScratch> gist::getSelectionScratch(func::FuncOp kernel) {
  Operation *op = findSelection(kernel);
  auto type = cast<SelectionType>(op->getResult(0).getType());
  int64_t heads = type.getHeads().value_or(1);
  FailureOr<SmallVector<AffineExpr>> sizes =
      getSizeExprs(kernel, op->getOperand(0));
  if (failed(sizes))
    return failure();
  KernelScratch scratch;
  scratch.tensors.push_back({{sizes->front() * (heads * kNumArrays)},
                             IntegerType::get(kernel.getContext(), 32)});
  scratch.controlWords = heads * kControlWords;
  // finishAll and the last ticket write zeros again.
  scratch.leavesZero = true;
  return scratch;
}

FailureOr<scf::ForallOp> gist::distributeSelection(RewriterBase &rewriter,
                                                   Operation *op) {
  auto kernel = op->getParentOfType<func::FuncOp>();
  rewriter.setInsertionPoint(kernel.getBody().front().getTerminator());
  BufferBuilder b(op->getLoc(), rewriter);
  BufferArguments arguments(kernel);
  FailureOr<Problem> problem = ProblemReader(b, kernel, arguments).read(op);
  if (failed(problem))
    return failure();
  Selection selection(b, *problem);
  OpFoldResult tokens =
      tensor::getMixedSize(b, op->getLoc(), op->getOperand(0), 0);
  auto forall =
      scf::ForallOp::create(b, SmallVector<OpFoldResult>(2, b.getIndexAttr(0)),
                            {tokens, b.getIndexAttr(selection.countPhases() *
                                                    selection.getNumHeads())},
                            {b.getIndexAttr(kSelectRows), b.getIndexAttr(1)},
                            ValueRange(), std::nullopt);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(forall.getTerminator());
    selection.emit();
  }
  arguments.finish(rewriter);
  return forall;
}
