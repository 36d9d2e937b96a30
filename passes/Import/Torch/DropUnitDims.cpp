//===- DropUnitDims.cpp - Drops dimensions of one -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's own patterns do the work. Transposes and broadcasts become loops
// first, which those patterns know; results that nothing reads go, such as the
// place of a maximum.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace gist {
#define GEN_PASS_DEF_DROPUNITDIMSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;

namespace {
struct Generalize final : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (!isa<linalg::TransposeOp, linalg::BroadcastOp>(op.getOperation()))
      return failure();
    // Only those with a dimension of one: the others say more as they are.
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (!llvm::is_contained(type.getShape(), 1))
      return failure();
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

/// Tensors are joined without their dimensions of one.
struct ConcatWithout final : OpRewritePattern<tensor::ConcatOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(tensor::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getResultType();
    auto joined = static_cast<int64_t>(op.getDim());
    // A group ends with a dimension that stays; the last takes what is left.
    SmallVector<ReassociationIndices> groups(1);
    int64_t dim = -1;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      bool stays = type.getDimSize(i) != 1 || i == joined;
      bool isFull = !groups.back().empty() &&
                    llvm::any_of(groups.back(), [&](int64_t other) {
                      return type.getDimSize(other) != 1 || other == joined;
                    });
      if (stays && isFull)
        groups.emplace_back();
      groups.back().push_back(i);
      if (i == joined)
        dim = static_cast<int64_t>(groups.size()) - 1;
    }
    if (static_cast<int64_t>(groups.size()) == type.getRank())
      return rewriter.notifyMatchFailure(op, "it has no dimension of one");
    SmallVector<Value> inputs;
    for (Value input : op.getInputs())
      inputs.push_back(tensor::CollapseShapeOp::create(rewriter, op.getLoc(),
                                                       input, groups));
    Value result = tensor::ConcatOp::create(rewriter, op.getLoc(), dim, inputs);
    SmallVector<OpFoldResult> sizes;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (!type.isDynamicDim(i)) {
        sizes.push_back(rewriter.getIndexAttr(type.getDimSize(i)));
        continue;
      }
      auto group = llvm::find_if(groups, [&](const ReassociationIndices &each) {
        return llvm::is_contained(each, i);
      });
      sizes.push_back(tensor::getMixedSize(rewriter, op.getLoc(), result,
                                           group - groups.begin()));
    }
    rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, type, result, groups,
                                                       sizes);
    return success();
  }
};

/// A generic that is a transpose becomes one again, or is dropped.
struct Specialize final : OpRewritePattern<linalg::GenericOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumDpsInputs() != 1 || op.getNumResults() != 1 ||
        op.getNumReductionLoops() != 0 ||
        op.getBody()->getTerminator()->getOperand(0) !=
            op.getBody()->getArgument(0) ||
        !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
      return rewriter.notifyMatchFailure(op, "it does not copy");
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
    Value input = op.getDpsInputOperand(0)->get();
    if (!map.isPermutation())
      return rewriter.notifyMatchFailure(op, "it repeats elements");
    if (map.isIdentity()) {
      if (input.getType() != op.getResult(0).getType())
        return rewriter.notifyMatchFailure(op, "it changes the type");
      rewriter.replaceOp(op, input);
      return success();
    }
    SmallVector<int64_t> order(map.getNumResults());
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      order[cast<AffineDimExpr>(expr).getPosition()] =
          static_cast<int64_t>(dim);
    rewriter.replaceOpWithNewOp<linalg::TransposeOp>(
        op, input, op.getDpsInitOperand(0)->get(), order);
    return success();
  }
};

/// A slice of a tensor with a dimension of one is a slice of the tensor
/// without.
struct SliceSource final : OpRewritePattern<tensor::ExtractSliceOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    auto expand = op.getSource().getDefiningOp<tensor::ExpandShapeOp>();
    if (!expand)
      return rewriter.notifyMatchFailure(op, "its source is not expanded");
    // The source without the dimensions that the slice drops.
    llvm::SmallBitVector dropped = op.getDroppedDims();
    RankedTensorType type = expand.getResultType();
    SmallVector<OpFoldResult> offsets, sizes, strides, shape;
    SmallVector<int64_t> kept;
    SmallVector<ReassociationIndices> groups;
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      groups.emplace_back();
      for (int64_t dim : group) {
        if (dropped.test(dim) && type.getDimSize(dim) == 1)
          continue;
        groups.back().push_back(static_cast<int64_t>(kept.size()));
        kept.push_back(type.getDimSize(dim));
        shape.push_back(expand.getMixedOutputShape()[dim]);
        offsets.push_back(op.getMixedOffsets()[dim]);
        sizes.push_back(op.getMixedSizes()[dim]);
        strides.push_back(op.getMixedStrides()[dim]);
      }
      // A dimension of one that the source has too.
      if (groups.back().empty())
        return rewriter.notifyMatchFailure(op, "a dimension would be lost");
    }
    if (static_cast<int64_t>(kept.size()) == type.getRank())
      return rewriter.notifyMatchFailure(op, "it drops no dimension of one");
    Value source = expand.getSrc();
    if (static_cast<int64_t>(kept.size()) != expand.getSrcType().getRank())
      source = tensor::ExpandShapeOp::create(
          rewriter, op.getLoc(),
          RankedTensorType::get(kept, type.getElementType()), source, groups,
          shape);
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
        op, op.getType(), source, offsets, sizes, strides);
    return success();
  }
};

struct DropUnitDimsPass final
    : gist::impl::DropUnitDimsPassBase<DropUnitDimsPass> {
  using Base::Base;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    // Before they become insertions, which keep the dimension.
    RewritePatternSet before(context);
    before.add<ConcatWithout>(context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(before))))
      return signalPassFailure();
    RewritePatternSet patterns(context);
    patterns.add<Generalize>(context);
    linalg::ControlDropUnitDims control;
    linalg::populateFoldUnitExtentDimsPatterns(patterns, control);
    linalg::populateFoldUnitExtentDimsCanonicalizationPatterns(patterns,
                                                               control);
    linalg::populateContractionOpRankReducingPatterns(patterns);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    // Apart from the patterns above, which would undo it.
    RewritePatternSet after(context);
    after.add<Specialize, SliceSource>(context);
    linalg::TransposeOp::getCanonicalizationPatterns(after, context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(after))))
      signalPassFailure();
  }
};
} // namespace
