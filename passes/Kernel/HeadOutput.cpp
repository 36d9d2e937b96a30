//===- HeadOutput.cpp - A product of heads, in parts ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/HeadOutput.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace gist;

/// The maps of a, W and y in loops over t, g, n and k.
static SmallVector<AffineMap> getMaps(MLIRContext *context) {
  AffineExpr t, g, n, k;
  bindDims(context, t, g, n, k);
  auto map = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(4, 0, results, context);
  };
  return {map({t, g, k}), map({n, g, k}), map({t, g, n})};
}

/// The only op that reads `value`, if it gives its elements another shape.
static Operation *getReshape(Value value) {
  return value.hasOneUse() &&
                 isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
                     *value.user_begin())
             ? *value.user_begin()
             : nullptr;
}

std::optional<HeadOutput> gist::findHeadOutput(AttentionOp attention) {
  Value heads = attention.getOutput();
  while (Operation *reshape = getReshape(heads))
    heads = reshape->getResult(0);
  if (!heads.hasOneUse())
    return std::nullopt;
  auto product = dyn_cast<linalg::GenericOp>(*heads.user_begin());
  if (!product || product.getNumDpsInputs() != 2 ||
      product.getDpsInputs()[0] != heads ||
      product.getIndexingMapsArray() != getMaps(product.getContext()) ||
      !linalg::isaContractionOpInterface(product))
    return std::nullopt;
  Value weight = product.getDpsInputs()[1];
  if (auto expand = weight.getDefiningOp<tensor::ExpandShapeOp>())
    weight = expand.getSrc();
  auto type = dyn_cast<RankedTensorType>(product.getResult(0).getType());
  auto shape = cast<RankedTensorType>(heads.getType()).getShape();
  auto stored = cast<RankedTensorType>(weight.getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isF32() ||
      type.getDimSize(0) != 1 || stored.getRank() != 2 ||
      stored.getShape() !=
          ArrayRef<int64_t>{type.getDimSize(2), shape[1] * shape[2]} ||
      !isa<FloatType>(stored.getElementType()))
    return std::nullopt;
  return HeadOutput{product, weight, shape[1], shape[2], type.getDimSize(2)};
}

Value gist::createHeadOutput(OpBuilder &builder, Location loc, Value heads,
                             Value weight, int64_t groups) {
  auto weights = cast<RankedTensorType>(weight.getType());
  auto given = cast<RankedTensorType>(heads.getType());
  int64_t columns = weights.getDimSize(0), all = weights.getDimSize(1);
  auto shape = [&](int64_t first, int64_t second, int64_t third, Type element) {
    return RankedTensorType::get({first, second, third}, element);
  };
  SmallVector<ReassociationIndices> two = {{0}, {1, 2}};
  Value row = tensor::CollapseShapeOp::create(builder, loc, heads, two);
  Value a = tensor::ExpandShapeOp::create(
      builder, loc, shape(1, groups, all / groups, given.getElementType()), row,
      two);
  Value w = tensor::ExpandShapeOp::create(
      builder, loc,
      shape(columns, groups, all / groups, weights.getElementType()), weight,
      two);
  Type f32 = builder.getF32Type();
  Value empty = tensor::EmptyOp::create(
      builder, loc, ArrayRef<int64_t>{1, groups, columns}, f32);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  Value start = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  using Loop = utils::IteratorType;
  auto body = [&](OpBuilder &b, Location at, ValueRange given) {
    auto widen = [&](Value number) -> Value {
      return number.getType() == f32
                 ? number
                 : arith::ExtFOp::create(b, at, f32, number).getResult();
    };
    Value product =
        arith::MulFOp::create(b, at, widen(given[0]), widen(given[1]));
    linalg::YieldOp::create(
        b, at, arith::AddFOp::create(b, at, given[2], product).getResult());
  };
  return linalg::GenericOp::create(
             builder, loc, start.getType(), ValueRange{a, w}, start,
             getMaps(builder.getContext()),
             ArrayRef<Loop>{Loop::parallel, Loop::parallel, Loop::parallel,
                            Loop::reduction},
             body)
      .getResult(0);
}
