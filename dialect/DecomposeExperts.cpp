//===- DecomposeExperts.cpp - Products with experts, defined --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What products with a weight for each row compute, in plain linalg. The weight
// is read element by element, where a row says.
//
//===----------------------------------------------------------------------===//

#include "dialect/Decompose.h"
#include "dialect/DecomposeUtils.h"
#include "dialect/GistExpertOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace gist;

static constexpr int64_t kBlock = PackingAttr::kBlock;
using Groups = SmallVector<ReassociationIndices>;

/// T x (count * size) as T x count x size.
static Value split(ValueBuilder &b, Value rows, int64_t count, int64_t size) {
  auto type = cast<RankedTensorType>(rows.getType());
  auto cut = RankedTensorType::get({type.getDimSize(0), count, size},
                                   type.getElementType());
  return tensor::ExpandShapeOp::create(b, cut, rows, Groups{{0}, {1, 2}});
}

/// `number` clamped to [0, count): a number out of range must not read out of
/// bounds.
static Value clamp(ValueBuilder &b, Value number, int64_t count) {
  Value least = b.i32(0);
  Value most = b.i32(static_cast<int32_t>(count - 1));
  return b.min(b.max(number, least), most);
}

namespace {
struct DecomposeExpertMatmul final : OpRewritePattern<ExpertMatmulOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(ExpertMatmulOp op,
                                PatternRewriter &rewriter) const override {
    ValueBuilder b(op.getLoc(), rewriter);
    ExpertSizes sizes = op.getSizes();
    Value x = op.getInput();
    if (sizes.hasOwnRows)
      x = split(b, x, sizes.slots, sizes.depth);
    Value init =
        createFilled(b,
                     {getSize(b, op.getInput(), 0), b.getIndexAttr(sizes.slots),
                      b.getIndexAttr(sizes.columns)},
                     b.f32(0));
    Value weight = op.getWeight();
    // The loops are t, s, n and k.
    constexpr int64_t kColumn = 2, kDepth = 3;
    Value result =
        createLoops(b, sizes.hasOwnRows ? "tsk,ts->tsn" : "tk,ts->tsn",
                    {x, op.getExperts()}, init,
                    [&](ValueBuilder &b, ValueRange args) -> Value {
                      Value expert =
                          b.toIndex(clamp(b, args[1], sizes.experts));
                      Value first = b.mul(expert, b.index(sizes.columns));
                      Value row = b.add(first, getLoopIndex(b, kColumn));
                      Value w = load(b, weight, {row, getLoopIndex(b, kDepth)});
                      Value product = b.mul(b.toF32(args[0]), b.toF32(w));
                      return b.add(args[2], product);
                    });
    rewriter.replaceOp(
        op, tensor::CollapseShapeOp::create(b, result, Groups{{0}, {1, 2}}));
    return success();
  }
};

/// Both sides are expanded to f32 first, as for a product with one weight.
struct DecomposeQuantizedExpertMatmul final
    : OpRewritePattern<QuantizedExpertMatmulOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(QuantizedExpertMatmulOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getPackedAttr())
      return rewriter.notifyMatchFailure(
          op, "packed weights are specific to a target");
    ValueBuilder b(op.getLoc(), rewriter);
    int64_t blocks = op.getValues().getType().getDimSize(1) / kBlock;
    Value values = split(b, op.getValues(), blocks, kBlock);
    Value x =
        createLoops(b, "tbk,tb->tbk", {values, op.getScales()},
                    createEmpty(b,
                                {getSize(b, values, 0), b.getIndexAttr(blocks),
                                 b.getIndexAttr(kBlock)},
                                b.getF32Type()),
                    [](ValueBuilder &b, ValueRange args) -> Value {
                      return b.mul(b.toF32(args[0]), args[1]);
                    });
    Value rows = tensor::CollapseShapeOp::create(b, x, Groups{{0}, {1, 2}});
    Value w = DequantizeOp::create(b, op.getWeight(), op.getFormatAttr());
    rewriter.replaceOpWithNewOp<ExpertMatmulOp>(op, op.getType(), rows, w,
                                                op.getExperts());
    return success();
  }
};
} // namespace

void gist::populateDecomposeExpertPatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeExpertMatmul, DecomposeQuantizedExpertMatmul>(
      patterns.getContext());
}
