//===- ClusterAttention.cpp - Attention on a cache of clusters ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a head sees, its clusters and then the tokens it keeps exactly, are keys
// in a row of which the queries are the last: dense causal attention with rows
// that must be looked up and something added to the scores of clusters.
//
//===----------------------------------------------------------------------===//

#include "dialect/ClusterHead.h"
#include "dialect/GistCpuTileAttrs.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Tile/Cpu/AttentionLoops.h"
#include "passes/Tile/Cpu/ClusterCache.h"

using namespace mlir;
using namespace gist;

LogicalResult gist::lowerClusterAttention(RewriterBase &rewriter,
                                          ClusterAttentionOp op) {
  if (op.getHeads().getType().getDimSize(1) != 1)
    return rewriter.notifyMatchFailure(op, "more than one KV head");
  if (!isAttentionVectorizable(op.getKeys().getType(),
                               op.getValues().getType()))
    return rewriter.notifyMatchFailure(
        op, "the heads are not a multiple of a vector");
  CpuTileInterface tile = getKernelTile(op);
  if (!isa_and_nonnull<CpuAttentionAttr, CpuAmxAttentionAttr>(tile))
    return rewriter.notifyMatchFailure(op,
                                       "its kernel is not cut as attention");
  TileBuilder b(op.getLoc(), rewriter);
  Value zero = b.index(0), layer = op.getLayer(), past = op.getPast();
  ClusterHead plan(b, b.getI64Type(), [&](Value column) {
    return b.readScalar(op.getHeads(), {layer, zero, column});
  });
  Value count = b.toIndex(b.readScalar(op.getCounts(), {layer, zero}));
  Value started = b.roundDown(past, op.getBlock());
  Value first = plan.getFirstExact(b, started);
  Value queries = b.size(op.getQuery(), 0);
  Value exact = b.sub(b.add(past, queries), first);

  AttentionTile what;
  what.query = op.getQuery();
  what.queries = queries;
  what.keys = b.ValueBuilder::add(count, exact);
  what.key = op.getKeys();
  what.value = op.getValues();
  // A call has at most as many exact tokens as the ring has rows, so they wrap
  // around its end at most once: no division per token.
  Value start = plan.getPlace(b, first);
  auto isCluster = [=](TileBuilder &b, Value n) { return b.isLess(n, count); };
  what.locate = [=](TileBuilder &b, Value n) {
    // For a cluster this ring row has no meaning; it is not read.
    Value place = b.ValueBuilder::add(start, b.sub(n, count));
    Value isRound = b.compare(arith::CmpIPredicate::sge, place, plan.ringRows);
    Value round = b.select(isRound, b.sub(place, plan.ringRows), place);
    Value here = isCluster(b, n);
    Value mean = b.ValueBuilder::add(plan.meanRow, n);
    Value exact = b.ValueBuilder::add(plan.ringRow, round);
    return TileBuilder::Values{b.select(here, mean, exact)};
  };
  Value weights = op.getWeights();
  what.bias = [=](TileBuilder &b, Value n) {
    return b.ifElse(
        isCluster(b, n),
        [&]() -> Value {
          Value at = b.ValueBuilder::add(plan.unit, n);
          return math::LogOp::create(b, b.readScalar(weights, at));
        },
        [&] { return b.f32(0); });
  };
  what.scale = op.getEffectiveScale();
  what.window = op.getWindow();
  what.part = findPart(b, op);
  Value empty = tensor::EmptyOp::create(
      b, tensor::getMixedSizes(b, op.getLoc(), op.getQuery()),
      op.getQuery().getType().getElementType());
  rewriter.replaceOp(op, emitAttention(b, what, tile, empty));
  return success();
}
