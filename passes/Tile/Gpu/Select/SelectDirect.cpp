//===- SelectDirect.cpp - Selections whose sums fit into memory -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Among few tokens most time would pass between rounds, in which one workgroup
// decides and all others wait. Where the sums of all pairs s < t have room in
// memory, the work is known beforehand and no workgroup has to decide what
// comes next:
//
//   norms    of a few rows each, unless the diagonal of the sums has them
//   shares   equal parts of the steps of all tiles, one after the other; each
//            leaves sums of its parts of tiles
//   groups   rows of one wave of a tile: a workgroup adds what shares have left
//            of them, a wave for each tile, and decides its rows
//
// Items are drawn in this order and wait only for those before them. A token
// depends on earlier ones alone, and groups ascend: a workgroup says of its
// tokens that they are kept or dropped as soon as it knows, and looks what
// others have said until nothing before the end of its group is open. The sums
// in which it then finds the nearest representatives are still in registers.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Select/SelectKernel.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;
using LLVM::AtomicBinOp;
using Values = GpuBuilder::Values;

/// Shares of a tile, on average: they are added one after the other.
static constexpr int64_t kMaxParts = 8;
/// Steps of a share, at least.
static constexpr int64_t kMinSteps = 4;

/// Sums that a lane may have in registers, and of how many columns of waves.
static constexpr int64_t kMaxSums = 128, kMaxUnits = 4;
/// Sums of a tile in a lane on gfx942, at most.
static constexpr int64_t kMaxSumsOnAmd = 32;

/// Sets of tokens, one bit each, in arrays that start as zeros.
static constexpr SelectArray kKeptSet = SelectArray::Suspects;
static constexpr SelectArray kDroppedSet = SelectArray::Touched;

bool SelectKernel::canBeDirect() const {
  // Twice the comparisons of a tile's columns in one kernel: on gfx942 scalar
  // registers would spill for large tiles.
  bool hasRegisters =
      b.getGpu().kind == GpuKind::Nvidia || gram.getNumSums() <= kMaxSumsOnAmd;
  bool hasWholeSides = gram.getRows() % gram.getColumns() == 0 ||
                       gram.getColumns() % gram.getRows() == 0;
  return hasRegisters &&
         (problem.rule == SelectRule::All ||
          problem.rule == SelectRule::Kept) &&
         gram.hasRowGroups() && hasWholeSides &&
         (findsNearest() || !hasNearest());
}

int64_t SelectKernel::getNumWaves() const {
  return b.getThreads() / b.getGpu().waveSize;
}

int64_t SelectKernel::getGroupRows() const {
  return gram.getRows() / gram.getRowGroups();
}

/// Columns of waves of which a wave has the sums in registers at once.
int64_t SelectKernel::getUnitsOfWave() const {
  return std::clamp<int64_t>(kMaxSums / gram.getNumSums(), 1, kMaxUnits);
}

int64_t SelectKernel::getDirectTokens() const {
  return std::min(getUnitsOfWave() * getNumWaves() * gram.getWaveColumns(),
                  kMaxColumns);
}

/// Tiles of columns that the rows of tile `row` are compared with.
Value SelectKernel::getWidth(Value row) {
  Value end = b.min(b.mul(b.add(row, 1), gram.getRows()), rounds.tokens);
  return b.ceilDiv(end, gram.getColumns());
}

/// Tiles of the rows before tile `row`, which are all whole.
Value SelectKernel::countTiles(Value row) {
  int64_t rows = gram.getRows(), columns = gram.getColumns();
  if (rows % columns == 0)
    return b.mul(b.div(b.mul(row, b.add(row, 1)), 2), rows / columns);
  // Every `same` rows there is one more tile.
  assert(columns % rows == 0 && "one side is a multiple of the other");
  int64_t same = columns / rows;
  // Rows of one level have `next` tiles each.
  Value level = b.div(row, same), next = b.add(level, 1);
  Value whole = b.mul(b.div(b.mul(level, next), 2), same);
  return b.add(whole, b.mul(b.rem(row, same), next));
}

SelectKernel::Direct SelectKernel::planDirect() {
  Direct plan;
  int64_t steps = gram.getSteps();
  plan.rowTiles = b.ceilDiv(rounds.tokens, gram.getRows());
  Value last = b.sub(plan.rowTiles, 1);
  plan.tiles = b.add(countTiles(last), getWidth(last));
  plan.steps = b.mul(plan.tiles, steps);
  plan.shares = b.min(b.index(workgroups), b.mul(plan.tiles, kMaxParts));
  plan.shares = b.min(plan.shares, b.ceilDiv(plan.steps, kMinSteps));
  plan.norms = hasDiagonal() ? b.index(0) : getNumNorms();
  plan.groups = b.ceilDiv(rounds.tokens, getGroupRows());
  Value words = b.mul(b.add(plan.tiles, plan.shares), gram.getSumWords());
  Value isSmall =
      b.compare(CmpIPredicate::sle, rounds.tokens, b.index(getDirectTokens()));
  plan.fits = b.both(
      isSmall, b.compare(CmpIPredicate::sle, words, rounds.getSplitWords()));
  return plan;
}

void SelectKernel::emitDirect(Value items) {
  auto countAwaited = [&] {
    Direct plan = planDirect();
    return b.add(plan.norms, plan.shares);
  };
  rounds.runInOrder(workgroups, items, countAwaited, [&](Value item) {
    // Planned again for every item: scalar registers of gfx942 are few.
    Direct plan = planDirect();
    Value numSums = b.add(plan.norms, plan.shares);
    Value isSums = b.isLess(item, numSums);
    if (!hasDiagonal())
      b.ifThen(b.isLess(item, plan.norms), [&] { emitNorms(item); });
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
  // Without items for norms, the shares clear the tokens.
  if (hasDiagonal()) {
    Value count =
        div32(b.sub(b.add(rounds.tokens, plan.shares), 1), plan.shares);
    Value first = b.mul(share, count);
    forTokens(first, b.min(b.add(first, count), rounds.tokens),
              [&](Value t) { clearToken(t); });
  }
  auto getBegin = [&](Value share) {
    return div32(b.mul(share, plan.steps), plan.shares);
  };
  Value begin = getBegin(share), end = getBegin(b.add(share, 1));
  Value sums = rounds.getSplitPlace();
  b.forEach(
      b.div(begin, steps), b.ceilDiv(end, steps), b.index(1), [&](Value tile) {
        // The row and column of the tile.
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
        // Unique: where a share goes on to the next tile only the tile changes,
        // and where a tile goes on in the next share only the share does.
        Value number = b.add(share, tile);
        gram.storeSums(problem.to.scratch,
                       b.add(sums, b.mul(number, gram.getSumWords())));
      });
}

/// The share that has step `step` of all.
Value SelectKernel::getShare(const Direct &plan, Value step) {
  return div32(b.sub(b.mul(b.add(step, 1), plan.shares), 1), plan.steps);
}

/// Ids and scales of a side that has neighbours from tile `tile` on.
void SelectKernel::loadNeighbours(unsigned number, Value tile) {
  const GramTile::Side &side = gram.getSide(number);
  Value begin = b.mul(tile, side.extent);
  forTokens(b.index(0), b.index(side.extent), [&](Value local) {
    Value id = b.add(begin, local);
    Value exists = b.isLess(id, rounds.tokens);
    b.write(b.toI32(b.select(exists, id, b.index(-1))), side.ids, local);
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

/// Calls `body` for each of this wave's columns of waves that exists, with the
/// sums of the group's rows in registers: added up first if there are none of
/// them yet, and then left in `sums`.
void SelectKernel::forUnits(const Direct &plan, const Group &group,
                            SmallVectorImpl<Values> &sums,
                            function_ref<void(Value columnTile)> body) {
  int64_t steps = gram.getSteps(), columns = gram.getColumnWaves();
  bool isFirst = sums.empty();
  for (int64_t i = 0; i < getUnitsOfWave(); ++i) {
    Value unit = b.add(b.wave(), i * getNumWaves());
    gram.clearSums();
    Values zeros = gram.getSums();
    auto branch = scf::IfOp::create(
        b, isFirst ? TypeRange(ValueRange(zeros)) : TypeRange(),
        b.isLess(unit, group.units), /*withElseRegion=*/isFirst);
    if (isFirst) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(b, zeros);
    }
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value columnTile = b.div(unit, columns);
    gram.standFor(gram.getWaveOf(group.inTile, b.rem(unit, columns)));
    if (isFirst) {
      Value tile = b.add(group.firstTile, columnTile);
      Value first = b.mul(tile, steps);
      gram.addSums(arith::ConstantIntOp::create(b, b.getI1Type(), 1),
                   problem.to.scratch, rounds.getSplitPlace(),
                   b.add(getShare(plan, first), tile),
                   b.add(getShare(plan, b.add(first, steps - 1)), tile));
    } else {
      gram.setSums(sums[i]);
    }
    body(columnTile);
    gram.standFor({});
    if (!isFirst)
      continue;
    scf::YieldOp::create(b, gram.getSums());
    sums.push_back(Values(branch.getResults()));
  }
}

/// What is known of number `local` of a side. Scales of columns are those in
/// workgroup memory.
GramEpilogue::Token SelectKernel::readNeighbour(unsigned side, Value first,
                                                Value local) {
  Value id = b.add(first, local), last = b.sub(rounds.tokens, 1);
  Value safe = b.min(id, last);
  GramEpilogue::Token token;
  if (side == 1) {
    token.id = b.toI32(id);
    token.scale = b.read(columnScales, id);
  } else {
    Value exists = b.isLess(id, rounds.tokens);
    token.id = b.toI32(b.select(exists, id, b.index(-1)));
    token.scale = b.read(rowScales, b.rem(local, getGroupRows()));
  }
  if (problem.offsets)
    token.begin = rounds.read(SelectArray::Begins, safe);
  return token;
}

/// Whether norms are those of the sums on the diagonal.
bool SelectKernel::hasDiagonal() const {
  return gram.canFindSums() && !gram.multipliesScaled();
}

/// The inverse norm of a token, from the sums of its row and column.
Values SelectKernel::findScales(const Direct &plan, ArrayRef<Value> tokens) {
  int64_t steps = gram.getSteps();
  Values firsts, counts, places, sums(tokens.size(), b.f32(0));
  for (Value t : tokens) {
    Value row = b.div(t, gram.getRows()), column = b.div(t, gram.getColumns());
    Value tile = b.add(countTiles(row), column), step = b.mul(tile, steps);
    Value first = getShare(plan, step),
          last = getShare(plan, b.add(step, steps - 1));
    Value place =
        gram.getSumPlace(b.rem(t, gram.getRows()), b.rem(t, gram.getColumns()));
    firsts.push_back(
        b.add(rounds.getSplitPlace(),
              b.add(b.mul(b.add(first, tile), gram.getSumWords()), place)));
    counts.push_back(b.sub(last, first));
  }
  // No tile has more parts. Two at a time are in flight.
  constexpr int64_t kTogether = 2;
  Value most = b.add(div32(b.mul(plan.shares, steps), plan.steps), 2);
  sums = b.loop(
      b.index(0), most, kTogether, sums, [&](Value begin, ValueRange carried) {
        Values parts, next(carried);
        auto forEach = [&](function_ref<void(size_t token, Value part)> body) {
          for (int64_t i = 0; i < kTogether; ++i)
            for (size_t token = 0; token < tokens.size(); ++token)
              body(token, b.add(begin, i));
        };
        forEach([&](size_t token, Value part) {
          Value place = b.mul(b.min(part, counts[token]), gram.getSumWords());
          Value word = b.read(problem.to.scratch, b.add(firsts[token], place));
          parts.push_back(arith::BitcastOp::create(b, b.getF32Type(), word));
        });
        ArrayRef<Value> left(parts);
        forEach([&](size_t token, Value part) {
          Value exists = b.compare(CmpIPredicate::sle, part, counts[token]);
          Value sum = b.add(next[token], left.front());
          next[token] = b.select(exists, sum, next[token]);
          left = left.drop_front();
        });
        return next;
      });
  for (Value &sum : sums)
    sum = getScale(sum);
  return sums;
}

/// Scales of the columns and rows of a group, in workgroup memory.
void SelectKernel::loadScales(const Direct &plan, const Group &group) {
  constexpr int64_t kTogether = 8;
  int64_t threads = b.getThreads();
  Value end = b.mul(group.units, gram.getWaveColumns());
  b.forEach(b.thread(), end, b.index(kTogether * threads), [&](Value first) {
    Values numbers, tokens, scales;
    for (int64_t i = 0; i < kTogether; ++i) {
      numbers.push_back(b.add(first, i * threads));
      tokens.push_back(b.min(numbers.back(), b.sub(rounds.tokens, 1)));
    }
    if (hasDiagonal())
      scales = findScales(plan, tokens);
    else
      for (Value t : tokens)
        scales.push_back(rounds.readF32(SelectArray::Scales, t));
    for (auto [i, scale] : llvm::zip_equal(numbers, scales))
      b.ifThen(b.isLess(i, end), [&, i = i, scale = scale] {
        b.write(scale, columnScales, i);
        Value row = b.sub(i, group.begin);
        Value isRow = b.both(b.compare(CmpIPredicate::sge, row, b.index(0)),
                             b.isLess(row, getGroupRows()));
        b.ifThen(isRow, [&] { b.write(scale, rowScales, row); });
      });
  });
}

void SelectKernel::emitGroup(const Direct &plan, Value number) {
  rounds.waitFor(b.add(plan.norms, plan.shares));
  int64_t rows = getGroupRows();
  Group group;
  group.begin = b.mul(number, rows);
  group.end = b.min(b.add(group.begin, rows), rounds.tokens);
  group.rowTile = b.div(number, gram.getRowGroups());
  group.inTile = b.rem(number, gram.getRowGroups());
  group.firstTile = countTiles(group.rowTile);
  group.units = b.ceilDiv(group.end, gram.getWaveColumns());
  Value firstRow = b.mul(group.rowTile, gram.getRows());
  // Drawn now and noted later: the atomic runs while scales are loaded.
  Value left = rounds.leaveEarly();
  loadScales(plan, group);
  rounds.noteLeft(left);
  if (hasNearest())
    forTokens(b.index(0), b.index(2 * rows),
              [&](Value i) { b.write(b.i32(0), bestOfGroup, i); });
  b.barrier();

  GramEpilogue epilogue(b, gram, problem.similarity, theta, begins);
  auto boundOf = [](Value id) { return id; };
  epilogue.getBound = boundOf;
  auto setReader = [&](Value columnTile) {
    epilogue.readToken = [this, firstRow, columnTile](unsigned side,
                                                      Value local) {
      Value first = side == 0 ? firstRow : b.mul(columnTile, gram.getColumns());
      return readNeighbour(side, first, local);
    };
  };

  // Which of the earlier tokens cover each row.
  SmallVector<Values> sums;
  forUnits(plan, group, sums, [&](Value columnTile) {
    setReader(columnTile);
    Value firstWord = b.mul(columnTile, gram.getColumns() / 32);
    epilogue.run(nullptr, [&](Value id, Value local, Value bits) {
      Value row = b.sub(b.toIndex(id), group.begin);
      b.write(bits, bitsOfGroup, {row, b.add(firstWord, local)});
    });
  });
  b.barrier();
  settle(group);

  // The nearest kept token of each row.
  if (hasNearest()) {
    forTokens(b.index(0), group.end, [&](Value i) {
      Value scale = b.select(hasBit(kept, i), b.read(columnScales, i),
                             b.f32(std::numeric_limits<float>::quiet_NaN()));
      b.write(scale, columnScales, i);
    });
    b.barrier();
    forUnits(plan, group, sums, [&](Value columnTile) {
      setReader(columnTile);
      epilogue.run(
          [&](Value id, Value cosine, Value owner) {
            Value row = b.sub(b.toIndex(id), group.begin);
            atomicUpdate(b, AtomicBinOp::umax, getKey(cosine, owner),
                         bestOfGroup, b.mul(row, 2));
          },
          nullptr);
    });
  }
  writeGroup(group);
}

/// Decides the tokens of a group; `kept` is then the set of those before its
/// end that are kept.
void SelectKernel::settle(const Group &group) {
  Value words = b.ceilDiv(group.end, 32), none = b.i32(0), all = b.i32(-1);
  // Nothing is known at first.
  forTokens(b.index(0), words, [&](Value i) {
    b.write(none, kept, i);
    b.write(all, undecided, i);
  });
  b.barrier();
  auto passes = scf::WhileOp::create(b, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&passes.getBefore());
  b.forEach(b.add(group.begin, b.wave()), group.end, b.index(getNumWaves()),
            [&](Value t) {
              b.ifThen(hasBit(undecided, t),
                       [&] { judgeToken(t, b.sub(t, group.begin)); });
            });
  b.barrier(); // All have read the sets.
  // What is decided so far.
  Value open =
      b.loop(b.thread(), words, b.getThreads(), none,
             [&](Value i, ValueRange carried) {
               auto get = [&](SelectArray set) {
                 return atomicRead(b, problem.to.scratch,
                                   rounds.getPlace(set, i));
               };
               Value isKept = get(kKeptSet);
               Value said = arith::OrIOp::create(b, isKept, get(kDroppedSet));
               Value isOpen = arith::XOrIOp::create(b, said, all);
               // Tokens past the end are never decided.
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
  scf::ConditionOp::create(b, b.compare(CmpIPredicate::ne, isAnyOpen, none),
                           ValueRange());
  b.createBlock(&passes.getAfter());
  scf::YieldOp::create(b);
}

/// Decides token t, row `row` of the group, if that is already possible. All
/// lanes of a wave take part.
void SelectKernel::judgeToken(Value t, Value row) {
  Value none = b.i32(0);
  Values found =
      b.loop(b.lane(), b.add(b.div(t, 32), 1), b.getGpu().waveSize,
             Values{none, none}, [&](Value word, ValueRange carried) -> Values {
               Value bits = b.read(bitsOfGroup, {row, word});
               // Against all tokens, any token that covers one drops it.
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
  Value isKnown = arith::OrIOp::create(b, isDropped, b.negate(isOpen));
  b.ifThen(b.both(isKnown, b.isEqual(b.lane(), 0)), [&] {
    Value word = b.div(t, 32);
    Value place = b.select(isDropped, rounds.getPlace(kDroppedSet, word),
                           rounds.getPlace(kKeptSet, word));
    atomicUpdate(b, AtomicBinOp::_or, getBit(t), problem.to.scratch, place);
  });
}

/// The results of a group: `kept` and the largest cosines are known.
void SelectKernel::writeGroup(const Group &group) {
  Value words = b.ceilDiv(group.end, 32), none = b.i32(0);
  // Representatives before each word.
  Value isWord = b.isLess(b.thread(), words);
  Value word = b.read(kept, b.min(b.thread(), b.sub(words, 1)));
  Value number = math::CtPopOp::create(b, b.select(isWord, word, none));
  auto [before, total] = compact.scan(b.toIndex(number));
  b.ifThen(isWord, [&, before = before] {
    b.write(b.toI32(before), undecided, b.thread());
  });
  b.barrier();
  auto getRank = [&](Value t) {
    Value place = b.div(t, 32);
    Value earlier = arith::SubIOp::create(b, getBit(t), b.i32(1));
    Value same = arith::AndIOp::create(b, b.read(kept, place), earlier);
    Value rank =
        arith::AddIOp::create(b, b.read(undecided, place),
                              math::CtPopOp::create(b, same).getResult());
    return b.toIndex(rank);
  };
  Value isEnd = b.both(b.isEqual(b.thread(), 0),
                       b.compare(CmpIPredicate::eq, group.end, rounds.tokens));
  b.ifThen(isEnd, [&, total = total] {
    b.write(b.toI32(total), problem.to.count, atHead());
  });
  forTokens(b.index(0), b.sub(group.end, group.begin), [&](Value row) {
    Value t = b.add(group.begin, row), isKept = hasBit(kept, t);
    b.ifThen(isKept,
             [&] { b.write(b.toI32(t), problem.to.ids, at(getRank(t))); });
    if (!hasNearest())
      return;
    Value place = b.mul(row, 2);
    Value low = b.read(bestOfGroup, place);
    Value high = b.read(bestOfGroup, b.add(place, 1));
    writeNearest(t, b.select(isKept, b.toI32(t), getNearest(low, high)),
                 getRank);
  });
  b.barrier(); // All have read what the next group overwrites.
}
