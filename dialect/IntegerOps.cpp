//===- IntegerOps.cpp - Products of 8-bit numbers -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifiers and result shapes. dialect/DecomposeQuant.cpp has what the ops
// compute.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistIntegerOps.h"
#include "dialect/Verify.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace gist;

#define GET_OP_CLASSES
#include "dialect/GistIntegerOps.cpp.inc"

static constexpr int64_t kBlock = PackingAttr::kBlock;

bool gist::isSmallNumber(Type type) {
  return type.isInteger(8) || isa<Float8E4M3FNType, Float8E4M3FNUZType>(type);
}

double gist::getLargest(Type type) {
  if (type.isInteger())
    return 127;
  return llvm::APFloat::getLargest(cast<FloatType>(type).getFloatSemantics())
      .convertToFloat();
}

/// The number of blocks of rows of `length` numbers; an error if there is none.
static FailureOr<int64_t> countBlocks(std::optional<Location> location,
                                      int64_t length, int64_t block) {
  if (ShapedType::isDynamic(length) || length % kBlock != 0)
    return emitOptionalError(location, "expects rows of a multiple of ", kBlock,
                             " values, got ", printSize(length));
  if (block <= 0 || block % kBlock != 0)
    return emitOptionalError(location, "expects blocks of a multiple of ",
                             kBlock, " values, got ", block);
  // Not rounded up by an addition, which can wrap.
  return length / block + (length % block != 0 ? 1 : 0);
}

LogicalResult QuantizeBlocksOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  RankedTensorType input =
      getTensorType(location, adaptor.getInput(), 2, 2, "input");
  if (!input)
    return failure();
  FailureOr<int64_t> blocks = // (C1), (C2)
      countBlocks(location, input.getDimSize(1),
                  static_cast<int64_t>(adaptor.getBlock()));
  if (failed(blocks))
    return failure();
  Type element = adaptor.getElement().value_or(IntegerType::get(context, 8));
  if (!isSmallNumber(element)) // (C3)
    return emitOptionalError(
        location, "expects i8, f8E4M3FN or f8E4M3FNUZ numbers, got ", element);
  types.push_back(RankedTensorType::get(input.getShape(), element));
  types.push_back(RankedTensorType::get({input.getDimSize(0), *blocks},
                                        Float32Type::get(context)));
  return success();
}

LogicalResult
QuantizeBlocksOp::reifyResultShapes(OpBuilder &builder,
                                    ReifiedRankedShapedTypeDims &shapes) {
  OpFoldResult rows = tensor::getMixedSize(builder, getLoc(), getInput(), 0);
  for (Value result : getResults())
    shapes.push_back(
        {rows, builder.getIndexAttr(
                   cast<ShapedType>(result.getType()).getDimSize(1))});
  return success();
}

LogicalResult ScaledMatmulOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  RankedTensorType values =
      getTensorType(location, adaptor.getValues(), 2, 2, "values");
  RankedTensorType scales =
      getTensorType(location, adaptor.getScales(), 2, 2, "scales");
  RankedTensorType weight =
      getTensorType(location, adaptor.getWeight(), 2, 2, "weight");
  if (!values || !scales || !weight)
    return failure();
  int64_t length = values.getDimSize(1);
  auto block = static_cast<int64_t>(adaptor.getBlock());
  FailureOr<int64_t> blocks = countBlocks(location, length, block); // (C1)
  if (failed(blocks))
    return failure();
  if (!canBeEqual(scales.getDimSize(1), *blocks) ||
      !canBeEqual(scales.getDimSize(0), values.getDimSize(0))) // (C2)
    return emitOptionalError(location, "expects ", *blocks,
                             " scales for each row of ", values, ", got ",
                             scales);
  if (!canBeEqual(weight.getDimSize(1), length) ||
      weight.getElementType() != values.getElementType()) // (C3)
    return emitOptionalError(location,
                             "expects a weight with as many columns as the "
                             "values and of their type, got ",
                             weight, " and ", values);
  types.push_back(RankedTensorType::get(
      {values.getDimSize(0), weight.getDimSize(0)}, Float32Type::get(context)));
  return success();
}

LogicalResult
ScaledMatmulOp::reifyResultShapes(OpBuilder &builder,
                                  ReifiedRankedShapedTypeDims &shapes) {
  shapes.assign({{tensor::getMixedSize(builder, getLoc(), getValues(), 0),
                  tensor::getMixedSize(builder, getLoc(), getWeight(), 0)}});
  return success();
}
