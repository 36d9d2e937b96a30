//===- SelectAhead.cpp - Tiles one after the other, without a pause -------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between two tiles that a workgroup draws one by one it draws a ticket, looks
// up the tile, its tokens and their scales, and copies their first numbers:
// each step waits for the one before, and nothing is multiplied meanwhile. So
// where copies are asynchronous a workgroup has one item, every so many whole
// tiles and then a share of the others, and all of that overlaps:
//
//   where tiles are           found before the first one, one by each thread
//   ids of the next tile      in flight while this one is multiplied
//   its first copies, scales  in flight while this one is reduced
//
// Workgroups have neighbouring tiles at a time, whose rows they share in the
// cache.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Select/SelectKernel.h"

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;
using Values = GpuBuilder::Values;

//===----------------------------------------------------------------------===//
// Parts of an item
//===----------------------------------------------------------------------===//

void SelectKernel::emitAhead(Value item) {
  int64_t steps = gram.getSteps(), threads = b.getThreads();
  Value whole = rounds.get(kWholeTiles), split = rounds.get(kSplitTiles);
  Value shares = rounds.get(kSplitItems), firstSplit = whole, isRecall;
  if (canRecall()) {
    // A recall multiplies no steps, so it has no shares.
    isRecall = b.isEqual(rounds.get(kRecall), 1);
    whole = b.select(isRecall, b.add(whole, split), whole);
    shares = b.select(isRecall, b.index(0), shares);
  }
  auto getBegin = [&](Value share) {
    return div32(b.mul(share, b.mul(split, steps)), b.max(shares, b.index(1)));
  };
  // Those of this workgroup's share, among the steps of tiles that are shared.
  Value hasShare = b.isLess(item, shares), zero = b.index(0);
  Value begin = b.select(hasShare, getBegin(item), zero);
  Value end = b.select(hasShare, getBegin(b.add(item, 1)), zero);
  Value firstTile = b.div(begin, steps), endTile = b.ceilDiv(end, steps);
  Value later = b.max(b.sub(b.add(whole, workgroups - 1), item), zero);
  Value numWhole = div32(later, b.index(workgroups));
  Value parts = b.add(numWhole, b.sub(endTile, firstTile));
  auto getPart = [&](Value number) {
    Value isWhole = b.isLess(number, numWhole);
    Value tile = b.add(firstTile, b.sub(number, numWhole));
    Value first = b.mul(tile, steps), last = b.add(first, steps);
    Part part;
    part.share = item;
    part.tile = b.select(isWhole, b.add(item, b.mul(number, workgroups)),
                         b.add(firstSplit, tile));
    part.begin = b.select(isWhole, zero, b.sub(b.max(begin, first), first));
    part.end =
        b.select(isWhole, b.index(steps), b.sub(b.min(end, last), first));
    if (isRecall)
      part.end = b.select(isRecall, zero, part.end);
    return part;
  };
  // As many at once as there are places.
  b.forEach(zero, parts, b.index(threads), [&](Value first) {
    Value count = b.min(b.sub(parts, first), b.index(threads));
    b.barrier(); // The places before have been read.
    b.ifThen(b.isLess(b.thread(), count),
             [&] { writePlace(getPart(b.add(first, b.thread())).tile); });
    b.barrier();
    emitParts(count, [&](Value i) { return getPart(b.add(first, i)); });
  });
}

/// Computes `count` parts, whose places are known. Tiles without anything to
/// compare are rare, and are computed like others.
void SelectKernel::emitParts(Value count, function_ref<Part(Value)> getPart) {
  auto start = [&](Value number) {
    Part part = getPart(number);
    gram.startNext(part.begin, part.end);
  };
  Values ids = loadIds(readPlace(b.index(0)));
  storeIds(ids, /*isNext=*/true);
  b.barrier();
  start(b.index(0));
  storeIds(ids, /*isNext=*/false);
  storeScales(loadScales(ids));
  b.barrier();
  b.forEach(b.index(0), count, b.index(1), [&](Value number) {
    Part part = getPart(number);
    Place place = readPlace(number);
    Value next = b.add(number, 1);
    // Past the end the last part's ids again: that is cheaper than a branch.
    Values ids = loadIds(readPlace(b.min(next, b.sub(count, 1))));
    // Read now, used when the tile is reduced.
    Values words;
    for (int64_t i = 0; i < kNumGramWords; ++i)
      words.push_back(rounds.get(b.add(place.config, i)));
    auto word = [&](int64_t i) { return words[i]; };

    gram.computeStarted(part.begin, part.end);
    storeIds(ids, /*isNext=*/true);
    b.barrier();
    b.ifThen(b.isLess(next, count), [&] { start(next); });
    Values scales = loadScales(ids);
    reduceTile(word, place.columnTile, part);
    if (hasColumns())
      b.ifThen(b.both(isOfBits(word(kUse)), b.isEqual(part.begin, 0)), [&] {
        // The workgroup of the last tile of a row of tiles writes the zeros
        // behind it.
        Value behind = b.add(place.columnTile, 1);
        Value end = b.ceilDiv(word(kColumnCount), gram.getColumns());
        b.ifThen(b.compare(CmpIPredicate::sge, behind, place.width), [&] {
          clearBits(behind, b.max(end, behind), word(kFirstBit));
        });
      });
    b.barrier(); // What is known of this tile's tokens has been read.
    storeIds(ids, /*isNext=*/false);
    storeScales(scales);
    b.barrier();
  });
}

SelectKernel::Place SelectKernel::readPlace(Value number) {
  auto word = [&](int64_t i) {
    return b.readNumber(places, b.add(b.mul(number, kPlaceWords), i));
  };
  return {word(0), word(1), word(2), word(3)};
}

//===----------------------------------------------------------------------===//
// Tokens of a tile, in registers
//===----------------------------------------------------------------------===//

/// Calls `body` for this thread's tokens of a tile's sides.
void SelectKernel::forSides(
    function_ref<void(unsigned number, Value local, size_t i)> body) {
  size_t i = 0;
  for (unsigned number : {0, 1}) {
    int64_t extent = gram.getSide(number).extent, threads = b.getThreads();
    // Threads without a token of a side run the same code.
    for (int64_t first = 0; first < extent; first += threads)
      body(number, b.rem(b.add(b.thread(), first), extent), i++);
  }
}

/// -1 where there is none.
Values SelectKernel::loadIds(const Place &place) {
  Values ids;
  forSides([&](unsigned number, Value local, size_t) {
    TokenList list = readList(
        number, [&](int64_t i) { return rounds.get(b.add(place.config, i)); });
    Value tile = number == 0 ? place.rowTile : place.columnTile;
    Value i = b.add(b.mul(tile, gram.getSide(number).extent), local);
    ids.push_back(
        b.select(b.isLess(i, list.count), readId(list, i), b.index(-1)));
  });
  return ids;
}

/// Scales, and where sequences begin.
Values SelectKernel::loadScales(ArrayRef<Value> ids) {
  Values scales, begins;
  forSides([&](unsigned number, Value, size_t i) {
    Value exists = b.compare(CmpIPredicate::sge, ids[i], b.index(0));
    Value safe = b.max(ids[i], b.index(0));
    scales.push_back(readScale(number, exists, safe));
    if (problem.offsets)
      begins.push_back(rounds.read(SelectArray::Begins, safe));
  });
  llvm::append_range(scales, begins);
  return scales;
}

void SelectKernel::storeIds(ArrayRef<Value> ids, bool isNext) {
  forSides([&](unsigned number, Value local, size_t i) {
    const GramTile::Side &side = gram.getSide(number);
    b.write(b.toI32(ids[i]), isNext ? side.nextIds : side.ids, local);
  });
}

void SelectKernel::storeScales(ArrayRef<Value> scales) {
  forSides([&](unsigned number, Value local, size_t i) {
    b.write(scales[i], gram.getSide(number).scales, local);
    if (problem.offsets)
      b.write(scales[scales.size() / 2 + i], begins[number], local);
  });
}
