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

#include "dialect/GistCpuTileAttrs.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Tile/Cpu/AttentionLoops.h"
#include "passes/Tile/Cpu/ClusterCache.h"

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;

HeadPlan::HeadPlan(TileBuilder &b, function_ref<Value(HeadField field)> read) {
  auto integer = [&](HeadField field) -> Value {
    Value number = arith::FPToSIOp::create(b, b.getI64Type(), read(field));
    return arith::IndexCastOp::create(b, b.getIndexType(), number);
  };
#define GIST_HEAD_INTEGER(Field, member) member = integer(HeadField::Field);
#define GIST_HEAD_NUMBER(Field, member) member = read(HeadField::Field);
#include "runtime/format/HeadTable.def"
}

Value HeadPlan::getRingRow(TileBuilder &b, Value t) const {
  return arith::AddIOp::create(b, ringRow,
                               arith::RemUIOp::create(b, t, ringRows));
}

Value HeadPlan::getFirstExact(TileBuilder &b, Value x) const {
  Value zero = b.index(0);
  Value first =
      arith::MaxSIOp::create(b, arith::SubIOp::create(b, x, window), zero);
  Value hasWindow = arith::CmpIOp::create(b, CmpIPredicate::sge, window, zero);
  return arith::SelectOp::create(b, hasWindow, first, zero);
}

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
  HeadPlan plan(b, [&](HeadField field) {
    return b.readScalar(op.getHeads(),
                        {layer, zero, b.index(static_cast<int64_t>(field))});
  });
  Value count = arith::IndexCastOp::create(
      b, b.getIndexType(), b.readScalar(op.getCounts(), {layer, zero}));
  Value started = b.roundDown(past, op.getBlock());
  Value first = plan.getFirstExact(b, started);
  Value queries = b.size(op.getQuery(), 0);
  Value exact = arith::SubIOp::create(b, b.add(past, queries), first);

  AttentionTile what;
  what.query = op.getQuery();
  what.queries = queries;
  what.keys = arith::AddIOp::create(b, count, exact);
  what.key = op.getKeys();
  what.value = op.getValues();
  // A call has at most as many exact tokens as the ring has rows, so they wrap
  // around its end at most once: no division per token.
  Value start = arith::RemUIOp::create(b, first, plan.ringRows);
  auto isCluster = [=](TileBuilder &b, Value n) -> Value {
    return arith::CmpIOp::create(b, CmpIPredicate::slt, n, count);
  };
  what.locate = [=](TileBuilder &b, Value n) {
    // For a cluster this ring row has no meaning; it is not read.
    Value place =
        arith::AddIOp::create(b, start, arith::SubIOp::create(b, n, count));
    Value isRound =
        arith::CmpIOp::create(b, CmpIPredicate::sge, place, plan.ringRows);
    Value round = arith::SelectOp::create(
        b, isRound, arith::SubIOp::create(b, place, plan.ringRows), place);
    Value row = arith::SelectOp::create(
        b, isCluster(b, n), arith::AddIOp::create(b, plan.meanRow, n),
        arith::AddIOp::create(b, plan.ringRow, round));
    return TileBuilder::Values{row};
  };
  Value weights = op.getWeights();
  what.bias = [=](TileBuilder &b, Value n) -> Value {
    auto choice = scf::IfOp::create(
        b, isCluster(b, n),
        [&](OpBuilder &nested, Location location) {
          TileBuilder inner(location, nested);
          Value weight = inner.readScalar(
              weights, arith::AddIOp::create(inner, plan.unit, n).getResult());
          scf::YieldOp::create(inner,
                               math::LogOp::create(inner, weight).getResult());
        },
        [&](OpBuilder &nested, Location location) {
          scf::YieldOp::create(nested, location,
                               arith::ConstantOp::create(
                                   nested, location, nested.getF32FloatAttr(0))
                                   .getResult());
        });
    return choice.getResult(0);
  };
  what.scale = op.getEffectiveScale();
  what.window = op.getWindow();
  Value empty = tensor::EmptyOp::create(
      b, tensor::getMixedSizes(b, op.getLoc(), op.getQuery()),
      op.getQuery().getType().getElementType());
  rewriter.replaceOp(op, emitAttention(b, what, tile, empty));
  return success();
}
