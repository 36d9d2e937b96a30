//===- ClusterDecide.cpp - Which tokens found clusters --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Cluster/ClusterDecide.h"

using namespace mlir;
using namespace gist;
using Value = GpuBuilder::Value;
using Values = GpuBuilder::Values;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

static constexpr int64_t kBits = 32; ///< of a word

static Value isAny(GpuBuilder &b, Value bits) {
  return b.compare(CmpIPredicate::ne, bits, b.i32(0));
}

/// Whether `x` and `y` have a bit in common.
static Value overlap(GpuBuilder &b, ValueRange x, ValueRange y) {
  Value common = b.i32(0);
  for (auto [left, right] : llvm::zip_equal(x, y))
    common = b.either(common, arith::AndIOp::create(b, left, right));
  return isAny(b, common);
}

/// 1 << number.
static Value getBit(GpuBuilder &b, Value number) {
  return arith::ShLIOp::create(b, b.i32(1), number);
}

ClusterDecide::ClusterDecide(GpuBuilder &b, ClusterScores &scores)
    : b(b), scores(scores), tokens(scores.getTokens()),
      words(llvm::divideCeil(tokens, kBits)) {
  auto allocate = [&](int64_t size) {
    return b.allocWorkgroup({size}, b.getI32Type());
  };
  // Bit j of the words of token i: i is like the earlier token j.
  alike = allocate(tokens * words);
  open = allocate(words);
  founders = allocate(words);
  founderOf = allocate(tokens);
}

Value ClusterDecide::isAlike(const ClusterHead &head, Value token,
                             Value product, Value inverse) {
  Value cosine = b.mul(product, inverse);
  Value likeness = createLikeness(b, cosine, token, head.theta);
  Value isNear = b.compare(CmpFPredicate::OGE, likeness, head.theta);
  Value hasDirection = b.compare(CmpFPredicate::ONE, inverse, b.f32(0));
  // Sinks are kept whatever they are like.
  Value isCluster = b.compare(CmpIPredicate::slt, head.sinks, b.index(0));
  return b.both(b.both(isCluster, hasDirection), isNear);
}

void ClusterDecide::findAlike(const Tokens &known, const ClusterHead &head,
                              Value first) {
  b.forEach(
      b.thread(), b.index(tokens * words), b.index(b.getThreads()),
      [&](Value item) {
        Value token = b.div(item, words);
        Value begin = b.mul(b.rem(item, words), kBits);
        Value inverse = b.read(known.inverses, token);
        // Only earlier tokens: the word of the token itself is part full.
        Value end =
            b.max(b.min(b.sub(token, begin), b.index(kBits)), b.index(0));
        Values found = b.loop(
            b.index(0), end, 1, b.i32(0), [&](Value i, ValueRange carried) {
              Value product =
                  b.read(known.pairs, scores.getPair(token, b.add(begin, i)));
              Value isSet =
                  isAlike(head, b.add(first, token), product, inverse);
              Value bit = b.select(isSet, getBit(b, b.toI32(i)), b.i32(0));
              return Values{b.either(carried[0], bit)};
            });
        b.write(found[0], alike, item);
      });
}

void ClusterDecide::writeBits(Value target, Value isSet) {
  Value place = b.rem(b.thread(), kBits);
  Value word = b.select(isSet, getBit(b, b.toI32(place)), b.i32(0));
  word = b.waveReduce(word, GpuBuilder::Kind::OR,
                      std::min<int64_t>(tokens, kBits));
  Value isFirst = b.both(b.isLess(b.thread(), tokens), b.isEqual(place, 0));
  b.ifThen(isFirst, [&] { b.write(word, target, b.div(b.thread(), kBits)); });
}

Values ClusterDecide::readWords(Value source, Value first) {
  Values read;
  for (int64_t i = 0; i < words; ++i)
    read.push_back(b.read(source, b.add(first, i)));
  return read;
}

Value ClusterDecide::emit(const Tokens &known, const ClusterHead &head,
                          Value first, Value number, Value count) {
  findAlike(known, head, first);
  Value isMine = b.isLess(b.thread(), tokens);
  Value token = b.min(b.thread(), b.index(tokens - 1));
  Value isThere = b.both(isMine, b.isLess(token, number));
  Value inverse = b.read(known.inverses, token);
  Value top = b.read(known.best, token), owner = b.read(known.owners, token);
  Value joins = isAlike(head, b.add(first, token), top, inverse);
  writeBits(open, b.both(isThere, b.negate(joins)));
  // 0 != 0, which is false: no token has founded a cluster yet.
  writeBits(founders, b.compare(CmpIPredicate::ne, b.i32(0), b.i32(0)));
  b.barrier();

  Values mine = readWords(alike, b.mul(token, words));
  Value bit = getBit(b, b.toI32(b.rem(token, kBits)));
  Value word = b.div(token, kBits);
  auto isSomeOpen = [&] {
    Value all = b.i32(0);
    for (Value part : readWords(open, b.index(0)))
      all = b.either(all, part);
    return all;
  };
  // The state: whether this token founds a cluster, and which tokens are open.
  Values start = {b.i32(0), isSomeOpen()};
  // All threads read the same words, so all leave the loop together and meet at
  // the barriers inside.
  auto decideOpen = [&](ValueRange state) {
    Values areOpen = readWords(open, b.index(0));
    Values found = readWords(founders, b.index(0));
    Value isOpen = b.both(
        isMine, isAny(b, arith::AndIOp::create(b, b.read(open, word), bit)));
    isOpen = b.both(isOpen, b.negate(overlap(b, mine, found)));
    Value waits = overlap(b, mine, areOpen);
    Value founds =
        b.either(isAny(b, state[0]), b.both(isOpen, b.negate(waits)));
    b.barrier(); // All have read.
    writeBits(open, b.both(isOpen, waits));
    writeBits(founders, founds);
    b.barrier();
    return Values{b.select(founds, b.i32(1), b.i32(0)), isSomeOpen()};
  };
  Values rounds = b.loopWhile(
      start, [&](ValueRange state) { return isAny(b, state[1]); }, decideOpen);

  // New clusters in the order of their tokens, as many as there is room for.
  Value isSink = b.compare(CmpIPredicate::sge, head.sinks, b.index(0));
  Value limit =
      b.select(isSink, b.min(head.sinks, head.capacity), head.capacity);
  // Founders for which no room is left join instead.
  Value room = b.max(b.sub(limit, count), b.index(0));
  Value rank = b.i32(0), total = b.i32(0);
  for (auto [i, part] : llvm::enumerate(readWords(founders, b.index(0)))) {
    auto number = static_cast<int64_t>(i);
    Value below = arith::SubIOp::create(b, bit, b.i32(1));
    Value isWhole = b.compare(CmpIPredicate::sgt, word, b.index(number));
    Value isPart = b.compare(CmpIPredicate::eq, word, b.index(number));
    Value mask =
        b.select(isWhole, b.i32(-1), b.select(isPart, below, b.i32(0)));
    Value earlier = arith::AndIOp::create(b, part, mask);
    rank = arith::AddIOp::create(b, rank, math::CtPopOp::create(b, earlier));
    total = arith::AddIOp::create(b, total, math::CtPopOp::create(b, part));
  }
  Value place = b.toIndex(rank);
  Value isFounder = b.both(isAny(b, rounds[0]), b.isLess(place, room));
  b.ifThen(b.both(isMine, isFounder),
           [&] { b.write(b.toI32(token), founderOf, place); });
  b.barrier();

  // The others join the nearest, of equals the first.
  Value seen = b.select(isFounder, b.index(0), b.min(place, room));
  Values nearest = b.loop(
      b.index(0), seen, 1, {top, owner}, [&](Value i, ValueRange carried) {
        Value earlier = b.toIndex(b.read(founderOf, i));
        Value product = b.read(known.pairs, scores.getPair(token, earlier));
        Value isBetter = b.compare(CmpFPredicate::OGT, product, carried[0]);
        return Values{b.select(isBetter, product, carried[0]),
                      b.select(isBetter, b.toI32(b.add(count, i)), carried[1])};
      });
  Value hasDirection = b.compare(CmpFPredicate::ONE, inverse, b.f32(0));
  // Without room a token joins the nearest all the same, if there is one.
  Value hasOwner = b.compare(CmpIPredicate::sge, nearest[1], b.i32(0));
  Value joinsOne = b.both(b.both(b.negate(isSink), hasDirection), hasOwner);
  Value chosen = b.select(isFounder, b.toI32(b.add(count, place)),
                          b.select(joinsOne, nearest[1], b.i32(-1)));
  b.ifThen(isMine, [&] {
    b.write(b.select(isThere, chosen, b.i32(-1)), known.owners, token);
  });
  return b.add(count, b.min(b.toIndex(total), room));
}
