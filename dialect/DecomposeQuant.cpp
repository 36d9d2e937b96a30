//===- DecomposeQuant.cpp - Linear layers in 8 bits, defined --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What rows in 8 bits and their products compute, in plain linalg. Targets are
// tested against this, so nothing here depends on how a target does it.
//
//===----------------------------------------------------------------------===//

#include "dialect/Decompose.h"
#include "dialect/DecomposeUtils.h"
#include "dialect/GistIntegerOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace gist;

static constexpr int64_t kBlock = PackingAttr::kBlock;
using Groups = SmallVector<ReassociationIndices>;
using Numbers = SmallVector<OpFoldResult>;

/// T x K as T x ceil(K / block) x block, with zeros where K ends inside of a
/// block. K is static, as the ops verify.
static Value cutIntoBlocks(ValueBuilder &b, Value rows,
                           int64_t block = kBlock) {
  auto type = cast<RankedTensorType>(rows.getType());
  int64_t length = type.getDimSize(1);
  int64_t blocks = llvm::divideCeil(length, block);
  if (length != blocks * block) {
    OpFoldResult count = getSize(b, rows, 0);
    Value zeros = createFilled(b, {count, b.getIndexAttr(blocks * block)},
                               b.constant(type.getElementType(), 0));
    rows = tensor::InsertSliceOp::create(
        b, rows, zeros, Numbers(2, b.getIndexAttr(0)),
        Numbers{count, b.getIndexAttr(length)}, Numbers(2, b.getIndexAttr(1)));
  }
  auto cut = RankedTensorType::get({type.getDimSize(0), blocks, block},
                                   type.getElementType());
  return tensor::ExpandShapeOp::create(b, cut, rows, Groups{{0}, {1, 2}});
}

/// Blocks as rows of `length` numbers, less than a block below their sum.
static Value joinBlocks(ValueBuilder &b, Value blocks, int64_t length) {
  Value rows = tensor::CollapseShapeOp::create(b, blocks, Groups{{0}, {1, 2}});
  auto type = cast<RankedTensorType>(rows.getType());
  if (type.getDimSize(1) == length)
    return rows;
  return tensor::ExtractSliceOp::create(
      b, rows, Numbers(2, b.getIndexAttr(0)),
      Numbers{getSize(b, rows, 0), b.getIndexAttr(length)},
      Numbers(2, b.getIndexAttr(1)));
}

/// What integers and the scales of their blocks stand for.
static Value scaleBlocks(ValueBuilder &b, TypedValue<RankedTensorType> values,
                         Value scales, int64_t block) {
  Value cut = cutIntoBlocks(b, values, block);
  Value scaled = createLoops(
      b, "tbk,tb->tbk", {cut, scales},
      createEmpty(
          b, {getSize(b, cut, 0), getSize(b, cut, 1), b.getIndexAttr(block)},
          b.getF32Type()),
      [](ValueBuilder &b, ValueRange args) -> Value {
        return b.mul(b.toF32(args[0]), args[1]);
      });
  return joinBlocks(b, scaled, values.getType().getDimSize(1));
}

/// numerator / denominator, or zero where the denominator is zero.
/// A block of zeros has no scale, and its levels are zero.
static Value divideOrZero(ValueBuilder &b, Value numerator, Value denominator) {
  Value zero = b.f32(0);
  return b.select(b.compare(arith::CmpFPredicate::OEQ, denominator, zero), zero,
                  b.div(numerator, denominator));
}

/// `rows`, or zeros where their guard is 0.
static Value guardRows(ValueBuilder &b, Value rows, Value guard) {
  return createLoops(b, "tn,t->tn", {rows, guard},
                     createEmpty(b, {getSize(b, rows, 0), getSize(b, rows, 1)},
                                 b.getF32Type()),
                     [](ValueBuilder &b, ValueRange args) -> Value {
                       Value isOpen = b.compare(
                           arith::CmpIPredicate::ne, args[1],
                           arith::ConstantIntOp::create(b, b.getI8Type(), 0));
                       return b.select(isOpen, args[0], b.f32(0));
                     });
}

/// q = round(x * m / largest) with ties to even, scale = largest / m, block by
/// block, with m the largest number of the type.
static std::array<Value, 2> quantize(ValueBuilder &b,
                                     TypedValue<RankedTensorType> input,
                                     int64_t block, Type element) {
  double most = getLargest(element);
  Value x = cutIntoBlocks(b, input, block);
  OpFoldResult rows = getSize(b, x, 0), blocks = getSize(b, x, 1);
  Value largest =
      createLoops(b, "tbk->tb", x, createFilled(b, {rows, blocks}, b.f32(0)),
                  [](ValueBuilder &b, ValueRange args) -> Value {
                    // MaxNum passes over NaN, so the scale stays a number.
                    return arith::MaxNumFOp::create(
                        b, math::AbsFOp::create(b, args[0]), args[1]);
                  });
  Value scales = createLoops(b, "tb->tb", largest,
                             createEmpty(b, {rows, blocks}, b.getF32Type()),
                             [&](ValueBuilder &b, ValueRange args) -> Value {
                               return b.div(args[0], b.f32(most));
                             });
  Value values = createLoops(
      b, "tbk,tb->tbk", {x, largest},
      createEmpty(b, {rows, blocks, b.getIndexAttr(block)}, element),
      [&](ValueBuilder &b, ValueRange args) -> Value {
        Value inverse = divideOrZero(b, b.f32(most), args[1]);
        Value scaled = b.mul(args[0], inverse);
        if (!element.isInteger())
          return b.convert(scaled, element);
        return arith::FPToSIOp::create(b, b.getI8Type(),
                                       math::RoundEvenOp::create(b, scaled));
      });
  return {joinBlocks(b, values, input.getType().getDimSize(1)), scales};
}

namespace {
struct DecomposeQuantizeRows final : OpRewritePattern<QuantizeRowsOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(QuantizeRowsOp op,
                                PatternRewriter &rewriter) const override {
    ValueBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, quantize(b, op.getInput(), kBlock, b.getI8Type()));
    return success();
  }
};

struct DecomposeQuantizeBlocks final : OpRewritePattern<QuantizeBlocksOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(QuantizeBlocksOp op,
                                PatternRewriter &rewriter) const override {
    ValueBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, quantize(b, op.getInput(),
                                    static_cast<int64_t>(op.getBlock()),
                                    op.getValues().getType().getElementType()));
    return success();
  }
};

/// All rows are computed and those without a guard become zero. A target skips
/// them instead.
struct DecomposeGuardedMatmul final : OpRewritePattern<GuardedMatmulOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(GuardedMatmulOp op,
                                PatternRewriter &rewriter) const override {
    ValueBuilder b(op.getLoc(), rewriter);
    Value product = createProduct(
        b, "tk,nk->tn", op.getInput(), op.getWeight(),
        {getSize(b, op.getInput(), 0), getSize(b, op.getWeight(), 0)});
    rewriter.replaceOp(op, guardRows(b, product, op.getGuard()));
    return success();
  }
};

/// Both sides are expanded to f32 first. Targets add integers within a block,
/// which gives the same up to rounding.
struct DecomposeQuantizedMatmul final : OpRewritePattern<QuantizedMatmulOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(QuantizedMatmulOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getPackedAttr())
      return rewriter.notifyMatchFailure(
          op, "packed weights are specific to a target");
    ValueBuilder b(op.getLoc(), rewriter);
    Value x = scaleBlocks(b, op.getValues(), op.getScales(), kBlock);
    Value w =
        DequantizeOp::create(b, op.getWeight(), op.getFormatAttr()).getResult();
    Value product = createProduct(b, "tk,nk->tn", x, w,
                                  {getSize(b, x, 0), getSize(b, w, 0)});
    if (op.getGuard())
      product = guardRows(b, product, op.getGuard());
    rewriter.replaceOp(op, product);
    return success();
  }
};

/// The same for a weight of numbers of 8 bits.
struct DecomposeScaledMatmul final : OpRewritePattern<ScaledMatmulOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(ScaledMatmulOp op,
                                PatternRewriter &rewriter) const override {
    ValueBuilder b(op.getLoc(), rewriter);
    Value x = scaleBlocks(b, op.getValues(), op.getScales(),
                          static_cast<int64_t>(op.getBlock()));
    Value w = op.getWeight();
    Value floats = createLoops(
        b, "nk->nk", w,
        createEmpty(b, {getSize(b, w, 0), getSize(b, w, 1)}, b.getF32Type()),
        [](ValueBuilder &b, ValueRange args) -> Value {
          return b.toF32(args[0]);
        });
    rewriter.replaceOp(op, createProduct(b, "tk,nk->tn", x, floats,
                                         {getSize(b, x, 0), getSize(b, w, 0)}));
    return success();
  }
};
} // namespace

void gist::populateDecomposeQuantPatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeQuantizeRows, DecomposeQuantizeBlocks,
               DecomposeGuardedMatmul, DecomposeQuantizedMatmul,
               DecomposeScaledMatmul>(patterns.getContext());
}
