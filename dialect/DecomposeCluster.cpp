//===- DecomposeCluster.cpp - A cache of clusters, defined ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a KV cache of clusters computes, token by token. The ring holds the last
// tokens of a head exactly; tokens that leave the window join the cluster they
// are most like, or found one. Targets are tested against this.
//
//===----------------------------------------------------------------------===//

#include "dialect/ClusterHead.h"
#include "dialect/Decompose.h"
#include "dialect/DecomposeUtils.h"
#include "dialect/GistClusterOps.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// What the table says of a head.
static ClusterHead readHead(ValueBuilder &b, Value heads, Value layer,
                            Value head) {
  return ClusterHead(b, b.getI32Type(), [&](Value column) {
    return load(b, heads, {layer, head, column});
  });
}

namespace {
/// The tensors of a cache, in the order of the op's operands.
struct Cache {
  explicit Cache(ValueRange values)
      : keys(values[0]), values(values[1]), units(values[2]),
        weights(values[3]), counts(values[4]) {}
  SmallVector<Value> all() const {
    return {keys, values, units, weights, counts};
  }

  Value keys, values, units, weights, counts;
};
} // namespace

//===----------------------------------------------------------------------===//
// cluster_update
//===----------------------------------------------------------------------===//

/// rows[to] becomes (n rows[to] + source[from]) / (n + 1), and with n = 0 the
/// source itself, times `factor`. Where the source is `rows` itself it is read
/// from what is being written, so that one buffer serves: other rows than `to`
/// stay as they are.
static Value mixRow(ValueBuilder &b, Value rows, Value to, Value source,
                    Value from, Value n, Value factor) {
  Type element = cast<RankedTensorType>(rows.getType()).getElementType();
  Value total = b.add(n, b.f32(1));
  Value isFirst = b.compare(CmpFPredicate::OEQ, n, b.f32(0));
  Value isNothing = b.compare(CmpFPredicate::OEQ, factor, b.f32(0));
  return b.loop(b.index(0), getSizeValue(b, rows, 1), 1, rows,
                [&](Value i, ValueRange carried) {
                  Value read = source == rows ? carried[0] : source;
                  Value x = b.toF32(load(b, read, {from, i}));
                  // Zero times a NaN is a NaN.
                  x = b.select(isNothing, b.f32(0), b.mul(x, factor));
                  Value old = b.toF32(load(b, carried[0], {to, i}));
                  Value mean = b.div(b.add(b.mul(n, old), x), total);
                  Value result = b.select(isFirst, x, mean);
                  return SmallVector<Value>{store(b, b.convert(result, element),
                                                  carried[0], {to, i})};
                })[0];
}

/// The f32 dot product of two rows.
static Value createDot(ValueBuilder &b, Value lhs, Value i, Value rhs,
                       Value j) {
  return b.loop(b.index(0), getSizeValue(b, lhs, 1), 1, b.f32(0),
                [&](Value d, ValueRange carried) {
                  Value product = b.mul(b.toF32(load(b, lhs, {i, d})),
                                        b.toF32(load(b, rhs, {j, d})));
                  return SmallVector<Value>{b.add(carried[0], product)};
                })[0];
}

/// Adds the token in row `row` to cluster `cluster`, of which there are `count`
/// so far; `inverse` is one over the norm of its key, or zero.
/// Gives the cache and the number of clusters after it.
static SmallVector<Value> addToCluster(ValueBuilder &b, Cache cache,
                                       const ClusterHead &plan, Value row,
                                       Value cluster, Value count,
                                       Value inverse) {
  Value isNew = b.compare(CmpIPredicate::eq, cluster, count);
  Value unit = b.add(plan.unit, cluster), mean = b.add(plan.meanRow, cluster);
  Value zero = b.f32(0), one = b.f32(1);
  Value n = b.select(isNew, zero, load(b, cache.weights, unit));
  // In a new cluster the old weight is zero, so mixing stores the row. Only
  // then is the unit written.
  cache.units = b.ifElse(
      isNew,
      [&] {
        return mixRow(b, cache.units, unit, cache.keys, row, zero, inverse);
      },
      [&] { return cache.units; });
  // Keys and values are running means; the unit stays that of the founder.
  cache.keys = mixRow(b, cache.keys, mean, cache.keys, row, n, one);
  cache.values = mixRow(b, cache.values, mean, cache.values, row, n, one);
  cache.weights = store(b, b.add(n, one), cache.weights, unit);
  Value grown = b.select(isNew, b.add(count, b.index(1)), count);
  SmallVector<Value> result = cache.all();
  result.push_back(grown);
  return result;
}

/// The cluster with the largest dot product of its unit and the key in `row`,
/// and that product; -1 and -infinity if there is no cluster.
static SmallVector<Value> findCluster(ValueBuilder &b, const Cache &cache,
                                      const ClusterHead &plan, Value row,
                                      Value count, Value inverse) {
  SmallVector<Value> none = {b.f32(-kInfinity), b.index(-1)};
  return b.loop(b.index(0), count, 1, none, [&](Value j, ValueRange carried) {
    // Units have length 1, so the product with the inverse norm is the
    // cosine.
    Value dot = createDot(b, cache.units, b.add(plan.unit, j), cache.keys, row);
    Value cosine = b.mul(dot, inverse);
    // The first of equal ones wins. A NaN never does.
    Value isBetter = b.compare(CmpFPredicate::OGT, cosine, carried[0]);
    return SmallVector<Value>{b.select(isBetter, cosine, carried[0]),
                              b.select(isBetter, j, carried[1])};
  });
}

/// Puts token `t` into a cluster, or drops it. `carried` is the cache and the
/// number of clusters.
static SmallVector<Value> absorb(ValueBuilder &b, const ClusterHead &plan,
                                 Value t, ValueRange carried) {
  Cache cache(carried.drop_back());
  Value count = carried.back();
  Value row = plan.getRow(b, t);
  Value inverse =
      createInverseNorm(b, createDot(b, cache.keys, row, cache.keys, row));
  SmallVector<Value> found = findCluster(b, cache, plan, row, count, inverse);
  ClusterHead::Choice choice =
      plan.choose(b, t, inverse, found[0], found[1], count);
  return b.ifElse(
      choice.takesPart,
      [&] {
        return addToCluster(b, cache, plan, row, choice.cluster, count,
                            inverse);
      },
      [&] { return SmallVector<Value>(carried); });
}

/// Absorbs the tokens that have left the window. `op` is a ClusterUpdateOp or a
/// ClusterAbsorbOp.
template <typename OpTy>
static SmallVector<Value> leaveWindow(ValueBuilder &b, OpTy op,
                                      const ClusterHead &plan, Value layer,
                                      Value head, ValueRange state) {
  Value past = op.getPast();
  // Only at the beginning of a block: between, the ring has room for a block
  // more.
  return b.ifElse(
      plan.letsTokensLeave(b, past, op.getBlock()),
      [&] {
        Value end = plan.getFirstExact(b, past);
        // The tokens that left since the block before.
        // past - block is negative only before the first block, where the
        // maximum with zero makes both ends zero.
        Value begin = plan.getFirstExact(b, b.sub(past, op.getBlock()));
        Cache cache(state);
        SmallVector<Value> carried(state);
        carried.push_back(b.toIndex(load(b, cache.counts, {layer, head})));
        carried =
            b.loop(begin, end, 1, carried, [&](Value t, ValueRange carried) {
              return absorb(b, plan, t, carried);
            });
        Cache updated(ValueRange(carried).drop_back());
        updated.counts =
            store(b, b.toI32(carried.back()), updated.counts, {layer, head});
        return updated.all();
      },
      [&] { return SmallVector<Value>(state); });
}

namespace {
struct DecomposeClusterAbsorb final : OpRewritePattern<ClusterAbsorbOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(ClusterAbsorbOp op,
                                PatternRewriter &rewriter) const override {
    ValueBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> state = {op.getKeys(), op.getValues(), op.getUnits(),
                                op.getWeights(), op.getCounts()};
    Value zero = b.index(0);
    state = b.loop(
        b.index(op.getBegin()), b.index(op.getEnd()), 1, state,
        [&](Value layer, ValueRange carried) {
          return b.loop(zero, getSizeValue(b, op.getHeads(), 1), 1, carried,
                        [&](Value head, ValueRange carried) {
                          ClusterHead plan =
                              readHead(b, op.getHeads(), layer, head);
                          return leaveWindow(b, op, plan, layer, head, carried);
                        });
        });
    rewriter.replaceOp(op, state);
    return success();
  }
};

struct DecomposeClusterUpdate final : OpRewritePattern<ClusterUpdateOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(ClusterUpdateOp op,
                                PatternRewriter &rewriter) const override {
    ValueBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> state = {op.getKeys(), op.getValues(), op.getUnits(),
                                op.getWeights(), op.getCounts()};
    Value numHeads = getSizeValue(b, op.getKey(), 1);
    state = b.loop(
        b.index(0), numHeads, 1, state, [&](Value head, ValueRange carried) {
          ClusterHead plan = readHead(b, op.getHeads(), op.getLayer(), head);
          SmallVector<Value> kept(carried);
          if (!op.getAbsorbed())
            kept = leaveWindow(b, op, plan, op.getLayer(), head, carried);
          return append(b, op, plan, head, kept);
        });
    rewriter.replaceOp(op, state);
    return success();
  }

private:
  /// Writes the rows of this call into the ring.
  static SmallVector<Value> append(ValueBuilder &b, ClusterUpdateOp op,
                                   const ClusterHead &plan, Value head,
                                   ValueRange state) {
    auto copy = [&](Value source, Value cache) {
      return b.loop(b.index(0), getSizeValue(b, source, 0), 1, cache,
                    [&](Value i, ValueRange rows) {
                      Value row = plan.getRow(b, b.add(op.getPast(), i));
                      return b.loop(b.index(0), getSizeValue(b, source, 2), 1,
                                    rows[0], [&](Value d, ValueRange carried) {
                                      return SmallVector<Value>{store(
                                          b, load(b, source, {i, head, d}),
                                          carried[0], {row, d})};
                                    });
                    })[0];
    };
    Cache cache(state);
    cache.keys = copy(op.getKey(), cache.keys);
    cache.values = copy(op.getValue(), cache.values);
    return cache.all();
  }
};

//===----------------------------------------------------------------------===//
// cluster_attention
//===----------------------------------------------------------------------===//

/// What a KV head sees as plain tensors, then one head of dense attention with
/// a bias: the definition of gist.attention does the rest.
struct DecomposeClusterAttention final : OpRewritePattern<ClusterAttentionOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(ClusterAttentionOp op,
                                PatternRewriter &rewriter) const override {
    ValueBuilder b(op.getLoc(), rewriter);
    Value query = op.getQuery();
    OpFoldResult tokens = getSize(b, query, 0), width = getSize(b, query, 2);
    Type element = op.getQuery().getType().getElementType();
    Value kvHeads = getSizeValue(b, op.getHeads(), 1);
    int64_t group = op.getQuery().getType().getDimSize(1) /
                    op.getHeads().getType().getDimSize(1);
    Value output =
        createEmpty(b, {tokens, getSize(b, query, 1), width}, element);
    output = b.loop(b.index(0), kvHeads, 1, output,
                    [&](Value head, ValueRange carried) {
                      return attendHead(b, op, head, group, carried[0]);
                    })[0];
    rewriter.replaceOp(op, output);
    return success();
  }

private:
  static SmallVector<Value> attendHead(ValueBuilder &b, ClusterAttentionOp op,
                                       Value head, int64_t group,
                                       Value output) {
    ClusterHead plan = readHead(b, op.getHeads(), op.getLayer(), head);
    Value count = b.toIndex(load(b, op.getCounts(), {op.getLayer(), head}));
    Value past = op.getPast(), zero = b.index(0);
    Value tokens = getSizeValue(b, op.getQuery(), 0);
    // Within a block the window stays where it was when the block began.
    Value started = b.sub(past, b.rem(past, op.getBlock()));
    Value first = plan.getFirstExact(b, started);
    // Tokens that are seen one by one: the window, the block so far, and those
    // of this call.
    Value exact = b.sub(b.add(past, tokens), first);
    Value keys = b.add(count, exact);

    auto gather = [&](Value rows, Value own) {
      Value seen =
          createEmpty(b, {keys, createIndexAttr(b, 1), getSize(b, rows, 1)},
                      op.getQuery().getType().getElementType());
      return b.loop(zero, keys, 1, seen, [&](Value j, ValueRange carried) {
        Value isCluster = b.compare(CmpIPredicate::slt, j, count);
        // For a cluster this is an arbitrary token, and its row is not
        // used.
        Value token = b.add(first, b.max(b.sub(j, count), zero));
        Value row =
            b.select(isCluster, b.add(plan.meanRow, j), plan.getRow(b, token));
        Value isOwn = b.compare(CmpIPredicate::sge, token, past);
        isOwn = b.both(isOwn, b.compare(CmpIPredicate::sge, j, count));
        Value number = b.max(b.sub(token, past), zero);
        return b.loop(zero, getSizeValue(b, rows, 1), 1, carried[0],
                      [&](Value d, ValueRange inner) {
                        Value x = load(b, rows, {row, d});
                        if (own)
                          x = b.select(isOwn, load(b, own, {number, head, d}),
                                       x);
                        return SmallVector<Value>{
                            store(b, x, inner[0], {j, b.index(0), d})};
                      });
      })[0];
    };
    bool hasOwn = !op.getOwn().empty();
    Value k = gather(op.getKeys(), hasOwn ? op.getOwn()[0] : Value());
    Value v = gather(op.getValues(), hasOwn ? op.getOwn()[1] : Value());
    // log n: a cluster of n tokens weighs as n equal keys would.
    Value bias = createLoops(
        b, "->ij", {}, createEmpty(b, {tokens, keys}, b.getF32Type()),
        [&](ValueBuilder &b, ValueRange) -> Value {
          Value j = getLoopIndex(b, 1);
          Value isCluster = b.compare(CmpIPredicate::slt, j, count);
          // Reads of unused weights stay within the tensor.
          Value cluster = b.select(isCluster, j, b.index(0));
          Value n = load(b, op.getWeights(), b.add(plan.unit, cluster));
          return b.select(isCluster, math::LogOp::create(b, n), b.f32(0));
        });
    Value from = b.mul(head, b.index(group));
    auto type = op.getQuery().getType();
    SmallVector<OpFoldResult> offsets = {b.getIndexAttr(0), from,
                                         b.getIndexAttr(0)};
    SmallVector<OpFoldResult> sizes = {getSize(b, op.getQuery(), 0),
                                       b.getIndexAttr(group),
                                       getSize(b, op.getQuery(), 2)};
    SmallVector<OpFoldResult> strides(3, b.getIndexAttr(1));
    auto part = RankedTensorType::get(
        {type.getDimSize(0), group, type.getDimSize(2)}, type.getElementType());
    Value q = tensor::ExtractSliceOp::create(b, part, op.getQuery(), offsets,
                                             sizes, strides);
    FloatAttr scale =
        b.getF32FloatAttr(static_cast<float>(op.getEffectiveScale()));
    // Causal: queries are the last of the keys, and clusters are older than
    // all.
    Value result = AttentionOp::create(
        b, q, k, v, /*mask=*/bias, /*offsets=*/Value(), /*key_offsets=*/Value(),
        /*causal=*/true, scale, /*window=*/op.getWindowAttr(),
        /*sinks=*/IntegerAttr());
    return {tensor::InsertSliceOp::create(b, result, output, offsets, sizes,
                                          strides)};
  }

  static OpFoldResult createIndexAttr(ValueBuilder &b, int64_t value) {
    return b.getIndexAttr(value);
  }
};
} // namespace

void gist::populateDecomposeClusterPatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeClusterAbsorb, DecomposeClusterUpdate,
               DecomposeClusterAttention>(patterns.getContext());
}
