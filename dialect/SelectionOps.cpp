//===- SelectionOps.cpp - Ops that make and take apart selections ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "dialect/Verify.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace gist;

/// The type of the selection over `tokens`; null, with an error, if these are
/// not valid rows.
static SelectionType inferSelection(std::optional<Location> location,
                                    Value tokens) {
  RankedTensorType type = getTensorType(location, tokens, 2, 3, "tokens");
  if (!type)
    return {};
  // The type of a selection has its heads as a number.
  if (type.getRank() == 3 && type.getDimSize(1) < 1) {
    (void)emitOptionalError(
        location, "expects a static number of heads, at least one, got ", type);
    return {};
  }
  return SelectionType::forTokens(type);
}

/// True if `tau`, or a single token, leaves nothing that could be redundant.
/// With tau = 0 no two rows are similar enough, and one token represents
/// itself.
/// Taus of heads are known only when the code runs.
template <typename OpTy> static bool keepsEverything(OpTy op) {
  return (op.getTau() && op.getTau()->isZero()) ||
         op.getTokens().getType().getDimSize(0) == 1;
}

/// The selection over `tokens` in which every token represents itself.
static Value createKeepAll(OpBuilder &builder, Location location,
                           Value tokens) {
  auto type = cast<RankedTensorType>(tokens.getType());
  Value size;
  if (type.isDynamicDim(0))
    size = tensor::DimOp::create(builder, location, tokens, 0);
  return KeepAllOp::create(builder, location, SelectionType::forTokens(type),
                           size);
}

/// What both ops that select ask of `tau`.
template <typename OpTy> static LogicalResult verifyTau(OpTy op) {
  if (op.getTau().has_value() == static_cast<bool>(op.getTaus()))
    return op.emitOpError("expects either tau or taus");
  double tau = op.getTau() ? toDouble(*op.getTau()) : 0;
  if (!(tau >= 0 && tau < 1))
    return op.emitOpError("expects tau in [0, 1), got ") << tau;
  return success();
}

/// What both ops that select ask of `taus` and `subspace`.
template <typename OpTy> static LogicalResult verifyHints(OpTy op) {
  // The dimensions that number the rows: tokens, or tokens x heads.
  ArrayRef<int64_t> rows = op.getTokens().getType().getShape().drop_back();
  if (auto taus = op.getTaus()) {
    int64_t heads = rows.size() == 2 ? rows[1] : 1;
    // Without heads there is one selection, and so one tau.
    if (!canBeEqual(taus.getType().getDimSize(0), heads))
      return op.emitOpError("expects taus for ")
             << heads << (heads == 1 ? " head" : " heads") << ", got "
             << taus.getType();
  }
  if (!op.getCoefficients())
    return success();
  auto fits = [&](ArrayRef<int64_t> shape) {
    return shape.size() == rows.size() &&
           llvm::all_of_zip(shape, rows, canBeEqual);
  };
  RankedTensorType coefficients = op.getCoefficients().getType();
  RankedTensorType residuals = op.getResiduals().getType();
  if (!fits(coefficients.getShape().drop_back()) || !fits(residuals.getShape()))
    return op.emitOpError("expects coefficients and a norm for every row of ")
           << op.getTokens().getType() << ", got " << coefficients << " and "
           << residuals;
  return success();
}

//===----------------------------------------------------------------------===//
// gram_select
//===----------------------------------------------------------------------===//

LogicalResult GramSelectOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  SelectionType type = inferSelection(location, adaptor.getTokens()); // (C3)
  if (!type)
    return failure();
  types.push_back(type);
  return success();
}

LogicalResult GramSelectOp::verify() {
  if (failed(verifyTau(*this)) ||                            // (C1)
      failed(verifyOffsets(*this, getOffsets(), "offsets"))) // (C2)
    return failure();
  return verifyHints(*this); // (C4), (C5)
}

namespace {
/// A selection in which nothing can be redundant keeps every token.
struct KeepAllOfGramSelect final : OpRewritePattern<GramSelectOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(GramSelectOp op,
                                PatternRewriter &rewriter) const override {
    if (!keepsEverything(op))
      return rewriter.notifyMatchFailure(op, "tokens may be redundant");
    rewriter.replaceOp(op,
                       createKeepAll(rewriter, op.getLoc(), op.getTokens()));
    return success();
  }
};
} // namespace

void GramSelectOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *context) {
  patterns.add<KeepAllOfGramSelect>(context);
}

//===----------------------------------------------------------------------===//
// cascade_update
//===----------------------------------------------------------------------===//

LogicalResult CascadeUpdateOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  SelectionType type = inferSelection(location, adaptor.getTokens());
  if (!type)
    return failure();
  auto count = RankedTensorType::get(type.getCountShape(),
                                     IntegerType::get(context, 32));
  types.append({type, count, count});
  return success();
}

LogicalResult CascadeUpdateOp::verify() {
  if (failed(verifyTau(*this)) ||                            // (C1)
      failed(verifyOffsets(*this, getOffsets(), "offsets"))) // (C2)
    return failure();

  SelectionType expected = SelectionType::forTokens(getTokens().getType());
  SelectionType found = getInherited().getType();
  if (found.getHeads() != expected.getHeads() ||
      !canBeEqual(found.getTokens(), expected.getTokens())) // (C3)
    return emitOpError("expects to inherit a selection over its tokens, ")
           << expected << ", got " << found;

  if (getRule() == CascadeRule::Paper && getCausal()) // (C4)
    return emitOpError("expects rule paper without causal: it compares tokens "
                       "with later representatives");
  return verifyHints(*this); // (C5), (C6)
}

namespace {
/// Inheriting without validation passes the selection on.
struct PassOnInherited final : OpRewritePattern<CascadeUpdateOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(CascadeUpdateOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getRule() != CascadeRule::Inherit)
      return rewriter.notifyMatchFailure(op, "the selection is validated");
    // A selection over ? tokens is not one over 512, although they are the same
    // at run time.
    if (op.getInherited().getType() != op.getSelection().getType())
      return rewriter.notifyMatchFailure(op, "the types differ in dynamic T");
    Value none = arith::ConstantOp::create(
        rewriter, op.getLoc(), rewriter.getZeroAttr(op.getRemoved().getType()));
    rewriter.replaceOp(op, {op.getInherited(), none, none});
    return success();
  }
};

/// A covering in which nothing can be redundant keeps every token.
struct KeepAllOfCascade final : OpRewritePattern<CascadeUpdateOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(CascadeUpdateOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getRule() != CascadeRule::Covering || !keepsEverything(op))
      return rewriter.notifyMatchFailure(op, "tokens may be redundant");
    // What came and went would have to be counted.
    if (!op.getRemoved().use_empty() || !op.getAdded().use_empty())
      return rewriter.notifyMatchFailure(op, "the turnover is read");
    Value kept = createKeepAll(rewriter, op.getLoc(), op.getTokens());
    rewriter.replaceAllUsesWith(op.getSelection(), kept);
    rewriter.eraseOp(op);
    return success();
  }
};

/// A covering that inherits every token has no hint to use: select afresh.
/// By uniqueness (dialect/README.md) the set is the same either way.
struct SelectAfresh final : OpRewritePattern<CascadeUpdateOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(CascadeUpdateOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getRule() != CascadeRule::Covering ||
        !op.getInherited().getDefiningOp<KeepAllOp>())
      return rewriter.notifyMatchFailure(op, "inherits a hint");
    if (!op.getRemoved().use_empty() || !op.getAdded().use_empty())
      return rewriter.notifyMatchFailure(op, "the turnover is read");
    Value fresh = GramSelectOp::create(
        rewriter, op.getLoc(), op.getTokens(), op.getTauAttr(), op.getTaus(),
        AgainstAttr::get(getContext(), Against::Kept), op.getSimilarityAttr(),
        op.getCausalAttr(), op.getCoefficients(), op.getResiduals(),
        op.getOffsets());
    rewriter.replaceAllUsesWith(op.getSelection(), fresh);
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void CascadeUpdateOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                  MLIRContext *context) {
  patterns.add<PassOnInherited, KeepAllOfCascade, SelectAfresh>(context);
}

//===----------------------------------------------------------------------===//
// keep_all
//===----------------------------------------------------------------------===//

LogicalResult KeepAllOp::verify() {
  bool isDynamic = ShapedType::isDynamic(getSelection().getType().getTokens());
  if (isDynamic != static_cast<bool>(getSize())) // (C1)
    return emitOpError("expects ")
           << (isDynamic ? "a size operand for a dynamic"
                         : "no size operand for a static")
           << " number of tokens, as in " << getSelection().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// pack_selection, unpack_selection
//===----------------------------------------------------------------------===//

LogicalResult PackSelectionOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  RankedTensorType ids = getTensorType(location, adaptor.getIds(), 1, 2, "ids");
  if (!ids)
    return failure();
  std::optional<int64_t> heads;
  if (ids.getRank() == 2)
    heads = ids.getDimSize(0);
  if (heads && *heads < 1)
    return emitOptionalError(
        location,
        "expects ids with a static number of heads, at least one, got ", ids);
  types.push_back(SelectionType::get(context, heads, ids.getShape().back()));
  return success();
}

LogicalResult PackSelectionOp::verify() {
  RankedTensorType ids = getIds().getType();
  for (auto [name, part] :
       {std::pair("nearest", getNearest()), std::pair("weight", getWeight())})
    if (part.getType() != ids) // (C1)
      return emitOpError("expects ") << name << " of the type of ids, " << ids
                                     << ", got " << part.getType();
  ArrayRef<int64_t> count = getCount().getType().getShape();
  if (count != ArrayRef(getSelection().getType().getCountShape())) // (C2)
    return emitOpError("expects one count for each selection of ")
           << getSelection().getType() << ", got " << getCount().getType();
  return success();
}

/// Packing what was unpacked from a selection gives that selection.
/// Only where all four parts are those, in their order, and the type as well.
OpFoldResult PackSelectionOp::fold(FoldAdaptor) {
  auto unpack = getIds().getDefiningOp<UnpackSelectionOp>();
  if (!unpack || unpack.getSelection().getType() != getSelection().getType() ||
      !llvm::equal(unpack.getResults(), getOperands()))
    return {};
  return unpack.getSelection();
}

LogicalResult UnpackSelectionOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto selection = dyn_cast<SelectionType>(adaptor.getSelection().getType());
  if (!selection)
    return emitOptionalError(location, "expects a selection, got ",
                             adaptor.getSelection().getType());
  Type i32 = IntegerType::get(context, 32);
  auto part = RankedTensorType::get(selection.getPartShape(), i32);
  auto count = RankedTensorType::get(selection.getCountShape(), i32);
  types.append({part, count, part, part});
  return success();
}

/// Unpacking what was packed gives the parts.
LogicalResult UnpackSelectionOp::fold(FoldAdaptor,
                                      SmallVectorImpl<OpFoldResult> &results) {
  auto pack = getSelection().getDefiningOp<PackSelectionOp>();
  if (!pack)
    return failure();
  llvm::append_range(results, pack.getOperands());
  return success();
}
