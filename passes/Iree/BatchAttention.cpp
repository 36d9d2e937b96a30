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
static Value isVisible(ValueBuilder &b, AttentionOp op, Value past, Value i,
                       Value j) {
  Value position = b.add(i, past);
  SmallVector<Value> conditions;
  if (op.getCausal())
    conditions.push_back(b.compare(CmpIPredicate::sle, j, position));
  if (std::optional<int64_t> window = op.getWindow()) {
    Value start = b.sub(position, b.index(*window));
    Value isNear = b.compare(CmpIPredicate::sgt, j, start);
    Value isSink =
        b.compare(CmpIPredicate::slt, j, b.index(op.getSinks().value_or(0)));
    conditions.push_back(b.either(isNear, isSink));
  }
  return b.allOf(conditions);
}

/// The scores of K x G x T x S, scaled and masked.
static Value maskScores(ValueBuilder &b, AttentionOp op, Value scores) {
  Value past =
      b.sub(getSizeValue(b, op.getKey(), 0), getSizeValue(b, op.getQuery(), 0));
  SmallVector<Value> inputs = {scores};
  if (op.getMask())
    inputs.push_back(op.getMask());
  return createLoops(b, op.getMask() ? "kgts,ts->kgts" : "kgts->kgts", inputs,
                     createEmptyLike(b, scores, b.getF32Type()),
                     [&](ValueBuilder &b, ValueRange args) -> Value {
                       Value scale =
                           b.f32(static_cast<float>(op.getEffectiveScale()));
                       Value score = b.mul(args[0], scale);
                       if (op.getMask())
                         score = b.add(score, args[1]);
                       if (!op.getCausal())
                         return score;
                       Value visible = isVisible(
                           b, op, past, getLoopIndex(b, 2), getLoopIndex(b, 3));
                       return b.select(visible, score, b.f32(-kInfinity));
                     });
}

namespace {
struct BatchAttention final : OpRewritePattern<AttentionOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (!canBatch(op))
      return rewriter.notifyMatchFailure(op, "ragged, or of unknown heads");

    ValueBuilder b(op.getLoc(), rewriter);
    auto mask = [&](Value scores) { return maskScores(b, op, scores); };
    rewriter.replaceOp(op, attendInBatches(b, op.getQuery(),
                                           splitHeads(b, op.getKey()),
                                           splitHeads(b, op.getValue()), mask));
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
