//===- AttentionOps.cpp - attention and attend ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "dialect/Verify.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace gist;

/// The output has the queries' tokens, heads and element type and the values'
/// head size.
static LogicalResult inferOutput(std::optional<Location> location, Value query,
                                 Value value, SmallVectorImpl<Type> &types) {
  RankedTensorType queries = getTensorType(location, query, 3, 3, "queries");
  RankedTensorType values = getTensorType(location, value, 3, 3, "values");
  if (!queries || !values)
    return failure();
  types.push_back(queries.clone(
      {queries.getDimSize(0), queries.getDimSize(1), values.getDimSize(2)}));
  return success();
}

/// What attention and attend ask of queries, keys and values alike: (C1) to
/// (C3) of both.
static LogicalResult verifyHeads(Operation *op, RankedTensorType query,
                                 RankedTensorType key, RankedTensorType value) {
  if (!canBeEqual(key.getDimSize(0), value.getDimSize(0)) ||
      !canBeEqual(key.getDimSize(1), value.getDimSize(1))) // (C1)
    return op->emitOpError("expects keys and values of the same tokens and "
                           "heads, got ")
           << key << " and " << value;

  // Grouped heads: each KV head serves the same number of query heads.
  int64_t heads = query.getDimSize(1), kvHeads = key.getDimSize(1);
  if (!ShapedType::isDynamic(heads) && !ShapedType::isDynamic(kvHeads) &&
      (kvHeads == 0 || heads % kvHeads != 0)) // (C2)
    return op->emitOpError("expects the query heads to be a multiple of the KV "
                           "heads, got ")
           << heads << " and " << kvHeads;

  if (!canBeEqual(query.getDimSize(2), key.getDimSize(2)) ||
      query.getElementType() != key.getElementType()) // (C3)
    return op->emitOpError("expects queries and keys of one head size and "
                           "element type, got ")
           << query << " and " << key;
  return success();
}

/// The given scale, or 1/sqrt(D) for keys with heads of size D.
static double computeScale(const std::optional<APFloat> &scale,
                           RankedTensorType key) {
  if (scale)
    return toDouble(*scale);
  return 1.0 / std::sqrt(static_cast<double>(key.getDimSize(2)));
}

//===----------------------------------------------------------------------===//
// attention
//===----------------------------------------------------------------------===//

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  return inferOutput(location, adaptor.getQuery(), adaptor.getValue(), types);
}

double AttentionOp::getEffectiveScale() {
  return computeScale(getScale(), getKey().getType());
}

LogicalResult AttentionOp::verify() {
  RankedTensorType query = getQuery().getType(), key = getKey().getType();
  if (failed(verifyHeads(*this, query, key, getValue().getType())))
    return failure();

  int64_t queries = query.getDimSize(0), keys = key.getDimSize(0);
  // Without offsets the queries are the last of the keys.
  if (getCausal() && !getOffsets() && !ShapedType::isDynamic(queries) &&
      !ShapedType::isDynamic(keys) && queries > keys) // (C4)
    return emitOpError("expects at least as many keys as queries where causal, "
                       "got ")
           << keys << " and " << queries;

  if (failed(verifyScale(*this, getScale()))) // (C5)
    return failure();

  if (std::optional<int64_t> window = getWindow();
      window && (*window < 1 || !getCausal())) // (C6)
    return emitOpError("expects a positive window, with causal, got ")
           << *window << (getCausal() ? "" : " without causal");
  if (std::optional<int64_t> sinks = getSinks();
      sinks && (*sinks < 0 || !getWindow())) // (C6)
    return emitOpError("expects sinks that are not negative, with a window, "
                       "got ")
           << *sinks << (getWindow() ? "" : " without window");

  if (Value mask = getMask()) { // (C7)
    auto type = cast<RankedTensorType>(mask.getType());
    if (!canBeEqual(type.getDimSize(0), queries) ||
        !canBeEqual(type.getDimSize(1), keys))
      return emitOpError("expects a mask of queries x keys, ")
             << printSize(queries) << " x " << printSize(keys) << ", got "
             << type;
  }

  if (static_cast<bool>(getOffsets()) != static_cast<bool>(getKeyOffsets()) ||
      (getOffsets() &&
       !canBeEqual(getOffsets().getType().getDimSize(0),
                   getKeyOffsets().getType().getDimSize(0)))) // (C8)
    return emitOpError("expects offsets and key_offsets together, of one "
                       "length");
  return verifyOffsets(*this, getOffsets(), "offsets"); // (C8)
}

namespace {
/// A mask of zeros masks nothing.
struct DropZeroMask final : OpRewritePattern<AttentionOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    // Zeros are added to scores.
    if (!op.getMask() || !matchPattern(op.getMask(), m_AnyZeroFloat()))
      return rewriter.notifyMatchFailure(op, "no mask, or not of zeros");
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
    return success();
  }
};

/// A window at least as long as the keys hides nothing.
struct DropWideWindow final : OpRewritePattern<AttentionOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    int64_t keys = op.getKey().getType().getDimSize(0);
    if (!op.getWindow() || ShapedType::isDynamic(keys) ||
        *op.getWindow() < keys)
      return rewriter.notifyMatchFailure(op, "the window may hide keys");
    rewriter.modifyOpInPlace(op, [&] {
      // Sinks mean nothing without a window, and (C6) refuses them.
      op.removeSinksAttr();
      op.removeWindowAttr();
    });
    return success();
  }
};
} // namespace

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<DropZeroMask, DropWideWindow>(context);
}

//===----------------------------------------------------------------------===//
// attend
//===----------------------------------------------------------------------===//

LogicalResult AttendOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return inferOutput(location, adaptor.getQuery(), adaptor.getValue(), types);
}

double AttendOp::getEffectiveScale() {
  return computeScale(getScale(), getKey().getType());
}

Merge AttendOp::getEffectiveMerge() { return getMerge().value_or(Merge::Mean); }

LogicalResult AttendOp::verify() {
  RankedTensorType query = getQuery().getType(), key = getKey().getType();
  if (failed(verifyHeads(*this, query, key, getValue().getType())))
    return failure();

  SelectionType selection = getSelection().getType();
  if (!canBeEqual(query.getDimSize(0), key.getDimSize(0)) ||
      !canBeEqual(query.getDimSize(0), selection.getTokens()) ||
      !canBeEqual(key.getDimSize(0), selection.getTokens())) // (C4)
    return emitOpError("expects queries, keys and selection over the same "
                       "tokens, got ")
           << printSize(query.getDimSize(0)) << ", "
           << printSize(key.getDimSize(0)) << " and "
           << printSize(selection.getTokens());
  if (std::optional<int64_t> heads = selection.getHeads();
      heads && *heads != key.getDimSize(1)) // (C5)
    return emitOpError("expects one selection per KV head, ")
           << printSize(key.getDimSize(1)) << ", got " << *heads;

  if (failed(verifyScale(*this, getScale()))) // (C6)
    return failure();

  bool isKeys = getMode() == AttendMode::Keys;
  bool wantsWindow = isKeys && getCausal();
  if (wantsWindow != (getWindow().has_value() || getBlock().has_value()) ||
      getWindow().has_value() != getBlock().has_value() ||
      getWindow().value_or(0) < 0 || getBlock().value_or(1) < 1) // (C7)
    return emitOpError(
        "expects window >= 0 and block >= 1 in causal mode keys, "
        "and neither elsewhere");
  // In mode keys a cluster counts as many times as it has members.
  if (isKeys && getLogCount()) // (C8)
    return emitOpError("expects log_count in mode copy only: mode keys always "
                       "counts");
  if (!isKeys && getMerge()) // (C8)
    return emitOpError("expects merge in mode keys only");
  return verifyOffsets(*this, getOffsets(), "offsets"); // (C9)
}

namespace {
/// Where every token represents itself, attend is dense attention: each
/// cluster has one member, and log 1 = 0.
/// The window and the block say when tokens become clusters, which are the same
/// tokens here, so both are dropped.
struct AttendToAll final : OpRewritePattern<AttendOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(AttendOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getSelection().getDefiningOp<KeepAllOp>())
      return rewriter.notifyMatchFailure(op, "tokens may be redundant");
    rewriter.replaceOpWithNewOp<AttentionOp>(
        op, op.getQuery(), op.getKey(), op.getValue(), /*mask=*/Value(),
        op.getOffsets(), op.getOffsets(), op.getCausalAttr(), op.getScaleAttr(),
        /*window=*/IntegerAttr(), /*sinks=*/IntegerAttr());
    return success();
  }
};
} // namespace

void AttendOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<AttendToAll>(context);
}
