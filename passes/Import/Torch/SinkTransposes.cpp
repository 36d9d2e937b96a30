//===- SinkTransposes.cpp - Transposes move behind what follows -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Torch/SinkTransposes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

/// The transpose that makes `value`, where it brings heads before tokens: the
/// first dimension with more than one element changes.
static linalg::TransposeOp getTranspose(Value value) {
  auto op = value.getDefiningOp<linalg::TransposeOp>();
  if (!op)
    return {};
  auto type = cast<RankedTensorType>(op.getInput().getType());
  ArrayRef<int64_t> order = op.getPermutation();
  // A transpose that leaves the last dimension in place, of tokens first.
  if (order.empty() || order.back() != static_cast<int64_t>(order.size()) - 1)
    return {};
  int64_t first = 0;
  while (first < type.getRank() && type.getDimSize(first) == 1)
    ++first;
  return first < type.getRank() && order[first] != first ? op : nullptr;
}

static Value transposeTo(OpBuilder &b, Location location, Value value,
                         RankedTensorType type, ArrayRef<int64_t> order) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, location, value);
  SmallVector<OpFoldResult> ordered;
  for (int64_t dim : order)
    ordered.push_back(sizes[dim]);
  Value empty =
      tensor::EmptyOp::create(b, location, ordered, type.getElementType());
  return linalg::TransposeOp::create(b, location, value, empty, order)
      ->getResult(0);
}

/// The type of `op` may know more sizes than `value` has.
static void replaceByTranspose(PatternRewriter &rewriter, Operation *op,
                               Value value, ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value result = transposeTo(rewriter, op->getLoc(), value, type, order);
  if (result.getType() != type)
    result = tensor::CastOp::create(rewriter, op->getLoc(), type, result);
  rewriter.replaceOp(op, result);
}

namespace {
/// slice(transpose(x)) = transpose(slice(x))
struct SinkBelowSlice final : OpRewritePattern<tensor::ExtractSliceOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    linalg::TransposeOp transpose = getTranspose(op.getSource());
    if (!transpose || op.getDroppedDims().any())
      return rewriter.notifyMatchFailure(op, "it is not of a transpose");
    ArrayRef<int64_t> order = transpose.getPermutation();
    size_t rank = order.size();
    SmallVector<OpFoldResult> offsets(rank), sizes(rank), strides(rank);
    for (size_t i = 0; i < rank; ++i) {
      offsets[order[i]] = op.getMixedOffsets()[i];
      sizes[order[i]] = op.getMixedSizes()[i];
      strides[order[i]] = op.getMixedStrides()[i];
    }
    Value slice = tensor::ExtractSliceOp::create(
        rewriter, op.getLoc(), transpose.getInput(), offsets, sizes, strides);
    replaceByTranspose(rewriter, op, slice, order);
    return success();
  }
};

/// concat(transpose(x), transpose(y)) = transpose(concat(x, y))
struct SinkBelowConcat final : OpRewritePattern<tensor::ConcatOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(tensor::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> inputs;
    ArrayRef<int64_t> order;
    for (Value input : op.getInputs()) {
      linalg::TransposeOp transpose = getTranspose(input);
      if (!transpose || (!order.empty() && transpose.getPermutation() != order))
        return rewriter.notifyMatchFailure(op, "not all are transposed alike");
      order = transpose.getPermutation();
      inputs.push_back(transpose.getInput());
    }
    auto joined = tensor::ConcatOp::create(
        rewriter, op.getLoc(), static_cast<int64_t>(order[op.getDim()]),
        inputs);
    replaceByTranspose(rewriter, op, joined, order);
    return success();
  }
};

/// f(transpose(x), y) = transpose(f(x, y read the other way))
struct SinkBelowElementwise final : OpRewritePattern<linalg::GenericOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumResults() != 1 || op.getNumReductionLoops() != 0 ||
        op.hasIndexSemantics() ||
        !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() ||
        !op.getMatchingBlockArgument(op.getDpsInitOperand(0)).use_empty())
      return rewriter.notifyMatchFailure(op, "it is not elementwise");
    // All inputs of the result's size must agree: otherwise a transpose is only
    // exchanged for another.
    ArrayRef<int64_t> order;
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (!op.getMatchingIndexingMap(input).isIdentity())
        continue;
      linalg::TransposeOp transpose = getTranspose(input->get());
      if (!transpose || (!order.empty() && transpose.getPermutation() != order))
        return rewriter.notifyMatchFailure(op, "not all are transposed alike");
      order = transpose.getPermutation();
    }
    if (order.empty())
      return rewriter.notifyMatchFailure(op, "nothing is transposed");
    // Loop i of the old op is loop order[i] of the new one.
    SmallVector<AffineExpr> loops;
    for (int64_t dim : order)
      loops.push_back(rewriter.getAffineDimExpr(dim));
    unsigned rank = op.getNumLoops();
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    Value first;
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      if (map.isIdentity()) {
        inputs.push_back(getTranspose(input->get()).getInput());
        maps.push_back(map);
        first = inputs.back();
        continue;
      }
      inputs.push_back(input->get());
      maps.push_back(map.replaceDimsAndSymbols(loops, {}, rank, 0));
    }
    maps.push_back(rewriter.getMultiDimIdentityMap(rank));
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    Value empty = tensor::EmptyOp::create(
        rewriter, op.getLoc(),
        tensor::getMixedSizes(rewriter, op.getLoc(), first),
        type.getElementType());
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::parallel);
    auto moved =
        linalg::GenericOp::create(rewriter, op.getLoc(), TypeRange(empty),
                                  inputs, empty, maps, iterators);
    rewriter.cloneRegionBefore(op.getRegion(), moved.getRegion(),
                               moved.getRegion().begin());
    Value result =
        transposeTo(rewriter, op.getLoc(), moved.getResult(0), type, order);
    if (result.getType() != type)
      result = tensor::CastOp::create(rewriter, op.getLoc(), type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};
} // namespace

void gist::populateSinkTransposesPatterns(RewritePatternSet &patterns) {
  patterns.add<SinkBelowSlice, SinkBelowConcat, SinkBelowElementwise>(
      patterns.getContext());
}
