//===- SelectKernel.cpp - Selections as GPU kernels -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/SelectKernel.h"

#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;
using arith::CmpIPredicate;
using Values = GpuBuilder::Values;

/// Row tiles that are visited together, column by column, so that both sides
/// stay in the cache.
static constexpr int64_t kGroup = 8;
/// Rows of which one wave computes the norms in one item.
static constexpr int64_t kNormRowsOfWave = 2;

/// Words of a product.
enum : int64_t {
  kRowList, ///< where the list begins in the head's memory, -1 for neighbours
  kRowFirst,
  kRowCount,
  kColumnList,
  kColumnFirst,
  kColumnCount,
  kReach,
  kUse,
  kFirstBit,
  kNumGroups,
  kNumTiles,
};

static Value getHead(GpuBuilder &b, Value tokens) {
  return cast<MemRefType>(tokens.getType()).getRank() == 3 ? b.block(1)
                                                           : Value();
}

SelectKernel::SelectKernel(GpuBuilder &b, GpuTileAttr tile,
                           const SelectProblem &problem)
    : b(b), problem(problem), head(getHead(b, problem.tokens)),
      numTokens(b.size(problem.tokens, 0)),
      rounds(b, problem.control, problem.scratch, head, numTokens,
             isCovering()),
      gram(b, tile, problem.tokens, head), compact(b) {
  found = b.allocWorkgroup({2}, b.getI32Type());
  for (unsigned i : {0, 1})
    if (problem.offsets)
      begins[i] = b.allocWorkgroup({gram.getSide(i).extent}, b.getI32Type());
  if (isCovering()) {
    kept = b.allocWorkgroup({kBitWords}, b.getI32Type());
    undecided = b.allocWorkgroup({kBitWords}, b.getI32Type());
  }
}

Value SelectKernel::toI32(Value number) {
  return arith::IndexCastOp::create(b, b.getI32Type(), number);
}

Value SelectKernel::toNumber(Value word) {
  return arith::IndexCastOp::create(b, b.getIndexType(), word);
}

void SelectKernel::forTokens(Value begin, Value end,
                             function_ref<void(Value)> body) {
  b.forEach(b.add(begin, b.thread()), end, b.index(b.getThreads()), body);
}

int64_t SelectKernel::getNormRows() const {
  return b.getThreads() / b.getGpu().waveSize * kNormRowsOfWave;
}

void SelectKernel::emit(int64_t workgroups) {
  rounds.run(
      workgroups, b.ceilDiv(numTokens, getNormRows()),
      [&](Value kind, Value item) { emitItem(kind, item); }, [&] { decide(); });
}

void SelectKernel::emitItem(Value kind, Value item) {
  auto when = [&](RoundKind which, function_ref<void()> body) {
    b.ifThen(b.isEqual(kind, static_cast<int64_t>(which)), body);
  };
  when(RoundKind::Norms, [&] { emitNorms(item); });
  when(RoundKind::Gram, [&] { emitGram(item); });
  if (problem.rule == SelectRule::Covering)
    when(RoundKind::Check, [&] { emitCheck(item); });
  when(RoundKind::Finish, [&] { emitFinish(item); });
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

void SelectKernel::emitNorms(Value item) {
  auto type = cast<MemRefType>(problem.tokens.getType());
  int64_t size = type.getShape().back(), waveSize = b.getGpu().waveSize;
  int64_t width = 16 * 8 / type.getElementTypeBitWidth();
  if (size % width != 0)
    width = 1;
  for (int64_t i = 0; i < kNormRowsOfWave; ++i) {
    Value t = b.add(b.mul(item, getNormRows()),
                    b.add(b.mul(b.wave(), kNormRowsOfWave), i));
    b.ifThen(b.isLess(t, numTokens), [&] {
      auto add = [&](Value column, ValueRange sums) {
        Values place = head ? Values{t, head, column} : Values{t, column};
        Value part = width == 1 ? b.read(problem.tokens, place)
                                : b.read(problem.tokens, place, width);
        part = b.toF32(part);
        return Values{b.fma(part, part, sums[0])};
      };
      Value zero = width == 1
                       ? b.f32(0)
                       : b.constant(b.vectorOf(width, b.getF32Type()), 0);
      Value sums = b.loop(b.mul(b.lane(), width), b.index(size),
                          waveSize * width, zero, add)
                       .front();
      auto plus = [&](Value x, Value y) -> Value {
        return arith::AddFOp::create(b, x, y);
      };
      Value square = b.waveReduce(b.reduceLanes(sums, plus), plus);
      // False for what is not a number: the comparisons are ordered.
      auto compare = [&](CmpFPredicate predicate, double bound) -> Value {
        return arith::CmpFOp::create(b, predicate, square, b.f32(bound));
      };
      float infinity = std::numeric_limits<float>::infinity();
      Value hasDirection = b.both(compare(CmpFPredicate::OGT, 0),
                                  compare(CmpFPredicate::OLT, infinity));
      Value inverse = arith::DivFOp::create(
          b, b.f32(1), math::SqrtOp::create(b, square).getResult());
      Value scale = b.select(hasDirection, inverse,
                             b.f32(std::numeric_limits<float>::quiet_NaN()));
      b.ifThen(b.isEqual(b.lane(), 0), [&] {
        rounds.write(scale, SelectArray::Scales, t);
        for (SelectArray array :
             {SelectArray::Covered, SelectArray::ColumnOf,
              SelectArray::Suspects, SelectArray::Inherited})
          rounds.write(b.i32(0), array, t);
        for (int64_t half : {0, 1})
          b.write(b.i32(0), problem.scratch,
                  rounds.getPlace(SelectArray::Best, b.add(b.mul(t, 2), half)));
        b.write(b.i32(-1), problem.ids, at(t));
        b.write(b.i32(0), problem.weight, at(t));
        if (!problem.offsets)
          return;
        // The last beginning that is not after t.
        Value last = b.sub(b.size(problem.offsets, 0), 1);
        Value begin =
            b.loop(b.index(0), last, 1, b.index(0),
                   [&](Value i, ValueRange carried) {
                     Value offset = b.readNumber(problem.offsets, i);
                     Value isBefore = b.compare(CmpIPredicate::sle, offset, t);
                     return Values{b.select(isBefore, offset, carried[0])};
                   })
                .front();
        rounds.write(begin, SelectArray::Begins, t);
      });
    });
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Writes ids and scales of one side of a tile; returns the id of the last
/// token for rows and of the first one for columns.
Value SelectKernel::loadSide(unsigned number, Value config, Value tile) {
  const GramTile::Side &side = gram.getSide(number);
  auto word = [&](int64_t i) { return rounds.get(b.add(config, i)); };
  int64_t shift = number == 0 ? 0 : kColumnList - kRowList;
  Value list = word(kRowList + shift), first = word(kRowFirst + shift);
  Value count = word(kRowCount + shift), begin = b.mul(tile, side.extent);
  Value isList = b.compare(CmpIPredicate::sge, list, b.index(0));
  // Written without branches, so that the loads of many tokens run together.
  auto getId = [&](Value i) {
    Value place = b.select(isList, b.add(list, i), b.index(0));
    Value listed = b.readNumber(rounds.scratch, b.add(rounds.base, place));
    return b.select(isList, listed, b.add(first, i));
  };
  forTokens(b.index(0), b.index(side.extent), [&](Value local) {
    Value i = b.add(begin, local);
    Value id = getId(b.min(i, b.sub(count, 1)));
    Value exists = b.both(b.isLess(i, count),
                          b.compare(CmpIPredicate::sge, id, b.index(0)));
    Value safe = b.max(id, b.index(0));
    Value scale = b.select(exists, rounds.readF32(SelectArray::Scales, safe),
                           b.f32(std::numeric_limits<float>::quiet_NaN()));
    b.write(toI32(b.select(exists, id, b.index(-1))), side.ids, local);
    b.write(scale, side.scales, local);
    if (begins[number])
      b.write(rounds.read(SelectArray::Begins, safe), begins[number], local);
  });
  if (number == 0)
    return getId(b.min(b.add(begin, side.extent - 1), b.sub(count, 1)));
  return getId(b.min(begin, b.sub(count, 1)));
}

/// The id, as i32, below which columns count for the row `id`.
Value SelectKernel::getBound(Value reach, Value id) {
  Value next = arith::AddIOp::create(b, id, b.i32(1));
  Value bound = b.select(b.isEqual(reach, int64_t(Reach::Before)), id, next);
  return b.select(b.isEqual(reach, int64_t(Reach::Any)),
                  b.i32(std::numeric_limits<int32_t>::max()), bound);
}

void SelectKernel::emitGram(Value item) {
  // Which product, which group of rows, which tile of it?
  Value firstTiles = rounds.get(int64_t(kGram) + kNumTiles);
  Value isSecond = b.compare(CmpIPredicate::sge, item, firstTiles);
  Value number = b.select(isSecond, b.sub(item, firstTiles), item);
  Value config =
      b.select(isSecond, b.index(kGram + kGramWords), b.index(kGram));
  auto word = [&](int64_t i) { return rounds.get(b.add(config, i)); };
  Value groups = b.select(isSecond, rounds.getOffset(SelectArray::MoreGroups),
                          rounds.getOffset(SelectArray::Groups));
  groups = b.add(rounds.base, groups);

  b.ifThen(b.isLess(number, word(kNumTiles)), [&] {
    Value numGroups = word(kNumGroups);
    forTokens(b.index(0), numGroups, [&](Value g) {
      Value begin = b.readNumber(rounds.scratch, b.add(groups, g));
      Value end = b.readNumber(rounds.scratch, b.add(b.add(groups, g), 1));
      Value isHere = b.both(b.compare(CmpIPredicate::sle, begin, number),
                            b.isLess(number, end));
      b.ifThen(isHere, [&] {
        b.write(toI32(g), found, b.index(0));
        b.write(toI32(begin), found, b.index(1));
      });
    });
    b.barrier();
    Value group = b.readNumber(found, b.index(0));
    Value inGroup = b.sub(number, b.readNumber(found, b.index(1)));
    Value firstRow = b.mul(group, kGroup);
    Value rowTiles = b.ceilDiv(word(kRowCount), gram.getRows());
    Value height = b.min(b.sub(rowTiles, firstRow), b.index(kGroup));
    Value rowTile = b.add(firstRow, b.rem(inGroup, height));
    Value columnTile = b.div(inGroup, height);

    Value lastRow = loadSide(0, config, rowTile);
    Value firstColumn = loadSide(1, config, columnTile);
    b.barrier();

    Value reach = word(kReach), use = word(kUse);
    Value bound = toNumber(getBound(reach, toI32(lastRow)));
    Value isEmpty = b.compare(CmpIPredicate::sge, firstColumn, bound);
    auto isUse = [&](GramUse which) {
      return b.isEqual(use, static_cast<int64_t>(which));
    };
    auto storeWord = [&](Value id, Value local, Value bits) {
      Value row = b.sub(id, rounds.get(kChunkBegin));
      Value column =
          b.add(word(kFirstBit), b.mul(columnTile, gram.getColumns()));
      b.write(bits, rounds.scratch,
              rounds.getBitPlace(row, b.add(b.div(column, 32), local)));
    };

    Value hasSome = arith::XOrIOp::create(
        b, isEmpty, arith::ConstantIntOp::create(b, b.getI1Type(), 1));
    b.ifThen(hasSome, [&] {
      gram.compute();
      GramEpilogue epilogue(b, gram, problem.similarity, b.f32(problem.theta),
                            begins);
      auto boundOf = [&](Value id) { return getBound(reach, id); };
      epilogue.getBound = boundOf;
      b.ifThen(isUse(GramUse::Cover), [&] {
        epilogue.cover([&](Value id) {
          rounds.write(b.i32(1), SelectArray::Covered, toNumber(id));
        });
      });
      if (isCovering())
        b.ifThen(isUse(GramUse::Bits), [&] {
          epilogue.storeBits([&](Value id, Value local, Value bits) {
            storeWord(toNumber(id), local, bits);
          });
        });
      b.ifThen(isUse(GramUse::Best), [&] {
        epilogue.findBest([&](Value id, Value cosine, Value who) {
          // Ordered as unsigned integers: cosines first, then smaller ids.
          Value raw = arith::BitcastOp::create(b, b.getI32Type(), cosine);
          Value sign = arith::ShRSIOp::create(b, raw, b.i32(31));
          Value flip = arith::OrIOp::create(
              b, sign, b.i32(std::numeric_limits<int32_t>::min()));
          Value high = arith::ExtUIOp::create(
              b, b.getI64Type(),
              arith::XOrIOp::create(b, raw, flip).getResult());
          Value low = arith::ExtUIOp::create(
              b, b.getI64Type(),
              arith::XOrIOp::create(b, who, b.i32(-1)).getResult());
          Value key = arith::OrIOp::create(
              b,
              arith::ShLIOp::create(b, high, b.constant(b.getI64Type(), 32))
                  .getResult(),
              low);
          atomicUpdate(
              b, LLVM::AtomicBinOp::umax, key, rounds.scratch,
              rounds.getPlace(SelectArray::Best, b.mul(toNumber(id), 2)));
        });
      });
    });
    if (isCovering())
      b.ifThen(b.both(isEmpty, isUse(GramUse::Bits)), [&] {
        int64_t words = gram.getColumns() / 32;
        forTokens(b.index(0), b.index(gram.getRows() * words), [&](Value i) {
          Value id = b.readNumber(gram.getSide(0).ids, b.div(i, words));
          b.ifThen(b.compare(CmpIPredicate::sge, id, b.index(0)),
                   [&] { storeWord(id, b.rem(i, words), b.i32(0)); });
        });
      });
  });
}

/// Writes the words of products and where their groups of tiles start, and lets
/// the round begin.
void SelectKernel::publishGram(ArrayRef<std::pair<Product, Limit>> products) {
  Value items = b.index(0);
  for (unsigned i : {0, 1}) {
    int64_t config = kGram + i * kGramWords;
    if (i >= products.size()) {
      rounds.set(config + kNumTiles, b.index(0));
      continue;
    }
    const auto &[product, limit] = products[i];
    auto setList = [&](const List &list, int64_t word) {
      rounds.set(config + word,
                 list.array ? rounds.getOffset(*list.array) : b.index(-1));
      rounds.set(config + word + 1, list.first ? list.first : b.index(0));
      rounds.set(config + word + 2, list.count);
    };
    setList(product.rows, kRowList);
    setList(product.columns, kColumnList);
    rounds.set(config + kReach, b.index(int64_t(product.reach)));
    rounds.set(config + kUse, b.index(int64_t(product.use)));
    rounds.set(config + kFirstBit,
               product.firstBit ? product.firstBit : b.index(0));

    // One thread for each group: enough for 2^18 tokens in tiles of 128 rows.
    Value numRows = product.rows.count;
    Value rowTiles = b.ceilDiv(numRows, gram.getRows());
    Value numGroups = b.ceilDiv(rowTiles, kGroup), group = b.thread();
    Value isMine = b.isLess(group, numGroups);
    Value tiles = b.ifElse(
        isMine,
        [&] {
          Value firstTile = b.mul(group, kGroup);
          Value height = b.min(b.sub(rowTiles, firstTile), b.index(kGroup));
          Value end = b.mul(b.add(firstTile, height), gram.getRows());
          Value columns = b.min(limit(b.sub(b.min(end, numRows), 1)),
                                product.columns.count);
          return b.mul(height, b.ceilDiv(columns, gram.getColumns()));
        },
        [&] { return b.index(0); });
    auto [before, total] = compact.scan(tiles);
    SelectArray table = i == 0 ? SelectArray::Groups : SelectArray::MoreGroups;
    b.ifThen(isMine, [&] { rounds.write(before, table, group); });
    b.ifThen(b.isEqual(group, 0),
             [&] { rounds.write(total, table, numGroups); });
    rounds.set(config + kNumGroups, numGroups);
    rounds.set(config + kNumTiles, total);
    items = b.add(items, total);
  }
  rounds.publish(RoundKind::Gram, items);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void SelectKernel::emitFinish(Value item) {
  Value t = b.add(b.mul(item, b.getThreads()), b.thread());
  Value exists = b.isLess(t, numTokens);
  Value safe = b.min(t, b.sub(numTokens, 1));
  Value isKept = b.isEqual(rounds.readNumber(SelectArray::Covered, safe), 0);
  Value low = b.read(problem.scratch,
                     rounds.getPlace(SelectArray::Best, b.mul(safe, 2)));
  Value high =
      b.read(problem.scratch,
             rounds.getPlace(SelectArray::Best, b.add(b.mul(safe, 2), 1)));
  Value found = b.compare(CmpIPredicate::ne, high, b.i32(0));
  Value who = arith::XOrIOp::create(b, low, b.i32(-1));
  who = b.select(found, who, b.i32(-1));
  who = b.select(isKept, toI32(safe), who);
  b.ifThen(exists, [&] {
    b.write(who, problem.nearest, at(t));
    b.ifThen(b.compare(CmpIPredicate::sge, who, b.i32(0)), [&] {
      Value slot = rounds.readNumber(SelectArray::Rank, toNumber(who));
      if (head)
        slot = b.add(b.mul(head, numTokens), slot);
      atomicUpdate(b, LLVM::AtomicBinOp::add, b.i32(1), problem.weight, slot);
    });
  });
  if (!problem.removed)
    return;
  Value isCommon =
      b.both(b.both(exists, isKept),
             b.isEqual(rounds.readNumber(SelectArray::Inherited, safe), 1));
  Value common =
      b.workgroupReduce(arith::ExtUIOp::create(b, b.getI32Type(), isCommon),
                        GpuBuilder::Kind::ADD);
  b.ifThen(b.isEqual(b.thread(), 0), [&] {
    atomicUpdate(b, LLVM::AtomicBinOp::add, common, problem.control,
                 rounds.getControlPlace(kNumCommon));
  });
}

void SelectKernel::publishNearest() {
  Value zero = b.index(0);
  Value count = compact.run(
      zero, numTokens, zero,
      [&](Value t) {
        return b.isEqual(rounds.readNumber(SelectArray::Covered, t), 0);
      },
      [&](Value t, Value isKept, Value before) {
        rounds.write(before, SelectArray::Rank, t);
        b.ifThen(isKept, [&] {
          rounds.write(t, SelectArray::Kept, before);
          b.write(toI32(t), problem.ids, at(before));
        });
        Value isOther = arith::XOrIOp::create(
            b, isKept, arith::ConstantIntOp::create(b, b.getI1Type(), 1));
        b.ifThen(isOther, [&] {
          rounds.write(t, SelectArray::Others, b.sub(t, before));
        });
      });
  rounds.set(kNumKept, count);
  rounds.set(kNumCommon, zero);
  b.ifThen(b.isEqual(b.thread(), 0),
           [&] { b.write(toI32(count), problem.count, atHead()); });
  Product product = {{SelectArray::Others, {}, b.sub(numTokens, count)},
                     {SelectArray::Kept, {}, count},
                     problem.isCausal ? Reach::Upto : Reach::Any,
                     GramUse::Best};
  // The lists have just been written by other threads of this workgroup.
  b.barrier();
  auto limit = [&](Value row) {
    if (!problem.isCausal)
      return count;
    return rounds.readNumber(SelectArray::Rank,
                             rounds.readNumber(SelectArray::Others, row));
  };
  publishGram({{product, limit}});
}

void SelectKernel::publishFinish() {
  rounds.publish(RoundKind::Finish, b.ceilDiv(numTokens, b.getThreads()));
}

void SelectKernel::finish() {
  if (problem.removed)
    b.ifThen(b.isEqual(b.thread(), 0), [&] {
      Value common = rounds.get(kNumCommon);
      b.write(toI32(b.sub(rounds.get(kNumInherited), common)), problem.removed,
              atHead());
      b.write(toI32(b.sub(rounds.get(kNumKept), common)), problem.added,
              atHead());
    });
  rounds.finish();
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Writes `body` for a stage; the next one follows it.
void SelectKernel::atStage(Value stage, int64_t number,
                           function_ref<void()> body) {
  b.ifThen(b.isEqual(stage, number), body);
}

void SelectKernel::decide() {
  Value stage = rounds.get(kStage);
  b.barrier(); // All have read it before it changes.
  switch (problem.rule) {
  case SelectRule::All:
    return decideAll(stage);
  case SelectRule::Paper:
    return decidePaper(stage);
  case SelectRule::Kept:
  case SelectRule::Covering:
    return decideCovering(stage);
  }
}

void SelectKernel::decideAll(Value stage) {
  atStage(stage, 0, [&] {
    rounds.set(kStage, b.index(1));
    List all = {std::nullopt, b.index(0), numTokens};
    publishGram({{{all, all, Reach::Before, GramUse::Cover},
                  [&](Value row) { return row; }}});
  });
  atStage(stage, 1, [&] {
    rounds.set(kStage, b.index(2));
    publishNearest();
  });
  atStage(stage, 2, [&] {
    rounds.set(kStage, b.index(3));
    publishFinish();
  });
  atStage(stage, 3, [&] { finish(); });
}

/// Flags of the inherited representatives, and their list in Columns.
void SelectKernel::markInherited() {
  Value count = b.readNumber(problem.oldCount, atHead());
  rounds.set(kNumInherited, count);
  forTokens(b.index(0), count, [&](Value j) {
    Value id = b.readNumber(problem.oldIds, at(j));
    rounds.write(b.i32(1), SelectArray::Inherited, id);
    if (problem.rule == SelectRule::Paper)
      rounds.write(id, SelectArray::Columns, j);
  });
  b.barrier();
}

void SelectKernel::decidePaper(Value stage) {
  Value zero = b.index(0);
  atStage(stage, 0, [&] {
    rounds.set(kStage, b.index(1));
    markInherited();
    List old = {
        SelectArray::Columns, {}, b.readNumber(problem.oldCount, atHead())};
    publishGram({{{old, old, Reach::Before, GramUse::Cover},
                  [&](Value row) { return row; }}});
  });
  // Those that no earlier one covers against the tokens outside.
  atStage(stage, 1, [&] {
    rounds.set(kStage, b.index(2));
    auto isOld = [&](Value t) {
      return b.isEqual(rounds.readNumber(SelectArray::Inherited, t), 1);
    };
    Value numOutside = compact.run(
        zero, numTokens, zero,
        [&](Value t) {
          return b.isEqual(rounds.readNumber(SelectArray::Inherited, t), 0);
        },
        [&](Value t, Value holds, Value before) {
          b.ifThen(holds,
                   [&] { rounds.write(t, SelectArray::Others, before); });
        });
    Value numValid = compact.run(
        zero, numTokens, zero,
        [&](Value t) {
          return b.both(
              isOld(t),
              b.isEqual(rounds.readNumber(SelectArray::Covered, t), 0));
        },
        [&](Value t, Value holds, Value before) {
          b.ifThen(holds, [&] { rounds.write(t, SelectArray::Kept, before); });
        });
    Product product = {{SelectArray::Others, {}, numOutside},
                       {SelectArray::Kept, {}, numValid},
                       Reach::Any,
                       GramUse::Cover};
    publishGram({{product, [&](Value) { return numValid; }}});
  });
  atStage(stage, 2, [&] {
    rounds.set(kStage, b.index(3));
    publishNearest();
  });
  atStage(stage, 3, [&] {
    rounds.set(kStage, b.index(4));
    publishFinish();
  });
  atStage(stage, 4, [&] { finish(); });
}
