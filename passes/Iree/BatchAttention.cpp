//===- BatchAttention.cpp - The pass -gist-batch-attention ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention in the words that compilers for linalg have good code for: products
// of batches. A batch is a KV head, and its rows are the tokens of all query
// heads of its group: T x (K G) x D becomes K x (G T) x D.
//
//===----------------------------------------------------------------------===//

#include "dialect/DecomposeUtils.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"

#include <limits>

namespace gist {
#define GEN_PASS_DEF_BATCHATTENTIONPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();

static Value transpose(ImplicitLocOpBuilder &b, Value x,
                       ArrayRef<int64_t> order) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : order)
    sizes.push_back(getSize(b, x, dim));
  Type element = cast<RankedTensorType>(x.getType()).getElementType();
  Value empty = createEmpty(b, sizes, element);
  return linalg::TransposeOp::create(b, x, empty, order).getResult()[0];
}

/// K x (G T) x N as K x G x T x N.
static Value splitRows(ImplicitLocOpBuilder &b, Value x, int64_t group,
                       OpFoldResult tokens) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<OpFoldResult> sizes = {getSize(b, x, 0), b.getIndexAttr(group),
                                     tokens, getSize(b, x, 2)};
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(sizes, dynamic, shape);
  return tensor::ExpandShapeOp::create(
      b, type.clone(shape), x, ArrayRef<ReassociationIndices>{{0}, {1, 2}, {3}},
      sizes);
}

/// K x G x T x N as K x (G T) x N.
static Value joinRows(ImplicitLocOpBuilder &b, Value x) {
  return tensor::CollapseShapeOp::create(
      b, x, ArrayRef<ReassociationIndices>{{0}, {1, 2}, {3}});
}

/// Sums of products in f32, a batch for each first index: of rows and rows if
/// `byRows`, else of rows and columns.
static Value multiply(ImplicitLocOpBuilder &b, Value lhs, Value rhs,
                      bool byRows) {
  SmallVector<OpFoldResult> sizes = {getSize(b, lhs, 0), getSize(b, lhs, 1),
                                     getSize(b, rhs, byRows ? 1 : 2)};
  Value zeros = createFilled(b, sizes, createF32(b, 0));
  AffineExpr batch, row, column, sum;
  bindDims(b.getContext(), batch, row, column, sum);
  auto map = [&](AffineExpr first, AffineExpr second) {
    return AffineMap::get(4, 0, {batch, first, second}, b.getContext());
  };
  SmallVector<AffineMap> maps = {map(row, sum),
                                 byRows ? map(column, sum) : map(sum, column),
                                 map(row, column)};
  auto product = linalg::BatchMatmulOp::create(
      b, zeros.getType(), ValueRange{lhs, rhs}, zeros,
      b.getNamedAttr("indexing_maps", b.getAffineMapArrayAttr(maps)));
  return product.getResult(0);
}

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

/// The softmax of each row of scores, and zeros where all are -infinity.
static Value createSoftmax(ImplicitLocOpBuilder &b, Value scores) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim < 4; ++dim)
    sizes.push_back(getSize(b, scores, dim));
  ArrayRef<OpFoldResult> rows = ArrayRef(sizes).drop_back();
  Value highest = createLoops(
      b, "kgts->kgt", scores, createFilled(b, rows, createF32(b, -kInfinity)),
      [](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
        return arith::MaximumFOp::create(b, args[0], args[1]);
      });
  Value powers = createLoops(
      b, "kgts,kgt->kgts", {scores, highest},
      createEmpty(b, sizes, b.getF32Type()),
      [](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
        Value power = math::ExpOp::create(
            b, arith::SubFOp::create(b, args[0], args[1]).getResult());
        Value isHidden =
            compare(b, CmpFPredicate::OEQ, args[0], createF32(b, -kInfinity));
        return arith::SelectOp::create(b, isHidden, createF32(b, 0), power);
      });
  Value total = createLoops(
      b, "kgts->kgt", powers, createFilled(b, rows, createF32(b, 0)),
      [](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
        return arith::AddFOp::create(b, args[0], args[1]);
      });
  return createLoops(
      b, "kgts,kgt->kgts", {powers, total},
      createEmpty(b, sizes, b.getF32Type()),
      [](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
        Value isNothing =
            compare(b, CmpFPredicate::OEQ, args[1], createF32(b, 0));
        Value share = arith::DivFOp::create(b, args[0], args[1]);
        return arith::SelectOp::create(b, isNothing, createF32(b, 0), share);
      });
}

/// `x` in `element`.
static Value convert(ImplicitLocOpBuilder &b, Value x, Type element) {
  auto type = cast<RankedTensorType>(x.getType());
  if (type.getElementType() == element)
    return x;
  Value empty =
      createEmpty(b, tensor::getMixedSizes(b, b.getLoc(), x), element);
  return createLoops(b, "abc->abc", x, empty,
                     [&](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
                       return element.isF32() ? toF32(b, args[0])
                                              : roundTo(b, args[0], element);
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
    int64_t kvHeads = keys.getDimSize(1);
    int64_t group = queries.getDimSize(1) / kvHeads;
    OpFoldResult tokens = getSize(b, op.getQuery(), 0);
    SmallVector<OpFoldResult> split = {tokens, b.getIndexAttr(kvHeads),
                                       b.getIndexAttr(group),
                                       b.getIndexAttr(keys.getDimSize(2))};
    Value query = tensor::ExpandShapeOp::create(
        b,
        RankedTensorType::get(
            {queries.getDimSize(0), kvHeads, group, keys.getDimSize(2)}, f32),
        convert(b, op.getQuery(), f32),
        ArrayRef<ReassociationIndices>{{0}, {1, 2}, {3}}, split);
    query = joinRows(b, transpose(b, query, {1, 2, 0, 3}));
    Value key = transpose(b, convert(b, op.getKey(), f32), {1, 0, 2});
    Value value = transpose(b, convert(b, op.getValue(), f32), {1, 0, 2});

    Value scores = multiply(b, query, key, /*byRows=*/true);
    scores = maskScores(b, op, splitRows(b, scores, group, tokens));
    Value means = multiply(b, joinRows(b, createSoftmax(b, scores)), value,
                           /*byRows=*/false);
    means = transpose(b, splitRows(b, means, group, tokens), {2, 0, 1, 3});
    Value result = joinRows(b, means);
    result = convert(b, result, op.getOutput().getType().getElementType());
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct BatchAttentionPass final
    : gist::impl::BatchAttentionPassBase<BatchAttentionPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<BatchAttention>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
