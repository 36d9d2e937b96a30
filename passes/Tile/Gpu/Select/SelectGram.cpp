//===- SelectGram.cpp - Products of selections ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tiles of a round's products are numbered; workgroups draw them, or their
// shares of them (SelectShares.cpp), or have every so many (SelectAhead.cpp).
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Core/Registers.h"
#include "passes/Tile/Gpu/Select/SelectKernel.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// What a round computes
//===----------------------------------------------------------------------===//

/// Writes the words of products and where their groups of tiles start, and lets
/// the round begin. Where `keepsSums` holds, it leaves sums for recallGram().
void SelectKernel::publishGram(ArrayRef<Product> products, Value keepsSums) {
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

    Value rowTiles = b.ceilDiv(product.rows.count, gram.getRows());
    Value numGroups = b.ceilDiv(rowTiles, groupTiles);
    auto table = static_cast<SelectArray>(int64_t(SelectArray::Groups) + i);
    if (product.isSearched)
      writeLimits(product, table, b.add(numGroups, 1), rowTiles);
    // A thread has a group at a time. Those of 2^17 tokens or more, in tiles of
    // 128 rows, are one round.
    Value total =
        b.loop(b.index(0), numGroups, b.getThreads(), b.index(0),
               [&](Value first, ValueRange carried) {
                 Value next;
                 rounds.loadHere([&] {
                   Value group = b.add(first, b.thread());
                   Value isMine = b.isLess(group, numGroups);
                   Value tiles = b.ifElse(
                       isMine,
                       [&] {
                         return writeWidths(product, table, group, numGroups);
                       },
                       [&] { return b.index(0); });
                   auto [before, sum] = compact.scan(tiles);
                   b.ifThen(isMine, [&, before = before] {
                     rounds.write(b.add(carried[0], before), table, group);
                   });
                   next = b.add(carried[0], sum);
                 });
                 return GpuBuilder::Values{next};
               })
            .front();
    b.ifThen(b.isEqual(b.thread(), 0),
             [&] { rounds.write(total, table, numGroups); });
    rounds.set(config + kNumGroups, numGroups);
    rounds.set(config + kNumTiles, total);
    all = b.add(all, total);
  }
  publishShares(all, keepsSums);
}

/// Writes, for each tile of rows, how many columns are before its last token:
/// of every column the tiles that end after it and not after the next one.
void SelectKernel::writeLimits(const Product &product, SelectArray table,
                               Value first, Value rowTiles) {
  const List &rows = product.rows, &columns = product.columns;
  forTokens(b.index(0), rowTiles, [&](Value tile) {
    rounds.write(b.i32(0), table, b.add(first, tile));
  });
  b.barrier();
  // The first tile whose last token is after column j; past the last column
  // this is the number of tiles.
  auto getTile = [&](Value j) {
    Value last = b.sub(columns.count, 1);
    Value id = rounds.readNumber(*columns.array, b.min(j, last));
    Value row = b.max(b.sub(id, rows.first), b.index(0));
    Value tile = b.div(b.add(row, 1), gram.getRows());
    Value isInside = b.both(b.isLess(b.add(row, 1), rows.count),
                            b.compare(CmpIPredicate::sle, j, last));
    return b.select(isInside, tile, rowTiles);
  };
  forLoaded(
      b.index(0), columns.count,
      [&](Value j) {
        return GpuBuilder::Values{getTile(j), getTile(b.add(j, 1))};
      },
      [&](Value j, ArrayRef<Value> tiles) {
        b.forEach(tiles[0], tiles[1], b.index(1), [&](Value tile) {
          rounds.write(b.add(j, 1), table, b.add(first, tile));
        });
      });
  b.barrier();
}

/// Writes how many columns of tiles the row tiles of a group have, behind where
/// the groups start; returns how many tiles these are. A product of bits has at
/// least one tile for each row tile, which writes the zeros of its columns.
Value SelectKernel::writeWidths(const Product &product, SelectArray table,
                                Value group, Value numGroups) {
  Value numRows = product.rows.count, numColumns = product.columns.count;
  Value rowTiles = b.ceilDiv(numRows, gram.getRows());
  Value firstTile = b.mul(group, groupTiles);
  Value isBits = b.compare(CmpIPredicate::sge, product.use, b.index(kUseBits));
  Value least = b.select(isBits, b.min(numColumns, b.index(1)), b.index(0));
  Value total = b.index(0), width = least;
  GpuBuilder::Values lastRows, limits;
  for (int64_t i = 0; i < groupTiles; ++i) {
    Value tile = b.add(firstTile, i),
          end = b.mul(b.add(tile, 1), gram.getRows());
    lastRows.push_back(b.sub(b.min(end, numRows), 1));
    if (product.isSearched)
      limits.push_back(rounds.readNumber(
          table, b.add(b.add(numGroups, 1), b.min(tile, b.sub(rowTiles, 1)))));
  }
  for (int64_t i = 0; i < groupTiles; ++i) {
    Value tile = b.add(firstTile, i), exists = b.isLess(tile, rowTiles);
    Value columns = numColumns;
    if (product.isSearched)
      columns = b.min(limits[i], numColumns);
    else if (product.getLimit)
      columns = b.min(product.getLimit(lastRows[i]), numColumns);
    // Widths ascend, which the search for a tile relies on.
    width = b.max(
        width, b.div(b.add(b.max(columns, b.index(0)), gram.getColumns() - 1),
                     gram.getColumns()));
    // Added at once: the comparison is not kept until the end.
    total = computeHereByThread(
        b, b.add(total, b.select(exists, width, b.index(0))));
    b.ifThen(exists, [&] {
      rounds.write(width, table, b.add(b.add(numGroups, 1), tile));
    });
  }
  return total;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The words of the product that tile `number` of a round belongs to, where its
/// table of groups is, and its number there.
std::tuple<Value, Value, Value> SelectKernel::findProduct(Value number) {
  Value config = b.index(kGram);
  Value groups = b.add(rounds.base, rounds.getOffset(SelectArray::Groups));
  Value unit = b.sub(rounds.getOffset(static_cast<SelectArray>(
                         int64_t(SelectArray::Groups) + 1)),
                     rounds.getOffset(SelectArray::Groups));
  for (int64_t i = 0; i + 1 < kMaxProducts; ++i) {
    Value tiles = rounds.get(int64_t(kGram) + i * kGramWords + kNumTiles);
    // Once it is in a product it stays there.
    // Tiles of all products are numbered one after the other.
    Value isHere = b.isEqual(config, kGram + i * kGramWords);
    Value isLater =
        b.both(isHere, b.compare(CmpIPredicate::sge, number, tiles));
    number = b.select(isLater, b.sub(number, tiles), number);
    config = b.select(isLater, b.add(config, kGramWords), config);
    groups = b.select(isLater, b.add(groups, unit), groups);
  }
  return {config, groups, number};
}

/// Computes a part of a tile, and reduces the tile if that part finishes last.
void SelectKernel::emitTile(const Part &part) {
  // Find the product, the group of rows and the tile in it.
  auto [config, groups, number] = findProduct(part.tile);
  auto word = [&, config = config](int64_t i) {
    return rounds.get(b.add(config, i));
  };
  findTile(config, groups, number);
  Value group = b.readNumber(found, b.index(0));
  Value inGroup = b.sub(number, b.readNumber(found, b.index(1)));
  Value firstRow = b.mul(group, groupTiles);
  Value rowTiles = b.ceilDiv(word(kRowCount), gram.getRows());
  Value widths = b.add(b.add(groups, word(kNumGroups)), 1);
  auto [rowTile, columnTile] = findInGroup(widths, firstRow, rowTiles, inGroup);
  rowTile = takeFirstThread(b, rowTile);
  columnTile = takeFirstThread(b, columnTile);

  Value lastRow = loadSide(0, config, rowTile);
  Value firstColumn = loadSide(1, config, columnTile);
  b.barrier();
  Value bound = b.toIndex(getBound(word(kReach), b.toI32(lastRow)));
  Value isEmpty = b.compare(CmpIPredicate::sge, firstColumn, bound);
  Value hasSome = b.isLess(firstColumn, bound);
  rounds.ifThenHere(hasSome, [&] {
    gram.compute(part.begin, part.end);
    rounds.computeHere([&] { reduceTile(word, columnTile, part); });
  });
  if (!hasColumns())
    return;
  // The first part of an empty tile writes zeros, and that of the last tile of
  // a row of tiles those behind it.
  rounds.ifThenHere(
      b.both(isOfBits(word(kUse)), b.isEqual(part.begin, 0)), [&] {
        Value next = b.add(columnTile, 1);
        Value width = b.readNumber(rounds.scratch, b.add(widths, rowTile));
        Value end = b.select(b.isLess(next, width), next,
                             b.ceilDiv(word(kColumnCount), gram.getColumns()));
        clearBits(b.select(isEmpty, columnTile, next), b.max(end, next),
                  word(kFirstBit));
      });
}

/// Whether a product leaves bits.
Value SelectKernel::isOfBits(Value use) {
  if (hasHint())
    return b.compare(CmpIPredicate::sge, use, b.index(kUseBits));
  return b.isEqual(use, kUseBits);
}

/// Finds a tile, and writes its place as this thread's in `places`.
void SelectKernel::writePlace(Value tile) {
  auto [config, groups, number] = findProduct(tile);
  auto word = [&, config = config](int64_t i) {
    return rounds.get(b.add(config, i));
  };
  Value numGroups = word(kNumGroups), zero = b.index(0);
  GpuBuilder::Values group = b.loop(
      zero, numGroups, 1, GpuBuilder::Values{zero, zero},
      [&, groups = groups, number = number](Value g, ValueRange carried) {
        Value begin = b.readNumber(rounds.scratch, b.add(groups, g));
        Value isLater = b.compare(CmpIPredicate::sle, begin, number);
        return GpuBuilder::Values{b.select(isLater, g, carried[0]),
                                  b.select(isLater, begin, carried[1])};
      });
  Value rowTiles = b.ceilDiv(word(kRowCount), gram.getRows());
  Value widths = b.add(b.add(groups, numGroups), 1);
  auto [rowTile, columnTile] = findInGroup(widths, b.mul(group[0], groupTiles),
                                           rowTiles, b.sub(number, group[1]));
  Value width = b.readNumber(rounds.scratch, b.add(widths, rowTile));
  Value place = b.mul(b.thread(), kPlaceWords);
  Value words[kPlaceWords] = {config, rowTile, columnTile, width};
  for (auto [i, value] : llvm::enumerate(words))
    b.write(b.toI32(value), places, b.add(place, i));
}

/// Zeros for tiles [begin, end) of the columns of a product, in the rows of
/// this tile.
void SelectKernel::clearBits(Value begin, Value end, Value firstBit) {
  int64_t rows = gram.getRows(), words = gram.getColumns() / 32;
  int64_t together = std::min<int64_t>(words, 4);
  Value zeros = b.constant(b.vectorOf(together, b.getI32Type()), 0);
  Value chunk = rounds.get(kChunkBegin);
  Value first = b.add(b.div(firstBit, 32), b.mul(begin, words));
  forTokens(b.index(0), b.mul(b.sub(end, begin), rows), [&](Value i) {
    Value id = b.readNumber(gram.getSide(0).ids, b.rem(i, rows));
    Value word = b.add(first, b.mul(b.div(i, rows), words));
    b.ifThen(b.compare(CmpIPredicate::sge, id, b.index(0)), [&] {
      for (int64_t j = 0; j < words; j += together)
        b.write(zeros, rounds.scratch,
                rounds.getBitPlace(b.sub(id, chunk), b.add(word, j)));
    });
  });
}

/// The row and column of tile `number` of a group: column by column, from the
/// first row that reaches it.
std::pair<Value, Value> SelectKernel::findInGroup(Value widths, Value firstRow,
                                                  Value rowTiles,
                                                  Value number) {
  // All of it together is more than the scalar registers of gfx942 hold.
  firstRow = computeHereByThread(b, firstRow);
  Value height = b.min(b.sub(rowTiles, firstRow), b.index(groupTiles));
  Value before = b.index(0), rest = number;
  Value row = firstRow, column = before, rows = height;
  Value isFound = arith::ConstantIntOp::create(b, b.getI1Type(), 0);
  for (int64_t i = 0; i < groupTiles; ++i) {
    Value tile = b.min(b.add(firstRow, i), b.sub(rowTiles, 1));
    Value width = b.readNumber(rounds.scratch, b.add(widths, tile));
    Value left = b.max(b.sub(height, i), b.index(0));
    Value tiles = b.mul(b.sub(width, before), left);
    // The place of the segment, until it is the right one.
    row = b.select(isFound, row, b.add(firstRow, i));
    column = b.select(isFound, column, before);
    rows = b.select(isFound, rows, left);
    isFound = arith::OrIOp::create(b, isFound, b.isLess(rest, tiles));
    rest = b.select(isFound, rest, b.sub(rest, tiles));
    before = width;
  }
  Value inside = div32(rest, b.max(rows, b.index(1)));
  return {b.add(row, b.sub(rest, b.mul(inside, rows))), b.add(column, inside)};
}

/// The group of tile `number` of a product and its first tile, in `found`.
void SelectKernel::findTile(Value config, Value groups, Value number) {
  b.barrier(); // What was found before has been read.
  forTokens(b.index(0), rounds.get(b.add(config, kNumGroups)), [&](Value g) {
    Value begin = b.readNumber(rounds.scratch, b.add(groups, g));
    Value end = b.readNumber(rounds.scratch, b.add(b.add(groups, g), 1));
    Value isHere = b.both(b.compare(CmpIPredicate::sle, begin, number),
                          b.isLess(number, end));
    b.ifThen(isHere, [&] {
      b.write(b.toI32(g), found, b.index(0));
      b.write(b.toI32(begin), found, b.index(1));
    });
  });
  b.barrier();
}

SelectKernel::TokenList
SelectKernel::readList(unsigned number, function_ref<Value(int64_t)> word) {
  int64_t shift = number == 0 ? 0 : kColumnList - kRowList;
  TokenList list;
  list.place = word(kRowList + shift);
  list.first = word(kRowFirst + shift);
  list.count = word(kRowCount + shift);
  return list;
}

/// Number `i` of a list, the last one where there are no more. Written without
/// branches, so that the loads of many tokens run together.
Value SelectKernel::readId(const TokenList &list, Value i) {
  i = b.min(i, b.sub(list.count, 1));
  Value isList = b.compare(CmpIPredicate::sge, list.place, b.index(0));
  Value place = b.select(isList, b.add(list.place, i), b.index(0));
  Value listed = b.readNumber(rounds.scratch, b.add(rounds.base, place));
  return b.select(isList, listed, b.add(list.first, i));
}

/// The scale of token `id` of a side; NaN if it does not count.
Value SelectKernel::readScale(unsigned side, Value exists, Value id) {
  Value counts = exists;
  // Sums that are recalled are those of all tokens; representatives count.
  if (canRecall() && side == 1) {
    Value isRecall = b.isEqual(rounds.get(kRecall), 1);
    Value no = arith::ConstantIntOp::create(b, b.getI1Type(), 0);
    Value isCovered = b.isEqual(rounds.readNumber(SelectArray::Covered, id), 1);
    Value isLeftOut = b.both(isRecall, isCovered);
    counts = b.both(exists, b.compare(CmpIPredicate::eq, isLeftOut, no));
  }
  return b.select(counts, rounds.readF32(SelectArray::Scales, id),
                  b.f32(std::numeric_limits<float>::quiet_NaN()));
}

/// Writes ids and scales of one side of a tile; returns the id of the last
/// token for rows and of the first one for columns.
Value SelectKernel::loadSide(unsigned number, Value config, Value tile) {
  const GramTile::Side &side = gram.getSide(number);
  TokenList list =
      readList(number, [&](int64_t i) { return rounds.get(b.add(config, i)); });
  Value begin = b.mul(tile, side.extent);
  forTokens(b.index(0), b.index(side.extent), [&](Value local) {
    Value i = b.add(begin, local);
    Value id = readId(list, i);
    Value exists = b.both(b.isLess(i, list.count),
                          b.compare(CmpIPredicate::sge, id, b.index(0)));
    Value safe = b.max(id, b.index(0));
    Value scale = readScale(number, exists, safe);
    b.write(b.toI32(b.select(exists, id, b.index(-1))), side.ids, local);
    b.write(scale, side.scales, local);
    if (begins[number])
      b.write(rounds.read(SelectArray::Begins, safe), begins[number], local);
  });
  return readId(list, number == 0 ? b.add(begin, side.extent - 1) : begin);
}

/// The id, as i32, below which columns count for the row `id`.
Value SelectKernel::getBound(Value reach, Value id) {
  Value next = arith::AddIOp::create(b, id, b.i32(1));
  Value bound = b.select(b.isEqual(reach, int64_t(Reach::Before)), id, next);
  return b.select(b.isEqual(reach, int64_t(Reach::Any)),
                  b.i32(std::numeric_limits<int32_t>::max()), bound);
}

/// Reduces the sums of a tile, once all its parts are added.
void SelectKernel::reduceTile(function_ref<Value(int64_t)> word,
                              Value columnTile, const Part &part) {
  Value isLast = joinParts(part);
  b.ifThen(isLast, [&] {
    GramEpilogue epilogue(b, gram, problem.similarity, theta, begins);
    Value reach = word(kReach), use = word(kUse);
    auto boundOf = [&](Value id) { return getBound(reach, id); };
    epilogue.getBound = boundOf;
    auto improveRow = [&](Value id, Value cosine, Value owner) {
      improve(word, id, cosine, owner);
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
        Value row = b.sub(b.toIndex(id), chunk);
        b.write(bits, rounds.scratch,
                rounds.getBitPlace(row, b.add(b.div(firstBit, 32), local)));
        b.ifThen(b.compare(CmpIPredicate::ne, bits, b.i32(0)), [&] {
          rounds.write(b.i32(1), SelectArray::Touched, b.toIndex(id));
        });
      };
      if (hasHint() && findsNearest())
        epilogue.run(improveRow, store);
      else
        epilogue.run(nullptr, store);
    });
  });
}

/// Ordered as unsigned integers: cosines first, then smaller ids.
Value SelectKernel::getKey(Value cosine, Value owner) {
  Value raw = arith::BitcastOp::create(b, b.getI32Type(), cosine);
  Value sign = arith::ShRSIOp::create(b, raw, b.i32(31));
  Value flip =
      arith::OrIOp::create(b, sign, b.i32(std::numeric_limits<int32_t>::min()));
  Value high = arith::ExtUIOp::create(
      b, b.getI64Type(), arith::XOrIOp::create(b, raw, flip).getResult());
  Value low = arith::ExtUIOp::create(
      b, b.getI64Type(),
      arith::XOrIOp::create(b, owner, b.i32(-1)).getResult());
  return arith::OrIOp::create(
      b,
      arith::ShLIOp::create(b, high, b.constant(b.getI64Type(), 32))
          .getResult(),
      low);
}

Value SelectKernel::getNearest(Value low, Value high) {
  Value found = b.compare(CmpIPredicate::ne, high, b.i32(0));
  Value owner = arith::XOrIOp::create(b, low, b.i32(-1));
  return b.select(found, owner, b.i32(-1));
}

/// What the largest cosine of a row, in a product's columns, means.
void SelectKernel::improve(function_ref<Value(int64_t)> word, Value id,
                           Value cosine, Value owner) {
  Value use = b.toI32(word(kUse)), token = b.toIndex(id);
  auto isUse = [&](int64_t which) {
    Value bit = arith::AndIOp::create(b, use, b.i32(which));
    return b.compare(CmpIPredicate::ne, bit, b.i32(0));
  };
  Value covers = b.compare(arith::CmpFPredicate::OGE, cosine, theta);
  Value isOpen = b.compare(CmpIPredicate::sge, token, word(kCoverFrom));
  b.ifThen(b.both(isUse(kUseCover), b.both(covers, isOpen)),
           [&] { rounds.write(b.i32(1), SelectArray::Covered, token); });
  b.ifThen(isUse(kUseBest), [&] {
    // Several workgroups have columns of this row. The largest key wins in any
    // order.
    atomicUpdate(b, LLVM::AtomicBinOp::umax, getKey(cosine, owner),
                 rounds.scratch,
                 rounds.getPlace(SelectArray::Best, b.mul(token, 2)));
  });
}
