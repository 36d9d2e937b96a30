//===- BatchAttend.cpp - Attention on representatives for other compilers -===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The number of representatives is known only on the device. Therefore every
// token has a place among the keys, and a mask says which keys a query sees.
//
// A cluster of n tokens weighs as n equal keys. So instead of one key with log
// n added, each member stands for itself with the score of its cluster where
// that is simpler: then members need not be counted.
//
//===----------------------------------------------------------------------===//

#include "dialect/DecomposeUtils.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/Iree/BatchedHeads.h"
#include "passes/Iree/Dispatch.h"

#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The representative of each token for each KV head, K x T.
static Value createNearest(ValueBuilder &b, AttendOp op) {
  Value nearest = UnpackSelectionOp::create(b, op.getSelection()).getNearest();
  if (op.getSelection().getType().getHeads())
    return nearest;
  SmallVector<OpFoldResult> sizes = {getSize(b, op.getKey(), 1),
                                     getSize(b, nearest, 0)};
  return createLoops(
      b, "t->kt", nearest, createEmpty(b, sizes, b.getI32Type()),
      [](ValueBuilder &b, ValueRange args) -> Value { return args[0]; });
}

using ScoreBody = function_ref<Value(ValueBuilder &, ValueRange args, Value i,
                                     Value j, Value &isVisible)>;

/// The scores of K x G x T x S from products and `nearest`: scaled, then mapped
/// by `body`, which gets query i, key j, the score and the representative of j.
static Value createScores(ValueBuilder &b, AttendOp op, Value products,
                          Value nearest, ScoreBody body) {
  return createLoops(b, "kgts,ks->kgts", {products, nearest},
                     createEmptyLike(b, products, b.getF32Type()),
                     [&](ValueBuilder &b, ValueRange args) -> Value {
                       Value scale =
                           b.f32(static_cast<float>(op.getEffectiveScale()));
                       Value score = b.mul(args[0], scale);
                       Value isVisible;
                       score = body(b, {score, args[1]}, getLoopIndex(b, 2),
                                    getLoopIndex(b, 3), isVisible);
                       return b.select(isVisible, score, b.f32(-kInfinity));
                     });
}

//===----------------------------------------------------------------------===//
// mode copy
//===----------------------------------------------------------------------===//

/// `rows`, K x T x D, with the row of its representative for each token.
static Value takeRepresentatives(ValueBuilder &b, Value rows, Value nearest) {
  return createLoops(b, "kt->ktd", nearest,
                     createEmptyLike(b, rows, b.getF32Type()),
                     [&](ValueBuilder &b, ValueRange args) -> Value {
                       return load(b, rows,
                                   {getLoopIndex(b, 0), b.toIndex(args[0]),
                                    getLoopIndex(b, 2)});
                     });
}

/// `outputs`, T x H x D, with the output of its representative for each token.
static Value copyOutputs(ValueBuilder &b, Value outputs, Value nearest,
                         int64_t group) {
  auto type = cast<RankedTensorType>(outputs.getType());
  return createLoops(
      b, "->the", {}, createEmptyLike(b, outputs, type.getElementType()),
      [&](ValueBuilder &b, ValueRange) -> Value {
        Value h = getLoopIndex(b, 1);
        Value head = b.div(h, b.index(group));
        Value from = load(b, nearest, {head, getLoopIndex(b, 0)});
        return load(b, outputs, {b.toIndex(from), h, getLoopIndex(b, 2)});
      });
}

/// Outputs of redundant tokens are undefined, and are not used.
static Value attendCopy(ValueBuilder &b, AttendOp op, Value nearest) {
  Value keys = splitHeads(b, op.getKey()),
        values = splitHeads(b, op.getValue());
  if (op.getLogCount()) {
    keys = takeRepresentatives(b, keys, nearest);
    values = takeRepresentatives(b, values, nearest);
  }
  auto decide = [&](ValueBuilder &b, ValueRange args, Value i, Value j,
                    Value &isVisible) -> Value {
    SmallVector<Value> conditions;
    // Members have the rows of their representatives, or take no part.
    if (!op.getLogCount())
      conditions.push_back(b.compare(CmpIPredicate::eq, args[1], b.toI32(j)));
    if (op.getCausal()) {
      conditions.push_back(b.compare(CmpIPredicate::sle, j, i));
      conditions.push_back(b.compare(CmpIPredicate::sle, args[1], b.toI32(i)));
    }
    isVisible = b.allOf(conditions);
    return args[0];
  };
  Value outputs =
      attendInBatches(b, op.getQuery(), keys, values, [&](Value products) {
        return createScores(b, op, products, nearest, decide);
      });
  int64_t group = op.getQuery().getType().getDimSize(1) /
                  op.getKey().getType().getDimSize(1);
  return copyOutputs(b, outputs, nearest, group);
}

//===----------------------------------------------------------------------===//
// mode keys
//===----------------------------------------------------------------------===//

/// The first token that queries of the block `number` see exactly; all `tokens`
/// are in clusters where attention is not causal.
static Value createExactStart(ValueBuilder &b, AttendOp op, Value number,
                              Value tokens) {
  if (!op.getCausal())
    return tokens;
  Value start = b.mul(number, b.index(*op.getBlock()));
  start = b.sub(start, b.index(*op.getWindow()));
  return b.max(start, b.index(0));
}

/// The number of the block of query i.
static Value getBlock(ValueBuilder &b, AttendOp op, Value i) {
  if (!op.getCausal())
    return b.index(0);
  return b.div(i, b.index(*op.getBlock()));
}

/// For each KV head, block and token the number of members of the token's
/// cluster that queries of the block see: K x B x T.
static Value createMemberCounts(ValueBuilder &b, AttendOp op, Value nearest) {
  Value tokens = getSizeValue(b, nearest, 1);
  Value blocks = b.index(1);
  if (op.getCausal())
    blocks = arith::CeilDivUIOp::create(b, tokens, b.index(*op.getBlock()));
  SmallVector<OpFoldResult> sizes = {getSize(b, nearest, 0), blocks,
                                     getSize(b, nearest, 1)};
  return createLoops(
      b, "km->kbj", nearest, createFilled(b, sizes, b.i32(0)),
      [&](ValueBuilder &b, ValueRange args) -> Value {
        Value end = createExactStart(b, op, getLoopIndex(b, 1), tokens);
        Value isMember =
            b.allOf({b.compare(CmpIPredicate::slt, getLoopIndex(b, 3), end),
                     b.compare(CmpIPredicate::eq, args[0],
                               b.toI32(getLoopIndex(b, 2)))});
        Value one = arith::ExtUIOp::create(b, b.getI32Type(), isMember);
        return b.add(args[1], one);
      });
}

/// `merge representative`: before `e` key j is the cluster that j represents.
static Value attendMembers(ValueBuilder &b, AttendOp op, Value nearest) {
  Value counts = createMemberCounts(b, op, nearest);
  Value tokens = getSizeValue(b, nearest, 1);
  auto mask = [&](Value products) {
    return createScores(
        b, op, products, nearest,
        [&](ValueBuilder &b, ValueRange args, Value i, Value j,
            Value &isVisible) -> Value {
          Value block = getBlock(b, op, i);
          Value e = createExactStart(b, op, block, tokens);
          Value isCluster = b.compare(CmpIPredicate::slt, j, e);
          Value count = load(b, counts, {getLoopIndex(b, 0), block, j});
          Value hasMembers = b.compare(CmpIPredicate::sgt, count, b.i32(0));
          isVisible = b.select(isCluster, hasMembers,
                               b.compare(CmpIPredicate::sle, j, i));
          // Not chosen where a cluster has no members: the logarithm of 0.
          Value log = math::LogOp::create(b, b.toF32(count));
          return b.select(isCluster, b.add(args[0], log), args[0]);
        });
  };
  return attendInBatches(b, op.getQuery(), splitHeads(b, op.getKey()),
                         splitHeads(b, op.getValue()), mask);
}

/// `products` of K x G x T x S with the mean over its cluster for each key that
/// a query sees as a member of one. A product with a mean is the mean of
/// products.
///
/// Sums are added up where representatives point, so this is a dispatch.
static Value averageClusters(ValueBuilder &b, AttendOp op, Value products,
                             Value nearest) {
  OpFoldResult size = getSize(b, nearest, 1);
  SmallVector<Value> outputs = {products, createFilled(b, size, b.f32(0)),
                                createFilled(b, size, b.i32(0))};
  auto average = [&](ValueBuilder &b, ValueRange in, ValueRange out) {
    Value zero = b.index(0), tokens = getSizeValue(b, out[1], 0);
    auto ofRow = [&](Value k, Value g, Value t, ValueRange all) {
      Value e = createExactStart(b, op, getBlock(b, op, t), tokens);
      // The representative of m, if queries know it: the first token otherwise,
      // whose sums are not changed then.
      auto getCluster = [&](Value m, Value &isKnown) {
        Value n = load(b, in[0], {k, m});
        isKnown = b.compare(CmpIPredicate::slt, n, b.toI32(e));
        return b.toIndex(b.select(isKnown, n, b.i32(0)));
      };
      auto clear = [&](Value m, ValueRange sums) {
        return SmallVector<Value>{store(b, b.f32(0), sums[0], m),
                                  store(b, b.i32(0), sums[1], m)};
      };
      auto add = [&](Value m, ValueRange sums) {
        Value isKnown, n = getCluster(m, isKnown);
        Value term = b.select(isKnown, load(b, all[0], {k, g, t, m}), b.f32(0));
        Value one = arith::ExtUIOp::create(b, b.getI32Type(), isKnown);
        Value sum = b.add(load(b, sums[0], n), term);
        Value count = b.add(load(b, sums[1], n), one);
        return SmallVector<Value>{store(b, sum, sums[0], n),
                                  store(b, count, sums[1], n)};
      };
      SmallVector<Value> sums = b.loop(zero, e, 1, all.drop_front(), clear);
      sums = b.loop(zero, e, 1, sums, add);
      auto put = [&](Value m, ValueRange scores) {
        Value isKnown, n = getCluster(m, isKnown);
        Value mean = b.div(load(b, sums[0], n), b.toF32(load(b, sums[1], n)));
        return SmallVector<Value>{store(b, mean, scores[0], {k, g, t, m})};
      };
      Value scores = b.loop(zero, e, 1, all.front(), put).front();
      return SmallVector<Value>{scores, sums[0], sums[1]};
    };
    auto overTokens = [&](Value k, Value g, ValueRange all) {
      return b.loop(zero, tokens, 1, all, [&](Value t, ValueRange all) {
        return ofRow(k, g, t, all);
      });
    };
    auto overGroup = [&](Value k, ValueRange all) {
      return b.loop(
          zero, getSizeValue(b, out[0], 1), 1, all,
          [&](Value g, ValueRange all) { return overTokens(k, g, all); });
    };
    return b.loop(zero, getSizeValue(b, out[0], 0), 1, out, overGroup);
  };
  return iree::createDispatch(b, nearest, outputs, average).front();
}

/// `merge mean`: before `e` keys are members of clusters. They have the
/// cluster's score, and together the mean of their values.
static Value attendMeans(ValueBuilder &b, AttendOp op, Value nearest) {
  Value tokens = getSizeValue(b, nearest, 1);
  auto mask = [&](Value products) {
    return createScores(
        b, op, averageClusters(b, op, products, nearest), nearest,
        [&](ValueBuilder &b, ValueRange args, Value i, Value j,
            Value &isVisible) -> Value {
          Value e = createExactStart(b, op, getBlock(b, op, i), tokens);
          isVisible =
              b.select(b.compare(CmpIPredicate::slt, j, e),
                       b.compare(CmpIPredicate::slt, args[1], b.toI32(e)),
                       b.compare(CmpIPredicate::sle, j, i));
          return args[0];
        });
  };
  return attendInBatches(b, op.getQuery(), splitHeads(b, op.getKey()),
                         splitHeads(b, op.getValue()), mask);
}

namespace {
struct BatchAttend final : OpRewritePattern<AttendOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(AttendOp op,
                                PatternRewriter &rewriter) const override {
    if (!canBatch(op))
      return rewriter.notifyMatchFailure(op, "ragged, or of unknown heads");
    ValueBuilder b(op.getLoc(), rewriter);
    Value nearest = createNearest(b, op);
    if (op.getMode() == AttendMode::Copy)
      rewriter.replaceOp(op, attendCopy(b, op, nearest));
    else if (op.getEffectiveMerge() == Merge::Mean)
      rewriter.replaceOp(op, attendMeans(b, op, nearest));
    else
      rewriter.replaceOp(op, attendMembers(b, op, nearest));
    return success();
  }
};
} // namespace

void gist::populateBatchAttendPatterns(RewritePatternSet &patterns) {
  patterns.add<BatchAttend>(patterns.getContext());
}
