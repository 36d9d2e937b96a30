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

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static Value add(ImplicitLocOpBuilder &b, Value x, Value y) {
  return arith::AddIOp::create(b, x, y);
}

static Value sub(ImplicitLocOpBuilder &b, Value x, Value y) {
  return arith::SubIOp::create(b, x, y);
}

Value gist::subOrZero(ImplicitLocOpBuilder &b, Value x, Value y) {
  return arith::MaxSIOp::create(b, sub(b, x, y), createIndex(b, 0));
}

ClusterHead::ClusterHead(ImplicitLocOpBuilder &b, Value heads, Value layer,
                         Value head) {
  auto number = [&](HeadField field) -> Value {
    return load(b, heads,
                {layer, head, createIndex(b, static_cast<int64_t>(field))});
  };
  // Row numbers are f32 in the table, and exact.
  auto integer = [&](HeadField field) -> Value {
    return toIndex(b,
                   arith::FPToSIOp::create(b, b.getI32Type(), number(field)));
  };
#define GIST_HEAD_INTEGER(Field, member) member = integer(HeadField::Field);
#define GIST_HEAD_NUMBER(Field, member) member = number(HeadField::Field);
#include "runtime/format/HeadTable.def"
}

Value ClusterHead::getRow(ImplicitLocOpBuilder &b, Value t) const {
  return add(b, ringRow, arith::RemUIOp::create(b, t, ringRows));
}

Value ClusterHead::getFirstExact(ImplicitLocOpBuilder &b, Value past,
                                 int64_t block) const {
  // Within a block the window stays where it was when the block began.
  Value started =
      sub(b, past, arith::RemUIOp::create(b, past, createIndex(b, block)));
  Value zero = createIndex(b, 0);
  Value hasWindow = compare(b, CmpIPredicate::sge, window, zero);
  return arith::SelectOp::create(b, hasWindow, subOrZero(b, started, window),
                                 zero);
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

/// `then()` if `condition` holds, else `otherwise`, of the same types.
static SmallVector<Value>
createIf(ImplicitLocOpBuilder &b, Value condition, ValueRange otherwise,
         function_ref<SmallVector<Value>(ImplicitLocOpBuilder &)> then) {
  auto choice = scf::IfOp::create(
      b, condition,
      [&](OpBuilder &nested, Location location) {
        ImplicitLocOpBuilder inner(location, nested);
        scf::YieldOp::create(inner, then(inner));
      },
      [&](OpBuilder &nested, Location location) {
        scf::YieldOp::create(nested, location, otherwise);
      });
  return llvm::to_vector_of<Value>(choice.getResults());
}

//===----------------------------------------------------------------------===//
// cluster_update
//===----------------------------------------------------------------------===//

/// rows[to] becomes (n rows[to] + source[from]) / (n + 1), and with n = 0 the
/// source itself, times `factor`. Where the source is `rows` itself it is read
/// from what is being written, so that one buffer serves: other rows than `to`
/// stay as they are.
static Value mixRow(ImplicitLocOpBuilder &b, Value rows, Value to, Value source,
                    Value from, Value n, Value factor) {
  Type element = cast<RankedTensorType>(rows.getType()).getElementType();
  Value total = arith::AddFOp::create(b, n, createF32(b, 1));
  Value isFirst = compare(b, CmpFPredicate::OEQ, n, createF32(b, 0));
  Value isNothing = compare(b, CmpFPredicate::OEQ, factor, createF32(b, 0));
  return createFor(
      b, createIndex(b, 0), getSizeValue(b, rows, 1), rows,
      [&](ImplicitLocOpBuilder &b, Value i, ValueRange carried) {
        Value read = source == rows ? carried[0] : source;
        Value x = toF32(b, load(b, read, {from, i}));
        // Zero times a NaN is a NaN.
        x = arith::SelectOp::create(b, isNothing, createF32(b, 0),
                                    arith::MulFOp::create(b, x, factor));
        Value old = toF32(b, load(b, carried[0], {to, i}));
        Value mean = arith::DivFOp::create(
            b, arith::AddFOp::create(b, arith::MulFOp::create(b, n, old), x),
            total);
        Value result = arith::SelectOp::create(b, isFirst, x, mean);
        return SmallVector<Value>{
            store(b, roundTo(b, result, element), carried[0], {to, i})};
      })[0];
}

/// The f32 dot product of two rows.
static Value createDot(ImplicitLocOpBuilder &b, Value lhs, Value i, Value rhs,
                       Value j) {
  return createFor(
      b, createIndex(b, 0), getSizeValue(b, lhs, 1), createF32(b, 0),
      [&](ImplicitLocOpBuilder &b, Value d, ValueRange carried) {
        Value product = arith::MulFOp::create(b, toF32(b, load(b, lhs, {i, d})),
                                              toF32(b, load(b, rhs, {j, d})));
        return SmallVector<Value>{
            arith::AddFOp::create(b, carried[0], product)};
      })[0];
}

/// Adds the token in row `row` to cluster `cluster`, of which there are `count`
/// so far; `inverse` is one over the norm of its key, or zero.
/// Gives the cache and the number of clusters after it.
static SmallVector<Value> addToCluster(ImplicitLocOpBuilder &b, Cache cache,
                                       const ClusterHead &plan, Value row,
                                       Value cluster, Value count,
                                       Value inverse) {
  Value isNew = compare(b, CmpIPredicate::eq, cluster, count);
  Value unit = add(b, plan.unit, cluster), mean = add(b, plan.meanRow, cluster);
  Value zero = createF32(b, 0), one = createF32(b, 1);
  Value n =
      arith::SelectOp::create(b, isNew, zero, load(b, cache.weights, unit));
  // In a new cluster the old weight is zero, so mixing stores the row. Only
  // then is the unit written.
  cache.units = createIf(b, isNew, cache.units, [&](ImplicitLocOpBuilder &b) {
    return SmallVector<Value>{
        mixRow(b, cache.units, unit, cache.keys, row, zero, inverse)};
  })[0];
  // Keys and values are running means; the unit stays that of the founder.
  cache.keys = mixRow(b, cache.keys, mean, cache.keys, row, n, one);
  cache.values = mixRow(b, cache.values, mean, cache.values, row, n, one);
  cache.weights =
      store(b, arith::AddFOp::create(b, n, one), cache.weights, unit);
  Value grown = arith::SelectOp::create(
      b, isNew, add(b, count, createIndex(b, 1)), count);
  SmallVector<Value> result = cache.all();
  result.push_back(grown);
  return result;
}

/// The cluster with the largest dot product of its unit and the key in `row`,
/// and that product; -1 and -infinity if there is no cluster.
static SmallVector<Value> findCluster(ImplicitLocOpBuilder &b,
                                      const Cache &cache,
                                      const ClusterHead &plan, Value row,
                                      Value count, Value inverse) {
  SmallVector<Value> none = {createF32(b, -kInfinity), createIndex(b, -1)};
  return createFor(
      b, createIndex(b, 0), count, none,
      [&](ImplicitLocOpBuilder &b, Value j, ValueRange carried) {
        // Units have length 1, so the product with the inverse norm is the
        // cosine.
        Value dot =
            createDot(b, cache.units, add(b, plan.unit, j), cache.keys, row);
        Value cosine = arith::MulFOp::create(b, dot, inverse);
        // The first of equal ones wins. A NaN never does.
        Value isBetter = compare(b, CmpFPredicate::OGT, cosine, carried[0]);
        return SmallVector<Value>{
            arith::SelectOp::create(b, isBetter, cosine, carried[0]),
            arith::SelectOp::create(b, isBetter, j, carried[1])};
      });
}

/// Puts token `t` into a cluster, or drops it. `carried` is the cache and the
/// number of clusters.
/// A token joins if it is alike; else it founds a cluster if there is room;
/// else it joins the nearest one all the same. A head with sinks drops what is
/// not among the first.
static SmallVector<Value> absorb(ImplicitLocOpBuilder &b,
                                 const ClusterHead &plan, Value t,
                                 ValueRange carried) {
  Cache cache(carried.drop_back());
  Value count = carried.back();
  Value row = plan.getRow(b, t);
  Value square = createDot(b, cache.keys, row, cache.keys, row);
  Value norm = math::SqrtOp::create(b, square);
  // False for NaN, too.
  Value hasDirection =
      allOf(b, {compare(b, CmpFPredicate::OGT, norm, createF32(b, 0)),
                compare(b, CmpFPredicate::OLT, norm, createF32(b, kInfinity))});
  Value inverse = arith::SelectOp::create(
      b, hasDirection, arith::DivFOp::create(b, createF32(b, 1), norm),
      createF32(b, 0));
  SmallVector<Value> found = findCluster(b, cache, plan, row, count, inverse);
  // Negative where a head has clusters.
  Value isSink = compare(b, CmpIPredicate::sge, plan.sinks, createIndex(b, 0));
  Value hasRoom = compare(b, CmpIPredicate::slt, count, plan.capacity);
  // A token without a direction joins nothing, and founds a cluster of its own
  // where there is room.
  Value likeness = createLikeness(b, found[0], t, plan.theta);
  Value isAlike = allOf(
      b, {hasDirection, compare(b, CmpFPredicate::OGE, likeness, plan.theta)});
  // A sink head takes the first tokens, whatever they are like.
  Value no = createBool(b, false);
  Value joins = arith::SelectOp::create(b, isSink, no, isAlike);
  Value mayFound = arith::SelectOp::create(
      b, isSink, compare(b, CmpIPredicate::slt, count, plan.sinks), hasRoom);
  mayFound = allOf(b, {mayFound, hasRoom});
  Value isForced =
      allOf(b, {hasDirection,
                compare(b, CmpIPredicate::sge, found[1], createIndex(b, 0))});
  Value joinsAnyway = arith::SelectOp::create(b, isSink, no, isForced);
  Value founds = arith::SelectOp::create(b, joins, no, mayFound);
  Value cluster = arith::SelectOp::create(b, founds, count, found[1]);
  Value takesPart = arith::OrIOp::create(b, founds, joinsAnyway);
  return createIf(b, takesPart, carried, [&](ImplicitLocOpBuilder &b) {
    return addToCluster(b, cache, plan, row, cluster, count, inverse);
  });
}

/// Absorbs the tokens that have left the window. `op` is a ClusterUpdateOp or a
/// ClusterAbsorbOp.
template <typename OpTy>
static SmallVector<Value> leaveWindow(ImplicitLocOpBuilder &b, OpTy op,
                                      const ClusterHead &plan, Value layer,
                                      Value head, ValueRange state) {
  // Only at the beginning of a block: between, the ring has room for a block
  // more.
  Value past = op.getPast(), zero = createIndex(b, 0);
  Value block = createIndex(b, op.getBlock());
  Value isBlock = compare(b, CmpIPredicate::eq,
                          arith::RemUIOp::create(b, past, block), zero);
  // A dense head has a negative window: nothing ever leaves it.
  Value hasWindow = compare(b, CmpIPredicate::sge, plan.window, zero);
  return createIf(
      b, allOf(b, {isBlock, hasWindow}), state, [&](ImplicitLocOpBuilder &b) {
        Value end = subOrZero(b, past, plan.window);
        // The tokens that left since the block before.
        // past - block is negative only before the first block, where the
        // maximum with zero makes both ends zero.
        Value begin = subOrZero(b, sub(b, past, block), plan.window);
        Cache cache(state);
        SmallVector<Value> carried(state);
        carried.push_back(toIndex(b, load(b, cache.counts, {layer, head})));
        carried = createFor(
            b, begin, end, carried,
            [&](ImplicitLocOpBuilder &b, Value t, ValueRange carried) {
              return absorb(b, plan, t, carried);
            });
        Cache updated(ValueRange(carried).drop_back());
        updated.counts =
            store(b, toI32(b, carried.back()), updated.counts, {layer, head});
        return updated.all();
      });
}

namespace {
struct DecomposeClusterAbsorb final : OpRewritePattern<ClusterAbsorbOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(ClusterAbsorbOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> state = {op.getKeys(), op.getValues(), op.getUnits(),
                                op.getWeights(), op.getCounts()};
    Value zero = createIndex(b, 0);
    state = createFor(
        b, createIndex(b, op.getBegin()), createIndex(b, op.getEnd()), state,
        [&](ImplicitLocOpBuilder &b, Value layer, ValueRange carried) {
          return createFor(
              b, zero, getSizeValue(b, op.getHeads(), 1), carried,
              [&](ImplicitLocOpBuilder &b, Value head, ValueRange carried) {
                ClusterHead plan(b, op.getHeads(), layer, head);
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
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> state = {op.getKeys(), op.getValues(), op.getUnits(),
                                op.getWeights(), op.getCounts()};
    Value numHeads = getSizeValue(b, op.getKey(), 1);
    state = createFor(
        b, createIndex(b, 0), numHeads, state,
        [&](ImplicitLocOpBuilder &b, Value head, ValueRange carried) {
          ClusterHead plan(b, op.getHeads(), op.getLayer(), head);
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
  static SmallVector<Value> append(ImplicitLocOpBuilder &b, ClusterUpdateOp op,
                                   const ClusterHead &plan, Value head,
                                   ValueRange state) {
    auto copy = [&](Value source, Value cache) {
      return createFor(
          b, createIndex(b, 0), getSizeValue(b, source, 0), cache,
          [&](ImplicitLocOpBuilder &b, Value i, ValueRange rows) {
            Value row = plan.getRow(b, add(b, op.getPast(), i));
            return createFor(
                b, createIndex(b, 0), getSizeValue(b, source, 2), rows[0],
                [&](ImplicitLocOpBuilder &b, Value d, ValueRange carried) {
                  return SmallVector<Value>{store(
                      b, load(b, source, {i, head, d}), carried[0], {row, d})};
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
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value query = op.getQuery();
    OpFoldResult tokens = getSize(b, query, 0), width = getSize(b, query, 2);
    Type element = op.getQuery().getType().getElementType();
    Value kvHeads = getSizeValue(b, op.getHeads(), 1);
    int64_t group = op.getQuery().getType().getDimSize(1) /
                    op.getHeads().getType().getDimSize(1);
    Value output =
        createEmpty(b, {tokens, getSize(b, query, 1), width}, element);
    output =
        createFor(b, createIndex(b, 0), kvHeads, output,
                  [&](ImplicitLocOpBuilder &b, Value head, ValueRange carried) {
                    return attendHead(b, op, head, group, carried[0]);
                  })[0];
    rewriter.replaceOp(op, output);
    return success();
  }

private:
  static SmallVector<Value> attendHead(ImplicitLocOpBuilder &b,
                                       ClusterAttentionOp op, Value head,
                                       int64_t group, Value output) {
    ClusterHead plan(b, op.getHeads(), op.getLayer(), head);
    Value count = toIndex(b, load(b, op.getCounts(), {op.getLayer(), head}));
    Value past = op.getPast(), zero = createIndex(b, 0);
    Value tokens = getSizeValue(b, op.getQuery(), 0);
    Value first = plan.getFirstExact(b, past, op.getBlock());
    // Tokens that are seen one by one: the window, the block so far, and those
    // of this call.
    Value exact = sub(b, add(b, past, tokens), first);
    Value keys = add(b, count, exact);

    auto gather = [&](Value rows, Value own) {
      Value seen =
          createEmpty(b, {keys, createIndexAttr(b, 1), getSize(b, rows, 1)},
                      op.getQuery().getType().getElementType());
      return createFor(
          b, zero, keys, seen,
          [&](ImplicitLocOpBuilder &b, Value j, ValueRange carried) {
            Value isCluster = compare(b, CmpIPredicate::slt, j, count);
            // For a cluster this is an arbitrary token, and its row is not
            // used.
            Value token = add(b, first, subOrZero(b, j, count));
            Value row = arith::SelectOp::create(
                b, isCluster, add(b, plan.meanRow, j), plan.getRow(b, token));
            Value isOwn = compare(b, CmpIPredicate::sge, token, past);
            isOwn = arith::AndIOp::create(
                b, isOwn, compare(b, CmpIPredicate::sge, j, count));
            Value number = subOrZero(b, token, past);
            return createFor(
                b, zero, getSizeValue(b, rows, 1), carried[0],
                [&](ImplicitLocOpBuilder &b, Value d, ValueRange inner) {
                  Value x = load(b, rows, {row, d});
                  if (own)
                    x = arith::SelectOp::create(
                        b, isOwn, load(b, own, {number, head, d}), x);
                  return SmallVector<Value>{
                      store(b, x, inner[0], {j, createIndex(b, 0), d})};
                });
          })[0];
    };
    bool hasOwn = !op.getOwn().empty();
    Value k = gather(op.getKeys(), hasOwn ? op.getOwn()[0] : Value());
    Value v = gather(op.getValues(), hasOwn ? op.getOwn()[1] : Value());
    // log n: a cluster of n tokens weighs as n equal keys would.
    Value bias = createLoops(
        b, "->ij", {}, createEmpty(b, {tokens, keys}, b.getF32Type()),
        [&](ImplicitLocOpBuilder &b, ValueRange) -> Value {
          Value j = getLoopIndex(b, 1);
          Value isCluster = compare(b, CmpIPredicate::slt, j, count);
          // Reads of unused weights stay within the tensor.
          Value cluster =
              arith::SelectOp::create(b, isCluster, j, createIndex(b, 0));
          Value n = load(b, op.getWeights(), add(b, plan.unit, cluster));
          return arith::SelectOp::create(
              b, isCluster, math::LogOp::create(b, n), createF32(b, 0));
        });
    Value from = arith::MulIOp::create(b, head, createIndex(b, group));
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

  static OpFoldResult createIndexAttr(ImplicitLocOpBuilder &b, int64_t value) {
    return b.getIndexAttr(value);
  }
};
} // namespace

void gist::populateDecomposeClusterPatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeClusterAbsorb, DecomposeClusterUpdate,
               DecomposeClusterAttention>(patterns.getContext());
}
