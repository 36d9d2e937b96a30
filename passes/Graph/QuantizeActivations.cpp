//===- QuantizeActivations.cpp - The pass -gist-quantize-activations ------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products with block-quantised weights multiply 8-bit integers: rows of x
// become integers with a scale for each block, once for all products that read
// them (CSE joins the ops). GPUs multiply integers of longer blocks,
// or floats (IntegerProducts.h).
//
//===----------------------------------------------------------------------===//

#include "dialect/GistExpertOps.h"
#include "dialect/GistTargetAttrs.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Graph/IntegerProducts.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Passes.h"

namespace gist {
#define GEN_PASS_DEF_QUANTIZEACTIVATIONSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// True if `value` is a tensor filled with zero.
static bool isZeroFilled(Value value) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.value(), m_AnyZeroFloat());
}

/// A dynamic size is excluded first: kDynamic is a negative number that happens
/// to be a multiple.
static bool hasWholeBlocks(RankedTensorType rows) {
  return !rows.isDynamicDim(1) && rows.getDimSize(1) % PackingAttr::kBlock == 0;
}

namespace {
struct QuantizeActivation final : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (!isTransposedMatmul(op))
      return rewriter.notifyMatchFailure(op, "is not x W^T");
    Value x = op.getDpsInputOperand(0)->get();
    auto weight = op.getDpsInputOperand(1)->get().getDefiningOp<DequantizeOp>();
    if (!weight)
      return rewriter.notifyMatchFailure(op, "the weight is not quantised");
    auto type = cast<RankedTensorType>(x.getType());
    // Blocks of rows and of weights must be the same.
    if (!type.getElementType().isF32() || !hasWholeBlocks(type))
      return rewriter.notifyMatchFailure(op, "rows are not whole f32 blocks");
    // gist.quantized_matmul does not add to what is there.
    if (!isZeroFilled(op.getDpsInits()[0]))
      return rewriter.notifyMatchFailure(op, "the product accumulates");

    // The dequantise op loses this reader, and goes away with its last one: the
    // product reads blocks.
    auto rows = QuantizeRowsOp::create(rewriter, op.getLoc(), x);
    rewriter.replaceOpWithNewOp<QuantizedMatmulOp>(
        op, op->getResultTypes()[0], rows.getValues(), rows.getScales(),
        weight.getBlocks(), weight.getFormatAttr(), PackingAttr(), Value(),
        Value());
    return success();
  }
};

/// The same for products that skip rows; the guard stays.
struct QuantizeGuarded final : OpRewritePattern<GuardedMatmulOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(GuardedMatmulOp op,
                                PatternRewriter &rewriter) const override {
    auto weight = op.getWeight().getDefiningOp<DequantizeOp>();
    if (!weight)
      return rewriter.notifyMatchFailure(op, "the weight is not quantised");
    if (!hasWholeBlocks(op.getInput().getType()))
      return rewriter.notifyMatchFailure(op, "rows are not whole blocks");
    auto rows = QuantizeRowsOp::create(rewriter, op.getLoc(), op.getInput());
    rewriter.replaceOpWithNewOp<QuantizedMatmulOp>(
        op, op.getType(), rows.getValues(), rows.getScales(),
        weight.getBlocks(), weight.getFormatAttr(), PackingAttr(), Value(),
        op.getGuard());
    return success();
  }
};

/// The same for products with experts, whose numbers are those of whole blocks
/// however many rows of the input a token has.
struct QuantizeExperts final : OpRewritePattern<ExpertMatmulOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(ExpertMatmulOp op,
                                PatternRewriter &rewriter) const override {
    auto weight = op.getWeight().getDefiningOp<DequantizeOp>();
    if (!weight)
      return rewriter.notifyMatchFailure(op, "the weight is not quantised");
    if (!op.getInput().getType().getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "rows are not f32");
    if (op.getSizes().depth % PackingAttr::kBlock != 0)
      return rewriter.notifyMatchFailure(op, "rows are not whole blocks");
    auto rows = QuantizeRowsOp::create(rewriter, op.getLoc(), op.getInput());
    rewriter.replaceOpWithNewOp<QuantizedExpertMatmulOp>(
        op, op.getType(), rows.getValues(), rows.getScales(),
        weight.getBlocks(), weight.getFormatAttr(), PackingAttr(),
        op.getExperts());
    return success();
  }
};

struct QuantizeActivationsPass final
    : gist::impl::QuantizeActivationsPassBase<QuantizeActivationsPass> {
  using Base::Base;

  void runOnOperation() override {
    if (auto gpu = dyn_cast_or_null<GpuTargetAttr>(
            getOperation()->getAttr(kTargetAttr))) {
      std::optional<SmallNumbers> chosen = getSmallNumbers(numbers, gpu);
      if (!chosen) {
        getOperation()->emitError("expected numbers=int8, numbers=int8-rows or "
                                  "numbers=fp8, got numbers=")
            << numbers;
        return signalPassFailure();
      }
      getOperation()->walk(
          [&](func::FuncOp function) { makeSmallProducts(function, *chosen); });
      return;
    }
    RewritePatternSet patterns(&getContext());
    patterns.add<QuantizeActivation, QuantizeGuarded, QuantizeExperts>(
        &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
