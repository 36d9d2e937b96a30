//===- RaiseViews.cpp - Views that torch-mlir computes --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Torch/SinkTransposes.h"
#include "passes/Import/Torch/SizeValues.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace gist {
#define GEN_PASS_DEF_RAISEVIEWSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// Groups of dimensions of two shapes that have as many elements.
struct Groups {
  SmallVector<ReassociationIndices> from, to;
};

/// None where the shapes cannot be cut into such groups.
static std::optional<Groups> findGroups(ArrayRef<Size> from,
                                        ArrayRef<Size> to) {
  Groups groups;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    ReassociationIndices left{static_cast<int64_t>(i)};
    ReassociationIndices right{static_cast<int64_t>(j)};
    Size product = from[i++], other = to[j++];
    while (product != other) {
      // Sizes are products, so the larger one needs more of the smaller's.
      if (product.guess() < other.guess() && i < from.size()) {
        left.push_back(static_cast<int64_t>(i));
        product = product * from[i++];
      } else if (product.guess() > other.guess() && j < to.size()) {
        right.push_back(static_cast<int64_t>(j));
        other = other * to[j++];
      } else {
        return std::nullopt;
      }
    }
    groups.from.push_back(left);
    groups.to.push_back(right);
  }
  if (groups.from.empty())
    return std::nullopt;
  // Dimensions of one that are left belong to the last group.
  for (; i < from.size(); ++i) {
    if (from[i] != Size(1))
      return std::nullopt;
    groups.from.back().push_back(static_cast<int64_t>(i));
  }
  for (; j < to.size(); ++j) {
    if (to[j] != Size(1))
      return std::nullopt;
    groups.to.back().push_back(static_cast<int64_t>(j));
  }
  return groups;
}

namespace {
struct RaiseReshape final : OpRewritePattern<tensor::ReshapeOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(tensor::ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto elements = op.getShape().getDefiningOp<tensor::FromElementsOp>();
    auto type = dyn_cast<RankedTensorType>(op.getType());
    auto source = dyn_cast<RankedTensorType>(op.getSource().getType());
    if (!elements || !type || !source)
      return rewriter.notifyMatchFailure(op, "its shape is not computed here");
    SizeValues values;
    auto from = values.getShape(op.getSource());
    auto to = values.getShape(op.getResult());
    if (!from || !to)
      return rewriter.notifyMatchFailure(op, "its sizes are not known");
    std::optional<Groups> groups = findGroups(*from, *to);
    if (!groups)
      return rewriter.notifyMatchFailure(op, "it moves elements across rows");

    SmallVector<OpFoldResult> sizes;
    for (auto [dim, value] : llvm::enumerate(elements.getElements())) {
      if (!type.isDynamicDim(dim)) {
        sizes.push_back(rewriter.getIndexAttr(type.getDimSize(dim)));
        continue;
      }
      if (!value.getType().isIndex())
        value = arith::IndexCastOp::create(rewriter, op.getLoc(),
                                           rewriter.getIndexType(), value);
      sizes.push_back(value);
    }
    Value result = op.getSource();
    // A group of one dimension on each side needs neither.
    if (llvm::any_of(groups->from,
                     [](auto &group) { return group.size() > 1; }))
      result = tensor::CollapseShapeOp::create(rewriter, op.getLoc(), result,
                                               groups->from);
    if (llvm::any_of(groups->to, [](auto &group) { return group.size() > 1; }))
      result = tensor::ExpandShapeOp::create(rewriter, op.getLoc(), type,
                                             result, groups->to, sizes);
    if (result.getType() != type)
      result = tensor::CastOp::create(rewriter, op.getLoc(), type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct RaiseBroadcast final : OpRewritePattern<linalg::GenericOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumDpsInputs() != 0 || op.getNumResults() != 1 ||
        op.getNumReductionLoops() != 0 ||
        !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
      return rewriter.notifyMatchFailure(op, "it is not a loop over a result");
    auto extract = op.getBody()
                       ->getTerminator()
                       ->getOperand(0)
                       .getDefiningOp<tensor::ExtractOp>();
    if (!extract || extract->getBlock() != op.getBody() ||
        op->isProperAncestor(
            extract.getTensor().getParentRegion()->getParentOp()))
      return rewriter.notifyMatchFailure(op, "it does not read a tensor");
    SizeValues values;
    SmallVector<AffineExpr> exprs;
    for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
      AffineExpr expr = find(op, index, extract.getTensor(), dim, values);
      if (!expr)
        return rewriter.notifyMatchFailure(op, "an index is computed");
      exprs.push_back(expr);
    }
    AffineMap map = AffineMap::get(op.getNumLoops(), 0, exprs, getContext());
    Value source = extract.getTensor();
    if (map.isIdentity() && source.getType() == op.getResult(0).getType()) {
      // The sizes agree too: every index was compared with its loop.
      rewriter.replaceOp(op, source);
      return success();
    }
    SmallVector<utils::IteratorType> loops(op.getNumLoops(),
                                           utils::IteratorType::parallel);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, op.getResultTypes(), source, op.getOutputs(),
        ArrayRef<AffineMap>{map,
                            rewriter.getMultiDimIdentityMap(op.getNumLoops())},
        loops, [](OpBuilder &b, Location location, ValueRange arguments) {
          linalg::YieldOp::create(b, location, arguments[0]);
        });
    return success();
  }

private:
  /// The loop that `index` runs with, or zero; null where it is something else.
  static AffineExpr find(linalg::GenericOp op, Value index, Value source,
                         int64_t dim, SizeValues &values) {
    MLIRContext *context = op.getContext();
    std::optional<Size> inside = values.getSize(source, dim);
    if (!inside)
      return {};
    if (matchPattern(index, m_Zero()))
      return getAffineConstantExpr(0, context);
    // Of two sizes that differ the loop's could be larger.
    auto ofLoop = [&](Value value) -> AffineExpr {
      auto loop = value.getDefiningOp<linalg::IndexOp>();
      if (!loop || loop->getParentOp() != op)
        return {};
      auto number = static_cast<unsigned>(loop.getDim());
      std::optional<Size> size = values.getSize(op.getOutputs()[0], number);
      if (!size || *size != *inside)
        return {};
      return getAffineDimExpr(number, context);
    };
    auto select = index.getDefiningOp<arith::SelectOp>();
    if (!select)
      return ofLoop(index);
    if (std::optional<bool> truth = values.getTruth(select.getCondition()))
      return find(op, *truth ? select.getTrueValue() : select.getFalseValue(),
                  source, dim, values);
    // "The size is one": then the loop's index is zero anyway.
    auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
        !matchPattern(compare.getRhs(), m_One()) ||
        values.get(compare.getLhs()) != inside ||
        !matchPattern(select.getTrueValue(), m_Zero()))
      return {};
    return ofLoop(select.getFalseValue());
  }
};

struct RaiseViewsPass final : gist::impl::RaiseViewsPassBase<RaiseViewsPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RaiseReshape, RaiseBroadcast>(&getContext());
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns,
                                                         &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    // Views that were loops would stop a transpose, so they come first.
    RewritePatternSet transposes(&getContext());
    populateSinkTransposesPatterns(transposes);
    if (failed(applyPatternsGreedily(getOperation(), std::move(transposes))))
      signalPassFailure();
  }
};
} // namespace
