//===- BatchClusterAttention.cpp - Clusters for other compilers -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The number of clusters of a head is known only on the device. Therefore the
// keys that it sees are gathered into a tensor of the largest possible size,
// which follows from the plan and the number of tokens, and the rest is masked.
// The host never waits for a number.
//
//===----------------------------------------------------------------------===//

#include "dialect/ClusterHead.h"
#include "dialect/DecomposeUtils.h"
#include "dialect/GistClusterOps.h"
#include "dialect/GistOps.h"
#include "dialect/GistPlanOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/Iree/BatchedHeads.h"
#include "passes/Plan/PlanInGraph.h"

#include <limits>
#include <set>

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// What the plan says of the heads of the op's layer; nothing where the table
/// is not defined in the module.
static SmallVector<HeadPlace> getPlaces(ClusterAttentionOp op) {
  auto weight = op.getHeads().getDefiningOp<WeightOp>();
  std::optional<int64_t> layer = getConstantIntValue(op.getLayer());
  if (!weight || !layer)
    return {};
  auto table = dyn_cast_or_null<HeadTableOp>(SymbolTable::lookupSymbolIn(
      op->getParentOfType<ModuleOp>(), weight.getName()));
  if (!table)
    return {};
  CacheLayout layout;
  if (!layOutCache(getHeads(table.getBody().front(), table.getBlock()),
                   table.getCapacity(), layout)
           .ok())
    return {};
  int64_t kvHeads = op.getHeads().getType().getDimSize(1);
  SmallVector<HeadPlace> places;
  for (int64_t head = 0; head < kvHeads; ++head)
    places.push_back(readPlace(layout.table, *layer * kvHeads + head));
  return places;
}

/// The tokens before the block at hand.
static Value getBlockStart(ValueBuilder &b, ClusterAttentionOp op) {
  return b.sub(op.getPast(), b.rem(op.getPast(), op.getBlock()));
}

/// The most keys that a head of this layer may see: its clusters, of which
/// there are no more than tokens that have left the window, and exact tokens.
static Value createMostKeys(ValueBuilder &b, ClusterAttentionOp op) {
  Value past = op.getPast(), zero = b.index(0);
  Value end = b.add(past, getSizeValue(b, op.getQuery(), 0));
  SmallVector<HeadPlace> places = getPlaces(op);
  if (places.empty())
    return end;
  Value started = getBlockStart(b, op);
  Value most = zero;
  std::set<std::pair<int64_t, int64_t>> seen;
  for (const HeadPlace &place : places) {
    if (!seen.insert({place.window, place.capacity}).second)
      continue;
    Value left = zero;
    if (place.window >= 0)
      left = b.max(b.sub(started, place.window), zero);
    Value clusters = b.min(left, b.index(place.capacity));
    most = b.max(most, b.add(clusters, b.sub(end, left)));
  }
  return most;
}

namespace {
/// The keys that each KV head sees in one call, as tensors with a place for
/// `most` of them.
class SeenKeys {
public:
  SeenKeys(ValueBuilder &b, ClusterAttentionOp op)
      : op(op), kvHeads(getSize(b, op.getHeads(), 1)),
        most(OpFoldResult(createMostKeys(b, op))) {
    // Slices first: then all layers have the same code.
    heads = takeSlice(b, op.getHeads(), 0, op.getLayer());
    heads = tensor::ExpandShapeOp::create(
        b,
        RankedTensorType::get(
            {1, op.getHeads().getType().getDimSize(1), kNumHeadFields},
            b.getF32Type()),
        heads, ArrayRef<ReassociationIndices>{{0, 1}, {2}});
    counts = takeSlice(b, op.getCounts(), 0, op.getLayer());
    firsts = createLoops(b, "->k", {}, createEmpty(b, kvHeads, b.getI32Type()),
                         [&](ValueBuilder &b, ValueRange) -> Value {
                           return b.toI32(
                               getHead(b, getLoopIndex(b, 0))
                                   .getFirstExact(b, getBlockStart(b, op)));
                         });
  }

  /// K x S x D of `rows`, in f32.
  Value gather(ValueBuilder &b, Value rows) {
    Value last = b.sub(b.add(op.getPast(), getSizeValue(b, op.getQuery(), 0)),
                       b.index(1));
    Value numbers =
        createLoops(b, "k,k->ks", {counts, firsts},
                    createEmpty(b, {kvHeads, most}, b.getI32Type()),
                    [&](ValueBuilder &b, ValueRange args) -> Value {
                      ClusterHead plan = getHead(b, getLoopIndex(b, 0));
                      Value count = b.toIndex(args[0]), j = getLoopIndex(b, 1);
                      Value isCluster = b.compare(CmpIPredicate::slt, j, count);
                      Value token = b.add(b.toIndex(args[1]),
                                          b.max(b.sub(j, count), b.index(0)));
                      // Keys past the end are masked; they read a row that is
                      // initialised.
                      token = b.min(token, last);
                      return b.toI32(b.select(isCluster, b.add(plan.meanRow, j),
                                              plan.getRow(b, token)));
                    });
    return createLoops(
        b, "ks->ksd", numbers,
        createEmpty(b, {kvHeads, most, getSize(b, rows, 1)}, b.getF32Type()),
        [&](ValueBuilder &b, ValueRange args) -> Value {
          return b.toF32(
              load(b, rows, {b.toIndex(args[0]), getLoopIndex(b, 2)}));
        });
  }

  /// The scores of K x G x T x S: scaled, with log n of clusters, and masked.
  Value mask(ValueBuilder &b, Value scores) {
    // log n: a cluster of n tokens weighs as n equal keys would.
    Value bias = createLoops(
        b, "k->ks", counts, createEmpty(b, {kvHeads, most}, b.getF32Type()),
        [&](ValueBuilder &b, ValueRange args) -> Value {
          ClusterHead plan = getHead(b, getLoopIndex(b, 0));
          Value j = getLoopIndex(b, 1);
          Value isCluster =
              b.compare(CmpIPredicate::slt, j, b.toIndex(args[0]));
          Value cluster = b.select(isCluster, j, b.index(0));
          Value n = load(b, op.getWeights(), b.add(plan.unit, cluster));
          return b.select(isCluster, math::LogOp::create(b, n), b.f32(0));
        });
    return createLoops(
        b, "kgts,ks,k,k->kgts", {scores, bias, counts, firsts},
        createEmptyLike(b, scores, b.getF32Type()),
        [&](ValueBuilder &b, ValueRange args) -> Value {
          Value scale = b.f32(static_cast<float>(op.getEffectiveScale()));
          Value score = b.add(b.mul(args[0], scale), args[1]);
          // Key j is token first + j - count.
          Value position = b.add(op.getPast(), getLoopIndex(b, 2));
          Value end =
              b.add(b.sub(position, b.toIndex(args[3])), b.toIndex(args[2]));
          Value isVisible =
              b.compare(CmpIPredicate::sle, getLoopIndex(b, 3), end);
          return b.select(isVisible, score, b.f32(-kInfinity));
        });
  }

private:
  ClusterHead getHead(ValueBuilder &b, Value head) {
    return ClusterHead(b, b.getI32Type(), [&](Value column) {
      return load(b, heads, {b.index(0), head, column});
    });
  }

  ClusterAttentionOp op;
  OpFoldResult kvHeads, most;
  Value heads; ///< the table of this layer, 1 x K x 8
  // Of each head: clusters, and the first token that is seen exactly.
  Value counts, firsts;
};

struct BatchClusterAttention final : OpRewritePattern<ClusterAttentionOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(ClusterAttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getOwn().empty())
      return rewriter.notifyMatchFailure(op, "rows are not in the cache yet");
    RankedTensorType queries = op.getQuery().getType();
    if (queries.isDynamicDim(1) || queries.isDynamicDim(2) ||
        op.getHeads().getType().isDynamicDim(1))
      return rewriter.notifyMatchFailure(op, "heads of unknown number or size");
    ValueBuilder b(op.getLoc(), rewriter);
    SeenKeys seen(b, op);
    Value keys = seen.gather(b, op.getKeys());
    Value values = seen.gather(b, op.getValues());
    rewriter.replaceOp(
        op, attendInBatches(b, op.getQuery(), keys, values, [&](Value scores) {
          return seen.mask(b, scores);
        }));
    return success();
  }
};
} // namespace

void gist::populateBatchClusterAttentionPatterns(RewritePatternSet &patterns) {
  patterns.add<BatchClusterAttention>(patterns.getContext());
}
