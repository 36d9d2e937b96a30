//===- SelectShares.cpp - Tiles that several workgroups compute -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As many tiles as fill the GPU a whole number of times are computed by one
// workgroup each. The steps of the rest, all tiles' one after the other, are
// cut into equal shares where that pays: a workgroup computes its part of at
// most two tiles and leaves sums in memory, and the one that finishes last adds
// them and goes on.
//
// A round may also leave the sums of all its tiles, for a second one that
// reduces them again and multiplies nothing.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Core/Registers.h"
#include "passes/Tile/Gpu/Select/SelectKernel.h"

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;

/// Steps that storing and adding sums takes the time of: shares must save more.
static constexpr int64_t kSplitCost = 12;
/// Workgroups that share a tile, on average: their sums are added one after the
/// other.
static constexpr int64_t kMaxParts = 8;
/// Words before the sums that count the parts of tiles, for as many tiles as
/// workgroups.
static constexpr int64_t kPartCounts = 1024;

//===----------------------------------------------------------------------===//
// What a round consists of
//===----------------------------------------------------------------------===//

/// Decides which tiles are shared, and how.
void SelectKernel::publishShares(Value tiles, Value keepsSums) {
  assert(workgroups <= kPartCounts);
  int64_t steps = gram.getSteps();
  // Times that all workgroups have a tile each.
  Value waves = div32(tiles, b.index(workgroups));
  Value rest = b.sub(tiles, b.mul(waves, workgroups));
  // One sum for each part: shares and tiles end between parts.
  Value room = b.sub(rounds.getSplitWords(), kPartCounts);
  Value sums = b.div(b.max(room, b.index(0)), gram.getSumWords());
  // Parts are at most as many as shares and tiles together, and each needs a
  // sum.
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
  Value keeps = zero;
  if (keepsSums) {
    Value all = b.add(whole, b.add(split, shares));
    Value fits = b.both(b.compare(CmpIPredicate::sle, all, sums),
                        b.compare(CmpIPredicate::sgt, tiles, zero));
    keeps = b.select(b.both(keepsSums, fits), b.index(1), zero);
  }
  rounds.set(kKeepsSums, keeps);
  Value counts = rounds.getSplitPlace();
  forTokens(zero, split, [&](Value i) {
    b.write(b.i32(0), problem.to.scratch, b.add(counts, i));
  });
  publishItems(whole, shares);
}

/// Lets the tiles of the round before be reduced again, from their sums, to
/// find the nearest representatives.
void SelectKernel::recallGram() {
  rounds.set(kRecall, b.index(1));
  for (int64_t i = 0; i < kMaxProducts; ++i)
    rounds.set(kGram + i * kGramWords + kUse, b.index(kUseBest));
  Value tiles = b.add(rounds.get(kWholeTiles), rounds.get(kSplitTiles));
  publishItems(tiles, b.index(0));
}

/// Starts a round of `whole` whole tiles and `shares` shares of the others.
void SelectKernel::publishItems(Value whole, Value shares) {
  // Where tiles follow each other without a pause a workgroup has one item.
  Value items = gram.canStart()
                    ? b.min(b.index(workgroups), b.max(whole, shares))
                    : b.add(whole, shares);
  rounds.publish(RoundKind::Gram, items);
}

//===----------------------------------------------------------------------===//
// Parts of tiles
//===----------------------------------------------------------------------===//

void SelectKernel::emitGram(Value item) {
  if (gram.canStart())
    return emitAhead(item);
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
  if (canRecall()) {
    // A recall has no step of tile `item`.
    Value isRecall = b.isEqual(rounds.get(kRecall), 1);
    begin = b.select(isRecall, b.mul(item, steps), begin);
    end = b.select(isRecall, begin, end);
  }
  Value firstTile = b.div(begin, steps), endTile = b.ceilDiv(end, steps);
  if (canRecall())
    endTile = b.select(b.isEqual(rounds.get(kRecall), 1), b.add(firstTile, 1),
                       endTile);
  begin = computeHere(b, begin);
  end = computeHere(b, end);
  share = computeHere(b, share);
  b.forEach(firstTile, endTile, b.index(1), [&](Value tile) {
    Value first = b.mul(tile, steps);
    Part part = {tile, share, b.sub(b.max(begin, first), first),
                 b.sub(b.min(end, b.add(first, steps)), first)};
    rounds.loadHere([&] { emitTile(part); });
  });
}

/// Adds the parts of a tile if this one finishes last; returns whether it does.
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
  Value isThere = isWhole, ownSum = b.index(0);
  if (canRecall()) {
    // Sums that are kept are first those of whole tiles, then the others, which
    // take the place of their first part.
    Value keepsSums = b.isEqual(rounds.get(kKeepsSums), 1);
    Value lead = b.select(keepsSums, rounds.get(kWholeTiles), b.index(0));
    sums = b.add(sums, b.mul(lead, gram.getSumWords()));
    isThere =
        arith::OrIOp::create(b, isWhole, b.isEqual(rounds.get(kRecall), 1));
    ownSum = b.select(b.isLess(rest, 0), rest, firstSum);
  }

  Value isLast = b.ifElse(
      isThere, [&] { return b.i32(1); },
      [&] {
        Value sum = b.mul(b.add(part.share, rest), gram.getSumWords());
        gram.storeSums(problem.to.scratch, b.add(sums, sum));
        // The sums must be visible before the count includes them.
        releaseFence(b);
        b.barrier();
        b.ifThen(b.isEqual(b.thread(), 0), [&] {
          Value before = atomicUpdate(b, LLVM::AtomicBinOp::add, b.i32(1),
                                      problem.to.scratch, b.add(counts, rest),
                                      Order::Both);
          Value isLast = b.compare(CmpIPredicate::eq, b.toIndex(before),
                                   b.sub(lastShare, firstShare));
          b.write(arith::ExtUIOp::create(b, b.getI32Type(), isLast), found,
                  b.index(0));
        });
        b.barrier();
        acquireFence(b);
        return b.read(found, b.index(0));
      });
  isLast = b.compare(CmpIPredicate::ne, isLast, b.i32(0));
  Value isPart = b.negate(isWhole);
  if (canRecall()) {
    Value isRecall = b.isEqual(rounds.get(kRecall), 1);
    firstSum = b.select(isRecall, ownSum, firstSum);
    lastSum = b.select(isRecall, ownSum, lastSum);
  }
  gram.addSums(b.both(isLast, isPart), problem.to.scratch, sums, firstSum,
               lastSum);
  if (canRecall())
    b.ifThen(b.both(isLast, b.isEqual(rounds.get(kKeepsSums), 1)), [&] {
      Value place = b.mul(ownSum, gram.getSumWords());
      gram.storeSums(problem.to.scratch, b.add(sums, place));
    });
  return isLast;
}
