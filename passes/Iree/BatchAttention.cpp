//===- BatchAttention.cpp - The pass -gist-batch-attention ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/DecomposeUtils.h"
#include "dialect/GistClusterOps.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Iree/BatchedHeads.h"
#include "passes/Iree/Words.h"
#include "passes/Passes.h"

#include <limits>

namespace gist {
#define GEN_PASS_DEF_BATCHATTENTIONPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// True if the query of position i of the call sees key j.
static Value isVisible(ImplicitLocOpBuilder &b, AttentionOp op, Value past,
                       Value i, Value j) {
  Value position = arith::AddIOp::create(b, i, past);
  SmallVector<Value> conditions;
  if (op.getCausal())
    conditions.push_back(compare(b, CmpIPredicate::sle, j, position));
  if (std::optional<int64_t> window = op.getWindow()) {
    Value start = arith::SubIOp::create(b, position, createIndex(b, *window));
    Value isNear = compare(b, CmpIPredicate::sgt, j, start);
    Value isSink = compare(b, CmpIPredicate::slt, j,
                           createIndex(b, op.getSinks().value_or(0)));
    conditions.push_back(arith::OrIOp::create(b, isNear, isSink));
  }
  return allOf(b, conditions);
}

/// The scores of K x G x T x S, scaled and masked.
static Value maskScores(ImplicitLocOpBuilder &b, AttentionOp op, Value scores) {
  Value past = arith::SubIOp::create(b, getSizeValue(b, op.getKey(), 0),
                                     getSizeValue(b, op.getQuery(), 0));
  SmallVector<Value> inputs = {scores};
  if (op.getMask())
    inputs.push_back(op.getMask());
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim < 4; ++dim)
    sizes.push_back(getSize(b, scores, dim));
  return createLoops(
      b, op.getMask() ? "kgts,ts->kgts" : "kgts->kgts", inputs,
      createEmpty(b, sizes, b.getF32Type()),
      [&](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
        Value scale = createF32(b, static_cast<float>(op.getEffectiveScale()));
        Value score = arith::MulFOp::create(b, args[0], scale);
        if (op.getMask())
          score = arith::AddFOp::create(b, score, args[1]);
        if (!op.getCausal())
          return score;
        Value visible =
            isVisible(b, op, past, getLoopIndex(b, 2), getLoopIndex(b, 3));
        return arith::SelectOp::create(b, visible, score,
                                       createF32(b, -kInfinity));
      });
}

namespace {
struct BatchAttention final : OpRewritePattern<AttentionOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getOffsets())
      return rewriter.notifyMatchFailure(op, "the batch is ragged");
    RankedTensorType queries = op.getQuery().getType();
    RankedTensorType keys = op.getKey().getType();
    if (queries.isDynamicDim(1) || keys.isDynamicDim(1) || keys.isDynamicDim(2))
      return rewriter.notifyMatchFailure(op, "heads of unknown number or size");

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type f32 = b.getF32Type();
    Value key = transpose(b, convert(b, op.getKey(), f32), {1, 0, 2});
    Value value = transpose(b, convert(b, op.getValue(), f32), {1, 0, 2});
    rewriter.replaceOp(
        op, attendInBatches(b, op.getQuery(), key, value,
                            [&](ImplicitLocOpBuilder &b, Value scores) {
                              return maskScores(b, op, scores);
                            }));
    return success();
  }
};

struct BatchAttentionPass final
    : gist::impl::BatchAttentionPassBase<BatchAttentionPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<BatchAttention>(&getContext());
    populateBatchClusterAttentionPatterns(patterns);
    populateBatchAttendPatterns(patterns);
    SmallVector<Operation *> ops =
        findOutsideKernels(getOperation(), [](Operation *op) {
          return isa<AttentionOp, ClusterAttentionOp, AttendOp>(op);
        });
    // Means of clusters are made in a dispatch, which is IREE's.
    if (llvm::any_of(ops, [](Operation *op) { return isa<AttendOp>(op); }) &&
        failed(iree::verifyOpsAllowed(getOperation())))
      return signalPassFailure();
    if (failed(rewriteOnce(ops, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
