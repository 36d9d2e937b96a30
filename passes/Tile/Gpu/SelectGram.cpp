//===- SelectGram.cpp - Products of selections ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tiles of a round's products are numbered; workgroups draw them. As many
// as fill the GPU a whole number of times are computed by one workgroup each.
// The steps of the rest, all tiles' one after the other, are cut into equal
// shares where that pays: a workgroup computes its part of at most two tiles
// and leaves sums in memory, and who comes last adds them and goes on.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/SelectKernel.h"

#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;

/// Row tiles that are visited together, column by column, so that both sides
/// stay in the cache.
static constexpr int64_t kGroup = 8;

/// Steps that storing and adding sums takes the time of: shares must save more.
static constexpr int64_t kSplitCost = 12;
/// Workgroups that share a tile, on average: who adds reads one sum after the
/// other.
static constexpr int64_t kMaxParts = 8;
/// Words before the sums that count the parts of tiles, for as many tiles as
/// workgroups.
static constexpr int64_t kPartCounts = 1024;

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
  kCoverFrom,
  kNumGroups,
  kNumTiles,
};

//===----------------------------------------------------------------------===//
// What a round computes
//===----------------------------------------------------------------------===//

/// Writes the words of products and where their groups of tiles start, and lets
/// the round begin.
void SelectKernel::publishGram(ArrayRef<Product> products) {
  assert(products.size() <= kMaxProducts);
  Value all = b.index(0);
  for (int64_t i = 0; i < kMaxProducts; ++i) {
    int64_t config = kGram + i * kGramWords;
    if (i >= static_cast<int64_t>(products.size())) {
      rounds.set(config + kNumTiles, b.index(0));
      continue;
    }
    const Product &product = products[i];
    auto setList = [&](const List &list, int64_t word) {
      Value first = list.first ? list.first : b.index(0);
      rounds.set(config + word,
                 list.array ? b.add(rounds.getOffset(*list.array), first)
                            : b.index(-1));
      rounds.set(config + word + 1, first);
      rounds.set(config + word + 2, list.count);
    };
    setList(product.rows, kRowList);
    setList(product.columns, kColumnList);
    rounds.set(config + kReach, b.index(int64_t(product.reach)));
    rounds.set(config + kUse, product.use);
    auto setOrZero = [&](int64_t word, Value number) {
      rounds.set(config + word, number ? number : b.index(0));
    };
    setOrZero(kFirstBit, product.firstBit);
    setOrZero(kCoverFrom, product.coverFrom);

    // One thread for each group: enough for 2^18 tokens in tiles of 128 rows.
    Value numRows = product.rows.count, numColumns = product.columns.count;
    Value rowTiles = b.ceilDiv(numRows, gram.getRows());
    Value numGroups = b.ceilDiv(rowTiles, kGroup), group = b.thread();
    Value isMine = b.isLess(group, numGroups);
    Value tiles = b.ifElse(
        isMine,
        [&] {
          Value firstTile = b.mul(group, kGroup);
          Value height = b.min(b.sub(rowTiles, firstTile), b.index(kGroup));
          Value columns = numColumns;
          if (product.getLimit) {
            Value end = b.mul(b.add(firstTile, height), gram.getRows());
            Value limit = product.getLimit(b.sub(b.min(end, numRows), 1));
            columns = b.max(b.min(limit, numColumns), b.index(0));
          }
          return b.mul(height, b.ceilDiv(columns, gram.getColumns()));
        },
        [&] { return b.index(0); });
    auto [before, total] = compact.scan(tiles);
    auto table = static_cast<SelectArray>(int64_t(SelectArray::Groups) + i);
    b.ifThen(isMine,
             [&, before = before] { rounds.write(before, table, group); });
    b.ifThen(b.isEqual(group, 0),
             [&, total = total] { rounds.write(total, table, numGroups); });
    rounds.set(config + kNumGroups, numGroups);
    rounds.set(config + kNumTiles, total);
    all = b.add(all, total);
  }
  publishSplit(all);
}

/// Decides which tiles are shared, and how.
void SelectKernel::publishSplit(Value tiles) {
  assert(workgroups <= kPartCounts);
  int64_t steps = gram.getSteps();
  Value waves = div32(tiles, b.index(workgroups));
  Value rest = b.sub(tiles, b.mul(waves, workgroups));
  // One sum for each part: shares and tiles end between parts.
  Value room = b.sub(rounds.getSplitWords(), kPartCounts);
  Value sums = b.div(b.max(room, b.index(0)), gram.getSumWords());
  Value items = b.min(b.index(workgroups),
                      b.min(b.mul(rest, kMaxParts), b.sub(sums, rest)));
  Value saved = b.mul(b.sub(items, rest), steps);
  Value pays = b.compare(CmpIPredicate::sgt, saved, b.mul(items, kSplitCost));
  pays = b.both(pays, b.compare(CmpIPredicate::sgt, items, b.index(0)));
  Value zero = b.index(0);
  Value split = b.select(pays, rest, zero);
  Value shares = b.select(pays, items, zero);
  Value whole = b.sub(tiles, split);
  rounds.set(kWholeTiles, whole);
  rounds.set(kSplitTiles, split);
  rounds.set(kSplitItems, shares);
  Value counts = rounds.getSplitPlace();
  forTokens(zero, split, [&](Value i) {
    b.write(b.i32(0), problem.scratch, b.add(counts, i));
  });
  rounds.publish(RoundKind::Gram, b.add(whole, shares));
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void SelectKernel::emitGram(Value item) {
  int64_t steps = gram.getSteps();
  Value whole = rounds.get(kWholeTiles), split = rounds.get(kSplitTiles);
  Value items = b.max(rounds.get(kSplitItems), b.index(1));
  Value isShare = b.compare(CmpIPredicate::sge, item, whole);
  Value share = b.max(b.sub(item, whole), b.index(0));
  Value all = b.mul(split, steps), before = b.mul(whole, steps);
  auto getBegin = [&](Value share, Value tile) {
    Value inRest = div32(b.mul(share, all), items);
    return b.select(isShare, b.add(before, inRest), b.mul(tile, steps));
  };
  Value begin = getBegin(share, item);
  Value end = getBegin(b.add(share, 1), b.add(item, 1));
  b.forEach(b.div(begin, steps), b.ceilDiv(end, steps), b.index(1),
            [&](Value tile) {
              Value first = b.mul(tile, steps);
              emitTile({tile, share, b.sub(b.max(begin, first), first),
                        b.sub(b.min(end, b.add(first, steps)), first)});
            });
}

/// Computes a part of a tile, and reduces the tile if that is the last to be
/// there.
void SelectKernel::emitTile(const Part &part) {
  // Which product, which group of rows, which tile of it?
  Value number = part.tile, config = b.index(kGram);
  Value groups = b.add(rounds.base, rounds.getOffset(SelectArray::Groups));
  Value unit = b.sub(rounds.getOffset(static_cast<SelectArray>(
                         int64_t(SelectArray::Groups) + 1)),
                     rounds.getOffset(SelectArray::Groups));
  for (int64_t i = 0; i + 1 < kMaxProducts; ++i) {
    Value tiles = rounds.get(int64_t(kGram) + i * kGramWords + kNumTiles);
    // Once it is in a product it stays there.
    Value isHere = b.isEqual(config, kGram + i * kGramWords);
    Value isLater =
        b.both(isHere, b.compare(CmpIPredicate::sge, number, tiles));
    number = b.select(isLater, b.sub(number, tiles), number);
    config = b.select(isLater, b.add(config, kGramWords), config);
    groups = b.select(isLater, b.add(groups, unit), groups);
  }
  auto word = [&](int64_t i) { return rounds.get(b.add(config, i)); };
  findTile(config, groups, number);
  Value group = b.readNumber(found, b.index(0));
  Value inGroup = b.sub(number, b.readNumber(found, b.index(1)));
  Value firstRow = b.mul(group, kGroup);
  Value rowTiles = b.ceilDiv(word(kRowCount), gram.getRows());
  Value height = b.min(b.sub(rowTiles, firstRow), b.index(kGroup));
  Value columnTile = div32(inGroup, height);
  Value rowTile = b.add(firstRow, b.sub(inGroup, b.mul(columnTile, height)));

  Value lastRow = loadSide(0, config, rowTile);
  Value firstColumn = loadSide(1, config, columnTile);
  b.barrier();
  Value bound = toNumber(getBound(word(kReach), toI32(lastRow)));
  Value isEmpty = b.compare(CmpIPredicate::sge, firstColumn, bound);
  Value hasSome = b.isLess(firstColumn, bound);
  b.ifThen(hasSome, [&] {
    gram.compute(part.begin, part.end);
    reduceTile(config, columnTile, part);
  });
  if (!hasColumns())
    return;
  // Who computes the first part of nothing writes zeros.
  Value isBits = b.isEqual(word(kUse), kUseBits);
  if (hasHint())
    isBits = b.compare(CmpIPredicate::sge, word(kUse), b.index(kUseBits));
  b.ifThen(b.both(b.both(isEmpty, isBits), b.isEqual(part.begin, 0)), [&] {
    int64_t words = gram.getColumns() / 32;
    Value firstBit =
        b.add(word(kFirstBit), b.mul(columnTile, gram.getColumns()));
    Value chunk = rounds.get(kChunkBegin);
    forTokens(b.index(0), b.index(gram.getRows() * words), [&](Value i) {
      Value id = b.readNumber(gram.getSide(0).ids, b.div(i, words));
      Value place = rounds.getBitPlace(
          b.sub(id, chunk), b.add(b.div(firstBit, 32), b.rem(i, words)));
      b.ifThen(b.compare(CmpIPredicate::sge, id, b.index(0)),
               [&] { b.write(b.i32(0), rounds.scratch, place); });
    });
  });
}

/// The group of tile `number` of a product and its first tile, in `found`.
void SelectKernel::findTile(Value config, Value groups, Value number) {
  b.barrier(); // Nobody reads what was found before.
  forTokens(b.index(0), rounds.get(b.add(config, kNumGroups)), [&](Value g) {
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
}

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

/// What becomes of the sums of a tile, once all its parts are there.
void SelectKernel::reduceTile(Value config, Value columnTile,
                              const Part &part) {
  auto word = [&](int64_t i) { return rounds.get(b.add(config, i)); };
  Value isLast = joinParts(part);
  b.ifThen(isLast, [&] {
    GramEpilogue epilogue(b, gram, problem.similarity, b.f32(problem.theta),
                          begins);
    Value reach = word(kReach), use = word(kUse);
    auto boundOf = [&](Value id) { return getBound(reach, id); };
    epilogue.getBound = boundOf;
    auto improveRow = [&](Value id, Value cosine, Value who) {
      improve(config, id, cosine, who);
    };
    Value isBits = b.compare(CmpIPredicate::sge, use, b.index(kUseBits));
    Value isNone = b.isLess(use, kUseBits);
    b.ifThen(isNone, [&] { epilogue.run(improveRow, nullptr); });
    if (!hasColumns())
      return;
    b.ifThen(isBits, [&] {
      Value firstBit =
          b.add(word(kFirstBit), b.mul(columnTile, gram.getColumns()));
      Value chunk = rounds.get(kChunkBegin);
      auto store = [&](Value id, Value local, Value bits) {
        Value row = b.sub(toNumber(id), chunk);
        b.write(bits, rounds.scratch,
                rounds.getBitPlace(row, b.add(b.div(firstBit, 32), local)));
      };
      if (hasHint() && findsNearest())
        epilogue.run(improveRow, store);
      else
        epilogue.run(nullptr, store);
    });
  });
}

/// Adds the parts of a tile if this one is the last to be there; returns
/// whether it is.
Value SelectKernel::joinParts(const Part &part) {
  int64_t steps = gram.getSteps();
  Value isWhole = b.isEqual(b.sub(part.end, part.begin), steps);
  Value rest = b.sub(part.tile, rounds.get(kWholeTiles));
  Value items = b.max(rounds.get(kSplitItems), b.index(1));
  Value all = b.max(b.mul(rounds.get(kSplitTiles), steps), b.index(1));
  // Share i begins at step floor(i * all / items).
  auto getShare = [&](Value step) {
    return div32(b.sub(b.mul(b.add(step, 1), items), 1), all);
  };
  Value first = b.mul(b.max(rest, b.index(0)), steps);
  Value firstShare = getShare(first);
  Value lastShare = getShare(b.add(first, steps - 1));
  Value firstSum = b.add(firstShare, rest), lastSum = b.add(lastShare, rest);
  Value counts = rounds.getSplitPlace();
  Value sums = b.add(counts, kPartCounts);

  Value isLast = b.ifElse(
      isWhole, [&] { return b.i32(1); },
      [&] {
        Value sum = b.mul(b.add(part.share, rest), gram.getSumWords());
        gram.storeSums(problem.scratch, b.add(sums, sum));
        releaseFence(b);
        b.barrier();
        b.ifThen(b.isEqual(b.thread(), 0), [&] {
          Value before = atomicUpdate(b, LLVM::AtomicBinOp::add, b.i32(1),
                                      problem.scratch, b.add(counts, rest));
          Value isLast = b.compare(CmpIPredicate::eq, toNumber(before),
                                   b.sub(lastShare, firstShare));
          b.write(arith::ExtUIOp::create(b, b.getI32Type(), isLast), found,
                  b.index(0));
        });
        b.barrier();
        acquireFence(b);
        return b.read(found, b.index(0));
      });
  isLast = b.compare(CmpIPredicate::ne, isLast, b.i32(0));
  Value isPart = arith::XOrIOp::create(
      b, isWhole, arith::ConstantIntOp::create(b, b.getI1Type(), 1));
  gram.addSums(b.both(isLast, isPart), problem.scratch, sums, firstSum,
               lastSum);
  return isLast;
}

/// What the largest cosine of a row, in a product's columns, means.
void SelectKernel::improve(Value config, Value id, Value cosine, Value who) {
  auto word = [&](int64_t i) { return rounds.get(b.add(config, i)); };
  Value use = toI32(word(kUse)), token = toNumber(id);
  auto isUse = [&](int64_t which) {
    Value bit = arith::AndIOp::create(b, use, b.i32(which));
    return b.compare(CmpIPredicate::ne, bit, b.i32(0));
  };
  Value covers = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, cosine,
                                       b.f32(problem.theta));
  Value isOpen = b.compare(CmpIPredicate::sge, token, word(kCoverFrom));
  b.ifThen(b.both(isUse(kUseCover), b.both(covers, isOpen)),
           [&] { rounds.write(b.i32(1), SelectArray::Covered, token); });
  b.ifThen(isUse(kUseBest), [&] {
    // Ordered as unsigned integers: cosines first, then smaller ids.
    Value raw = arith::BitcastOp::create(b, b.getI32Type(), cosine);
    Value sign = arith::ShRSIOp::create(b, raw, b.i32(31));
    Value flip = arith::OrIOp::create(
        b, sign, b.i32(std::numeric_limits<int32_t>::min()));
    Value high = arith::ExtUIOp::create(
        b, b.getI64Type(), arith::XOrIOp::create(b, raw, flip).getResult());
    Value low = arith::ExtUIOp::create(
        b, b.getI64Type(),
        arith::XOrIOp::create(b, who, b.i32(-1)).getResult());
    Value key = arith::OrIOp::create(
        b,
        arith::ShLIOp::create(b, high, b.constant(b.getI64Type(), 32))
            .getResult(),
        low);
    atomicUpdate(b, LLVM::AtomicBinOp::umax, key, rounds.scratch,
                 rounds.getPlace(SelectArray::Best, b.mul(token, 2)));
  });
}
