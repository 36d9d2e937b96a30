//===- AddDecodeEntry.cpp - The pass -gist-add-decode-entry ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decode is prefill on one token. The function is copied, its first argument
// becomes tensor<1xi32>, and patterns carry the size through the copy, so that
// kernels of decode know that they have one row.
//
// On a GPU there is another copy, for a few tokens. Their number is dynamic but
// known to be small: products then read W once and are not tiled by rows.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistExpertOps.h"
#include "dialect/GistLaunchNames.h"
#include "dialect/GistTargetAttrs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"
#include "runtime/module/ModuleSpec.h"

namespace gist {
#define GEN_PASS_DEF_ADDDECODEENTRYPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// Tokens of a short call, at most: the rows of one matrix instruction.
static constexpr int64_t kShortTokens = 16;

/// The source of a cast from static to dynamic sizes, or `value` itself.
/// canFoldIntoConsumerOp refuses casts in the other direction: the type of
/// their source has fewer static sizes.
static Value lookThroughCast(Value value) {
  auto cast = value.getDefiningOp<tensor::CastOp>();
  return cast && tensor::canFoldIntoConsumerOp(cast) ? cast.getSource() : value;
}

namespace {
/// Lets ops that infer their types know the sizes of what they read. Upstream's
/// patterns do the same for linalg and tensor.
struct InferFromCasts final : OpInterfaceRewritePattern<InferTypeOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(InferTypeOpInterface op,
                                PatternRewriter &rewriter) const override {
    // linalg and tensor ops have upstream's patterns, added below.
    if (!isa<GistDialect>(op->getDialect()))
      return rewriter.notifyMatchFailure(op, "has patterns of its own");
    auto operands = llvm::map_to_vector(op->getOperands(), lookThroughCast);
    // Without this the greedy driver would rewrite the same op for ever.
    if (ValueRange(operands) == ValueRange(op->getOperands()))
      return rewriter.notifyMatchFailure(op, "reads no forgotten sizes");
    SmallVector<Type> types;
    if (failed(op.inferReturnTypes(
            op.getContext(), op.getLoc(), operands, op->getAttrDictionary(),
            op->getPropertiesStorage(), op->getRegions(), types)))
      return rewriter.notifyMatchFailure(op, "the sizes disagree");

    // Inherent attributes travel as properties.
    OperationState state(op.getLoc(), op->getName(), operands, types,
                         op->getDiscardableAttrDictionary().getValue());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    Operation *known = rewriter.create(state);
    SmallVector<Value> results;
    for (auto [now, before] :
         llvm::zip_equal(known->getResults(), op->getResultTypes()))
      // Readers keep the type they have. The cast goes away when a pattern
      // lets them infer theirs again.
      results.push_back(
          now.getType() == before
              ? Value(now)
              : tensor::CastOp::create(rewriter, op.getLoc(), before, now));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// The same for products with experts, whose operands do not say how wide the
/// result is.
struct KnowRows final : OpRewritePattern<ExpertMatmulOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(ExpertMatmulOp op,
                                PatternRewriter &rewriter) const override {
    Value input = lookThroughCast(op.getInput());
    Value experts = lookThroughCast(op.getExperts());
    if (input == op.getInput() && experts == op.getExperts())
      return rewriter.notifyMatchFailure(op, "reads no forgotten sizes");
    auto known = cast<RankedTensorType>(input.getType());
    RankedTensorType type = op.getType();
    auto now = RankedTensorType::get({known.getDimSize(0), type.getDimSize(1)},
                                     type.getElementType());
    Value result = ExpertMatmulOp::create(rewriter, op.getLoc(), now, input,
                                          op.getWeight(), experts);
    if (now != type)
      result = tensor::CastOp::create(rewriter, op.getLoc(), type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct AddDecodeEntryPass final
    : gist::impl::AddDecodeEntryPassBase<AddDecodeEntryPass> {
  using Base::Base;

  void runOnOperation() override {
    auto prefill = getOperation().lookupSymbol<func::FuncOp>(from);
    // The pass is part of every pipeline, also for handwritten files: an entry
    // that exists already is kept.
    if (!prefill || prefill.isExternal() || getOperation().lookupSymbol(to))
      return;
    auto tokens =
        prefill.getNumArguments() > 0
            ? dyn_cast<RankedTensorType>(prefill.getArgument(0).getType())
            : RankedTensorType();
    // An encoder, or a handwritten function: there is nothing to specialise.
    if (!tokens || tokens.getRank() != 1 || !tokens.isDynamicDim(0))
      return;

    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(prefill);
    addShort(builder, prefill);
    auto decode = cast<func::FuncOp>(builder.clone(*prefill));
    decode.setName(to);
    fixTokens(decode, tokens);
    RewritePatternSet patterns(&getContext());
    patterns.add<InferFromCasts, KnowRows>(&getContext());
    // All canonical forms of the two dialects: some of them carry sizes.
    for (StringRef name : {"tensor", "linalg"}) {
      Dialect *dialect = getContext().getLoadedDialect(name);
      dialect->getCanonicalizationPatterns(patterns);
    }
    for (RegisteredOperationName op : getContext().getRegisteredOperations())
      if (isa<tensor::TensorDialect, linalg::LinalgDialect>(op.getDialect()))
        op.getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(decode, std::move(patterns))))
      signalPassFailure();
  }

  /// Adds the copy for a few tokens.
  void addShort(OpBuilder &builder, func::FuncOp prefill) {
    if (!getOperation()->getAttrOfType<GpuTargetAttr>(kTargetAttr) ||
        from != kEntryPrefill || getOperation().lookupSymbol(kEntryShort))
      return;
    auto copy = cast<func::FuncOp>(builder.clone(*prefill));
    copy.setName(kEntryShort);
    copy->setAttr(kMaxTokensAttr, builder.getI64IntegerAttr(kShortTokens));
  }

  /// Makes the first argument one token and casts it back to a dynamic size:
  /// patterns then carry the static size through the function.
  void fixTokens(func::FuncOp function, RankedTensorType tokens) {
    RankedTensorType one = RankedTensorType::get({1}, tokens.getElementType());
    BlockArgument argument = function.getArgument(0);
    OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
    argument.setType(one);
    auto cast =
        tensor::CastOp::create(builder, argument.getLoc(), tokens, argument);
    argument.replaceAllUsesExcept(cast, cast);
    // Result types stay as they were. Where patterns learn more of them, a cast
    // stands before the return.
    function.setFunctionType(builder.getFunctionType(
        function.front().getArgumentTypes(), function.getResultTypes()));
  }
};
} // namespace
