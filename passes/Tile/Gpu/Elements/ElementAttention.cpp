//===- ElementAttention.cpp - One element of attention --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread computes an element of dense attention alone, for kernels that have
// attention where its generator does not take them: right, and slow.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Elements/ElementEmitter.h"

#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

Value ElementEmitter::getAttention(AttentionOp op, ValueRange indices) {
  if (op.getOffsets()) {
    op->emitOpError(
        "reads a ragged batch, whose elements cannot be computed one by one");
    return fail(op.getOutput(), 1);
  }
  Value query = indices[0], head = indices[1], column = indices[2];
  Value key = op.getKey(), value = op.getValue();
  int64_t heads = op.getQuery().getType().getDimSize(1);
  int64_t keyHeads = op.getKey().getType().getDimSize(1);
  // Groups of query heads share a KV head.
  Value keyHead = b.div(head, heads / keyHeads);
  Value keys = size(key, 0);
  // Queries are the last of the keys.
  Value position = b.sub(b.add(query, keys), size(op.getQuery(), 0));
  Value end = op.getCausal() ? b.add(position, 1) : keys;
  Value none = b.f32(-std::numeric_limits<float>::infinity()), zero = b.f32(0);
  auto isNone = [&](Value score) -> Value {
    return b.compare(CmpFPredicate::OEQ, score, none);
  };
  /// exp(score - largest), zero for a key that is not seen.
  auto weigh = [&](Value score, Value largest) -> Value {
    Value weight = math::ExpOp::create(b, b.sub(score, largest));
    return b.select(isNone(score), zero, weight);
  };

  auto getScore = [&](Value j) -> Value {
    Value dot = b.loop(b.index(0), size(key, 2), 1, zero,
                       [&](Value k, ValueRange carried) -> Values {
                         Value q =
                             b.toF32(get(op.getQuery(), {query, head, k}, 1));
                         Value x = b.toF32(get(key, {j, keyHead, k}, 1));
                         return {b.fma(q, x, carried[0])};
                       })[0];
    Value score = b.mul(dot, b.f32(op.getEffectiveScale()));
    if (Value mask = op.getMask())
      score = b.add(score, get(mask, {query, j}, 1));
    if (std::optional<int64_t> window = op.getWindow()) {
      Value isNear = b.compare(CmpIPredicate::sgt, j, b.sub(position, *window));
      Value isSink = b.isLess(j, op.getSinks().value_or(0));
      score = b.select(arith::OrIOp::create(b, isNear, isSink), score, none);
    }
    return score;
  };
  // One pass over the keys: the sums so far shrink when a larger score comes.
  Values sums = b.loop(b.index(0), end, 1, {none, zero, zero},
                       [&](Value j, ValueRange carried) -> Values {
                         Value score = getScore(j);
                         Value largest =
                             arith::MaximumFOp::create(b, carried[0], score);
                         Value shrink = weigh(carried[0], largest);
                         Value weight = weigh(score, largest);
                         Value x = b.toF32(get(value, {j, keyHead, column}, 1));
                         auto accumulate = [&](Value sum, Value more) -> Value {
                           return b.fma(sum, shrink, more);
                         };
                         return {largest, accumulate(carried[1], weight),
                                 accumulate(carried[2], b.mul(weight, x))};
                       });
  // A query that sees no key gives zeros, not 0 / 0.
  Value isEmpty = b.compare(CmpFPredicate::OEQ, sums[1], zero);
  Value mean = b.select(isEmpty, zero, b.div(sums[2], sums[1]));
  return b.convert(mean, op.getOutput().getType().getElementType());
}
