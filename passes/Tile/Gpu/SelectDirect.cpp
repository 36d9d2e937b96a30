//===- SelectDirect.cpp - Selections whose sums fit into memory -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Among few tokens most time would pass between rounds, in which one workgroup
// decides and all others wait. Where the sums of all pairs s < t have room in
// memory, all is known beforehand and nobody has to decide what comes next:
//
//   norms    of a few rows each
//   shares   the steps of all tiles, one after the other, cut into equal
//   shares;
//            each leaves sums of its parts of tiles
//   groups   rows of one wave of a tile: a workgroup adds what shares have left
//            of them, a wave for each tile, and decides its rows
//
// Items are drawn in this order and wait only for those before them. A token
// depends on earlier ones alone, and groups ascend: a workgroup says of its
// tokens that they are kept or dropped as soon as it knows, and looks what
// others have said until nothing before the end of its group is open. What it
// then needs to find ranks and nearest representatives it has in registers.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/SelectKernel.h"

#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;
using LLVM::AtomicBinOp;
using Values = GpuBuilder::Values;

/// Shares of a tile, on average: who adds reads one after the other.
static constexpr int64_t kMaxParts = 8;
/// Steps of a share, at least.
static constexpr int64_t kMinSteps = 4;

/// Sums of a lane on gfx942, at most.
static constexpr int64_t kMaxSumsOnAmd = 32;

/// Sets of tokens, one bit each, in arrays that start as zeros.
static constexpr SelectArray kKeptSet = SelectArray::Suspects;
static constexpr SelectArray kDroppedSet = SelectArray::Touched;

bool SelectKernel::canBeDirect() const {
  // Twice the comparisons of a tile's columns in one kernel: on gfx942 scalar
  // registers would spill for large tiles.
  bool hasRegisters =
      b.getGpu().kind == GpuKind::Nvidia || gram.getNumSums() <= kMaxSumsOnAmd;
  return hasRegisters &&
         (problem.rule == SelectRule::All ||
          problem.rule == SelectRule::Kept) &&
         gram.hasRowGroups() && (findsNearest() || !hasNearest());
}

/// Tiles of columns that the rows of tile `row` are compared with.
Value SelectKernel::getWidth(Value row) {
  Value end = b.min(b.mul(b.add(row, 1), gram.getRows()), rounds.tokens);
  return b.ceilDiv(end, gram.getColumns());
}

/// Tiles of the rows before tile `row`.
Value SelectKernel::countTiles(Value row) {
  return b
      .loop(b.index(0), row, 1, b.index(0),
            [&](Value i, ValueRange sum) {
              return Values{b.add(sum[0], getWidth(i))};
            })
      .front();
}

SelectKernel::Direct SelectKernel::planDirect() {
  Direct plan;
  int64_t steps = gram.getSteps();
  plan.rowTiles = b.ceilDiv(rounds.tokens, gram.getRows());
  plan.tiles = countTiles(plan.rowTiles);
  plan.steps = b.mul(plan.tiles, steps);
  plan.shares = b.min(b.index(workgroups), b.mul(plan.tiles, kMaxParts));
  plan.shares = b.min(plan.shares, b.ceilDiv(plan.steps, kMinSteps));
  plan.norms = getNumNorms();
  plan.groups = b.ceilDiv(rounds.tokens, gram.getRows() / gram.getRowGroups());
  Value words = b.mul(b.add(plan.tiles, plan.shares), gram.getSumWords());
  Value isSmall =
      b.compare(CmpIPredicate::sle, rounds.tokens, b.index(kMaxColumns));
  plan.fits = b.both(
      isSmall, b.compare(CmpIPredicate::sle, words, rounds.getSplitWords()));
  return plan;
}

void SelectKernel::emitDirect(Value items) {
  rounds.runInOrder(workgroups, items, [&](Value item) {
    // Planned again for every item: scalar registers of gfx942 are few.
    Direct plan = planDirect();
    Value numSums = b.add(plan.norms, plan.shares);
    Value isNorms = b.isLess(item, plan.norms);
    Value isSums = b.isLess(item, numSums);
    b.ifThen(isNorms, [&] { emitNorms(item); });
    Value isLate = b.compare(CmpIPredicate::sge, item, plan.norms);
    b.ifThen(b.both(isLate, isSums),
             [&] { emitShare(plan, b.sub(item, plan.norms)); });
    b.ifThen(b.compare(CmpIPredicate::sge, item, numSums),
             [&] { emitGroup(plan, b.sub(item, numSums)); });
  });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void SelectKernel::emitShare(const Direct &plan, Value share) {
  int64_t steps = gram.getSteps();
  if (gram.multipliesScaled())
    rounds.waitFor(plan.norms);
  auto getBegin = [&](Value share) {
    return div32(b.mul(share, plan.steps), plan.shares);
  };
  Value begin = getBegin(share), end = getBegin(b.add(share, 1));
  Value sums = rounds.getSplitPlace();
  b.forEach(
      b.div(begin, steps), b.ceilDiv(end, steps), b.index(1), [&](Value tile) {
        // Where is it?
        Values place = b.loop(
            b.index(0), plan.rowTiles, 1, Values(3, b.index(0)),
            [&](Value row, ValueRange carried) {
              Value first = carried[0], next = b.add(first, getWidth(row));
              Value isHere = b.both(b.compare(CmpIPredicate::sle, first, tile),
                                    b.isLess(tile, next));
              return Values{next, b.select(isHere, row, carried[1]),
                            b.select(isHere, b.sub(tile, first), carried[2])};
            });
        loadNeighbours(0, place[1]);
        loadNeighbours(1, place[2]);
        b.barrier();
        Value first = b.mul(tile, steps);
        gram.compute(b.sub(b.max(begin, first), first),
                     b.sub(b.min(end, b.add(first, steps)), first));
        Value number = b.add(share, tile);
        gram.storeSums(problem.scratch,
                       b.add(sums, b.mul(number, gram.getSumWords())));
      });
}

/// Ids and scales of a side that has neighbours from tile `tile` on.
void SelectKernel::loadNeighbours(unsigned number, Value tile) {
  const GramTile::Side &side = gram.getSide(number);
  Value begin = b.mul(tile, side.extent);
  forTokens(b.index(0), b.index(side.extent), [&](Value local) {
    Value id = b.add(begin, local);
    Value exists = b.isLess(id, rounds.tokens);
    b.write(toI32(b.select(exists, id, b.index(-1))), side.ids, local);
    if (!gram.multipliesScaled())
      return;
    Value safe = b.min(id, b.sub(rounds.tokens, 1));
    Value scale = rounds.readF32(SelectArray::Scales, safe);
    b.write(
        b.select(exists, scale, b.f32(std::numeric_limits<float>::quiet_NaN())),
        side.scales, local);
  });
}

//===----------------------------------------------------------------------===//
// Groups of rows
//===----------------------------------------------------------------------===//

/// Calls `body` for the tiles of this wave, once the sums of its group of rows
/// are in registers; they are there already where `isThere` holds.
void SelectKernel::forTilesOfGroup(const Direct &plan, const Group &group,
                                   Value isThere,
                                   function_ref<void(Value columnTile)> body) {
  int64_t steps = gram.getSteps(), columns = gram.getColumnWaves();
  int64_t numWaves = b.getThreads() / b.getGpu().waveSize;
  auto getShare = [&](Value step) {
    return div32(b.sub(b.mul(b.add(step, 1), plan.shares), 1), plan.steps);
  };
  Value isMissing = arith::XOrIOp::create(
      b, isThere, arith::ConstantIntOp::create(b, b.getI1Type(), 1));
  Values sums = b.loop(
      b.wave(), group.units, numWaves, gram.getSums(),
      [&](Value unit, ValueRange carried) {
        Value columnTile = b.div(unit, columns);
        gram.standFor(gram.getWaveOf(group.inTile, b.rem(unit, columns)));
        gram.setSums(carried);
        Value tile = b.add(group.firstTile, columnTile);
        Value first = b.mul(tile, steps);
        gram.addSums(isMissing, problem.scratch, rounds.getSplitPlace(),
                     b.add(getShare(first), tile),
                     b.add(getShare(b.add(first, steps - 1)), tile));
        body(columnTile);
        gram.standFor({});
        return gram.getSums();
      });
  gram.setSums(sums);
}

/// What is known of tokens without workgroup memory; of columns, only of those
/// that are kept if `keptOnly`.
GramEpilogue::Token SelectKernel::readNeighbour(unsigned side, Value first,
                                                Value local, bool keptOnly) {
  Value id = b.add(first, local), last = b.sub(rounds.tokens, 1);
  Value exists = b.isLess(id, rounds.tokens), safe = b.min(id, last);
  GramEpilogue::Token token;
  token.id = toI32(b.select(exists, id, b.index(-1)));
  token.scale = rounds.readF32(SelectArray::Scales, safe);
  if (side == 1) {
    token.id = toI32(id);
    if (keptOnly)
      token.scale = b.select(hasBit(kept, safe), token.scale,
                             b.f32(std::numeric_limits<float>::quiet_NaN()));
  }
  if (problem.offsets)
    token.begin = rounds.read(SelectArray::Begins, safe);
  return token;
}

void SelectKernel::emitGroup(const Direct &plan, Value number) {
  rounds.waitFor(b.add(plan.norms, plan.shares));
  int64_t rows = gram.getRows() / gram.getRowGroups();
  Group group;
  group.begin = b.mul(number, rows);
  group.end = b.min(b.add(group.begin, rows), rounds.tokens);
  group.rowTile = b.div(number, gram.getRowGroups());
  group.inTile = b.rem(number, gram.getRowGroups());
  group.firstTile = countTiles(group.rowTile);
  group.units = b.ceilDiv(group.end, gram.getWaveColumns());
  Value firstRow = b.mul(group.rowTile, gram.getRows());

  GramEpilogue epilogue(b, gram, problem.similarity, theta, begins);
  auto boundOf = [](Value id) { return id; };
  epilogue.getBound = boundOf;
  auto read = [&](Value columnTile, bool keptOnly) {
    epilogue.readToken = [this, firstRow, columnTile, keptOnly](unsigned side,
                                                                Value local) {
      Value first = side == 0 ? firstRow : b.mul(columnTile, gram.getColumns());
      return readNeighbour(side, first, local, keptOnly);
    };
  };

  // Which of the earlier tokens cover a row?
  gram.clearSums();
  Value no = arith::ConstantIntOp::create(b, b.getI1Type(), 0);
  forTilesOfGroup(plan, group, no, [&](Value columnTile) {
    read(columnTile, /*keptOnly=*/false);
    Value firstWord = b.mul(columnTile, gram.getColumns() / 32);
    epilogue.run(nullptr, [&](Value id, Value local, Value bits) {
      b.write(bits, rounds.scratch,
              rounds.getBitPlace(toNumber(id), b.add(firstWord, local)));
    });
  });
  b.barrier();
  settle(group);

  // Who is nearest?
  if (hasNearest()) {
    forTokens(b.index(0), b.index(2 * rows),
              [&](Value i) { b.write(b.i32(0), bestOfGroup, i); });
    b.barrier();
    int64_t numWaves = b.getThreads() / b.getGpu().waveSize;
    Value isThere =
        b.compare(CmpIPredicate::sle, group.units, b.index(numWaves));
    forTilesOfGroup(plan, group, isThere, [&](Value columnTile) {
      read(columnTile, /*keptOnly=*/true);
      epilogue.run(
          [&](Value id, Value cosine, Value who) {
            Value row = b.sub(toNumber(id), group.begin);
            atomicUpdate(b, AtomicBinOp::umax, getKey(cosine, who), bestOfGroup,
                         b.mul(row, 2));
          },
          nullptr);
    });
  }
  writeGroup(group);
}

/// Decides the tokens of a group; `kept` is then the set of those before its
/// end that are kept.
void SelectKernel::settle(const Group &group) {
  int64_t waveSize = b.getGpu().waveSize, numWaves = b.getThreads() / waveSize;
  Value words = b.ceilDiv(group.end, 32), none = b.i32(0), all = b.i32(-1);
  auto passes = scf::WhileOp::create(b, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&passes.getBefore());
  // What has been said so far.
  Value open =
      b.loop(b.thread(), words, b.getThreads(), none,
             [&](Value i, ValueRange carried) {
               auto get = [&](SelectArray set) {
                 return atomicRead(b, problem.scratch, rounds.getPlace(set, i));
               };
               Value isKept = get(kKeptSet);
               Value said = arith::OrIOp::create(b, isKept, get(kDroppedSet));
               Value isOpen = arith::XOrIOp::create(b, said, all);
               // Nobody speaks for tokens past the end.
               Value rest = b.sub(group.end, b.mul(i, 32));
               Value inside = arith::SubIOp::create(
                   b, getBit(b.min(rest, b.index(31))), b.i32(1));
               inside = b.select(b.isLess(rest, 32), inside, all);
               isOpen = arith::AndIOp::create(b, isOpen, inside);
               b.write(isKept, kept, i);
               b.write(isOpen, undecided, i);
               return Values{
                   arith::OrIOp::create(b, carried[0], isOpen).getResult()};
             })
          .front();
  Value isAnyOpen = b.workgroupReduce(open, GpuBuilder::Kind::OR);
  b.forEach(b.add(group.begin, b.wave()), group.end, b.index(numWaves),
            [&](Value t) {
              b.ifThen(hasBit(undecided, t), [&] { judgeToken(t, waveSize); });
            });
  b.barrier(); // All have read the sets.
  scf::ConditionOp::create(b, b.compare(CmpIPredicate::ne, isAnyOpen, none),
                           ValueRange());
  b.createBlock(&passes.getAfter());
  scf::YieldOp::create(b);
}

/// Says what becomes of token t, if that is known; a wave takes part.
void SelectKernel::judgeToken(Value t, int64_t waveSize) {
  Value none = b.i32(0);
  Values found =
      b.loop(b.lane(), b.add(b.div(t, 32), 1), waveSize, Values{none, none},
             [&](Value word, ValueRange carried) -> Values {
               Value bits = b.read(rounds.scratch, rounds.getBitPlace(t, word));
               // Against all tokens, whoever covers one drops it.
               if (problem.rule == SelectRule::All)
                 return {arith::OrIOp::create(b, carried[0], bits), none};
               auto meet = [&](Value any, Value set) -> Value {
                 Value both = arith::AndIOp::create(b, bits, b.read(set, word));
                 return arith::OrIOp::create(b, any, both);
               };
               return {meet(carried[0], kept), meet(carried[1], undecided)};
             });
  auto isAny = [&](Value set) {
    Value any = b.waveReduce(set, GpuBuilder::Kind::OR);
    return b.compare(CmpIPredicate::ne, any, none);
  };
  Value isDropped = isAny(found[0]), isOpen = isAny(found[1]);
  Value isKnown = arith::OrIOp::create(
      b, isDropped,
      arith::XOrIOp::create(b, isOpen,
                            arith::ConstantIntOp::create(b, b.getI1Type(), 1)));
  b.ifThen(b.both(isKnown, b.isEqual(b.lane(), 0)), [&] {
    Value word = b.div(t, 32);
    Value place = b.select(isDropped, rounds.getPlace(kDroppedSet, word),
                           rounds.getPlace(kKeptSet, word));
    atomicUpdate(b, AtomicBinOp::_or, getBit(t), problem.scratch, place);
  });
}

/// The results of a group: `kept` and the largest cosines are known.
void SelectKernel::writeGroup(const Group &group) {
  Value words = b.ceilDiv(group.end, 32), none = b.i32(0);
  // Representatives before each word.
  Value isWord = b.isLess(b.thread(), words);
  Value word = b.read(kept, b.min(b.thread(), b.sub(words, 1)));
  Value number = math::CtPopOp::create(b, b.select(isWord, word, none));
  auto [before, total] = compact.scan(toNumber(number));
  b.ifThen(isWord, [&, before = before] {
    b.write(toI32(before), undecided, b.thread());
  });
  b.barrier();
  auto getRank = [&](Value t) {
    Value place = b.div(t, 32);
    Value earlier = arith::SubIOp::create(b, getBit(t), b.i32(1));
    Value same = arith::AndIOp::create(b, b.read(kept, place), earlier);
    Value rank =
        arith::AddIOp::create(b, b.read(undecided, place),
                              math::CtPopOp::create(b, same).getResult());
    return toNumber(rank);
  };
  Value isEnd = b.both(b.isEqual(b.thread(), 0),
                       b.compare(CmpIPredicate::eq, group.end, rounds.tokens));
  b.ifThen(isEnd, [&, total = total] {
    b.write(toI32(total), problem.count, atHead());
  });
  forTokens(b.index(0), b.sub(group.end, group.begin), [&](Value row) {
    Value t = b.add(group.begin, row), isKept = hasBit(kept, t);
    b.ifThen(isKept, [&] { b.write(toI32(t), problem.ids, at(getRank(t))); });
    if (!hasNearest())
      return;
    Value place = b.mul(row, 2);
    Value low = b.read(bestOfGroup, place);
    Value high = b.read(bestOfGroup, b.add(place, 1));
    Value who = arith::XOrIOp::create(b, low, b.i32(-1));
    who = b.select(b.compare(CmpIPredicate::ne, high, none), who, b.i32(-1));
    who = b.select(isKept, toI32(t), who);
    if (problem.nearest)
      b.write(who, problem.nearest, at(t));
    if (!problem.weight)
      return;
    b.ifThen(b.compare(CmpIPredicate::sge, who, none), [&] {
      Value slot = getRank(toNumber(who));
      if (head)
        slot = b.add(b.mul(head, rounds.tokens), slot);
      atomicUpdate(b, AtomicBinOp::add, b.i32(1), problem.weight, slot);
    });
  });
  b.barrier(); // All have read what the next group overwrites.
}
