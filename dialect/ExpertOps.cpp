//===- ExpertOps.cpp - Products with a weight for each row ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifiers and result shapes. dialect/DecomposeExperts.cpp has what the ops
// compute.
//
//===----------------------------------------------------------------------===//

#include "dialect/Formats.h"
#include "dialect/GistExpertOps.h"
#include "dialect/Verify.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace gist;

#define GET_OP_CLASSES
#include "dialect/GistExpertOps.cpp.inc"

static constexpr int64_t kBlock = PackingAttr::kBlock;

/// What the verifiers ask of both ops; `rows` and `depth` are of the numbers
/// that the weight stands for.
static LogicalResult verifyExperts(Operation *op, RankedTensorType input,
                                   int64_t rows, int64_t depth,
                                   RankedTensorType experts) {
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  if (ShapedType::isDynamic(rows) || ShapedType::isDynamic(depth)) // (C1)
    return op->emitOpError("expects a weight of static size, got ")
           << printSize(rows) << " x " << printSize(depth);
  int64_t slots = experts.getDimSize(1);
  if (slots < 1 || !canBeEqual(experts.getDimSize(0), input.getDimSize(0)))
    return op->emitOpError(
               "expects a static number of experts for each row, " // (C2)
               "got ")
           << experts << " for " << input;
  int64_t length = input.getDimSize(1);
  if (length != depth && length / slots != depth) // (C3)
    return op->emitOpError("expects rows of ")
           << depth << " numbers, or of " << slots << " times as many, got "
           << input;
  if (length != depth && length % slots != 0) // (C3)
    return op->emitOpError("expects whole rows for each of ")
           << slots << " experts, got " << input;
  int64_t width = result.getDimSize(1);
  // Dynamic sizes are negative and have no part in a product of sizes.
  if (width < slots || width % slots != 0 || rows < width / slots ||
      rows % (width / slots) != 0 ||
      !canBeEqual(result.getDimSize(0), input.getDimSize(0))) // (C1), (C4)
    return op->emitOpError(
               "expects as many rows as the input, and for each of ")
           << slots << " experts a part of the weight's " << rows
           << " rows, got " << result;
  return success();
}

static ExpertSizes getExpertSizes(RankedTensorType input, int64_t rows,
                                  int64_t depth, RankedTensorType experts,
                                  RankedTensorType result) {
  int64_t slots = experts.getDimSize(1);
  int64_t columns = result.getDimSize(1) / slots;
  return {rows / columns, slots, columns, depth, input.getDimSize(1) != depth};
}

static LogicalResult reifyExperts(Operation *op, OpBuilder &builder,
                                  Value input,
                                  ReifiedRankedShapedTypeDims &shapes) {
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  shapes.assign({{tensor::getMixedSize(builder, op->getLoc(), input, 0),
                  builder.getIndexAttr(result.getDimSize(1))}});
  return success();
}

//===----------------------------------------------------------------------===//
// expert_matmul
//===----------------------------------------------------------------------===//

LogicalResult ExpertMatmulOp::verify() {
  RankedTensorType weight = getWeight().getType();
  return verifyExperts(*this, getInput().getType(), weight.getDimSize(0),
                       weight.getDimSize(1), getExperts().getType());
}

ExpertSizes ExpertMatmulOp::getSizes() {
  RankedTensorType weight = getWeight().getType();
  return getExpertSizes(getInput().getType(), weight.getDimSize(0),
                        weight.getDimSize(1), getExperts().getType(),
                        getResult().getType());
}

LogicalResult
ExpertMatmulOp::reifyResultShapes(OpBuilder &builder,
                                  ReifiedRankedShapedTypeDims &shapes) {
  return reifyExperts(*this, builder, getInput(), shapes);
}

//===----------------------------------------------------------------------===//
// quantized_expert_matmul
//===----------------------------------------------------------------------===//

/// Rows and columns of the numbers that `weight` stands for; dynamic if they
/// are not static.
static std::pair<int64_t, int64_t> getStoredSizes(RankedTensorType weight,
                                                  BlockFormat format,
                                                  PackingAttr packing) {
  int64_t rows = weight.getDimSize(0), blocks = weight.getDimSize(1);
  if (ShapedType::isDynamic(rows) || ShapedType::isDynamic(blocks))
    return {ShapedType::kDynamic, ShapedType::kDynamic};
  if (packing)
    return {rows * packing.getColumns(),
            blocks * kBlock * getPackedLayout(packing).sharingBlocks()};
  return {rows, blocks * getBlockLayout(format).values};
}

LogicalResult QuantizedExpertMatmulOp::verify() {
  RankedTensorType values = getValues().getType();
  RankedTensorType scales = getScales().getType();
  RankedTensorType weight = getWeight().getType();
  int64_t length = values.getDimSize(1);
  if (ShapedType::isDynamic(length) || length % kBlock != 0 ||
      !canBeEqual(scales.getDimSize(1), length / kBlock) ||
      !canBeEqual(scales.getDimSize(0), values.getDimSize(0))) // (C5)
    return emitOpError("expects values in rows of whole blocks and a scale for "
                       "each ")
           << kBlock << ", got " << values << " and " << scales;
  PackingAttr packing = getPackedAttr();
  int64_t bytes = packing ? packing.getPackedShape(kBlock, kBlock)[2]
                          : getBlockLayout(getFormat()).bytes;
  if (weight.getDimSize(2) != bytes)
    return emitOpError("expects a weight in blocks of ")
           << bytes << " bytes, got " << weight;
  auto [rows, depth] = getStoredSizes(weight, getFormat(), packing);
  if (failed(verifyExperts(*this, values, rows, depth, getExperts().getType())))
    return failure();
  if (depth % kBlock != 0 ||
      (packing && getSizes().columns % packing.getColumns() != 0)) // (C6)
    return emitOpError("expects experts of whole tiles of ")
           << (packing ? packing.getColumns() : 1) << " x " << kBlock
           << " numbers, got " << getSizes().columns << " x " << depth;
  return success();
}

ExpertSizes QuantizedExpertMatmulOp::getSizes() {
  auto [rows, depth] =
      getStoredSizes(getWeight().getType(), getFormat(), getPackedAttr());
  return getExpertSizes(getValues().getType(), rows, depth,
                        getExperts().getType(), getResult().getType());
}

LogicalResult QuantizedExpertMatmulOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyExperts(*this, builder, getValues(), shapes);
}
