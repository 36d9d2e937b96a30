//===- ClusterOps.cpp - A KV cache of clusters ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistClusterOps.h"
#include "dialect/Verify.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

#include <cmath>

using namespace mlir;
using namespace gist;

#define GET_OP_CLASSES
#include "dialect/GistClusterOps.cpp.inc"

/// What both ops ask of the table of heads and the counts.
static LogicalResult verifyTable(Operation *op, RankedTensorType heads,
                                 RankedTensorType counts) {
  if (heads.getDimSize(2) != kNumHeadFields)
    return op->emitOpError("expects heads of layers x KV heads x ")
           << kNumHeadFields << ", got " << heads;
  if (!heads.hasStaticShape() ||
      counts.getShape() != heads.getShape().drop_back())
    return op->emitOpError("expects one count for each layer and KV head of ")
           << heads << ", got " << counts;
  return success();
}

static LogicalResult verifyBlock(Operation *op, int64_t block) {
  if (block < 1)
    return op->emitOpError("expects a positive block, got ") << block;
  return success();
}

LogicalResult ClusterUpdateOp::verify() {
  RankedTensorType key = getKey().getType(), value = getValue().getType();
  for (auto [rows, cache, name] :
       {std::tuple(key, getKeys().getType(), "keys"),
        std::tuple(value, getValues().getType(), "values")})
    if (rows.getDimSize(2) != cache.getDimSize(1) ||
        rows.getElementType() != cache.getElementType()) // (C1)
      return emitOpError("expects ")
             << name << " of the head size and element type of their cache, "
             << cache << ", got " << rows;
  if (!canBeEqual(key.getDimSize(0), value.getDimSize(0)) ||
      key.getDimSize(1) != value.getDimSize(1)) // (C1)
    return emitOpError("expects as many keys as values, got ")
           << key << " and " << value;
  if (failed(verifyTable(*this, getHeads().getType(),
                         getCounts().getType()))) // (C2)
    return failure();
  if (key.getDimSize(1) != getHeads().getType().getDimSize(1)) // (C2)
    return emitOpError("expects ")
           << getHeads().getType().getDimSize(1) << " KV heads, got " << key;
  RankedTensorType units = getUnits().getType();
  if (units.getDimSize(1) != key.getDimSize(2) ||
      units.getDimSize(0) != getWeights().getType().getDimSize(0)) // (C3)
    return emitOpError("expects one unit of the key's size for each weight, "
                       "got ")
           << units << " and " << getWeights().getType();
  return verifyBlock(*this, getBlock()); // (C4)
}

LogicalResult ClusterAttentionOp::verify() {
  RankedTensorType query = getQuery().getType(), keys = getKeys().getType();
  if (query.getDimSize(2) != keys.getDimSize(1) ||
      query.getElementType() != keys.getElementType()) // (C1)
    return emitOpError("expects queries of the head size and element type of "
                       "the cache, ")
           << keys << ", got " << query;
  if (failed(verifyTable(*this, getHeads().getType(),
                         getCounts().getType()))) // (C2)
    return failure();
  int64_t kvHeads = getHeads().getType().getDimSize(1);
  if (query.isDynamicDim(1) || query.getDimSize(1) % kvHeads != 0) // (C2)
    return emitOpError("expects a multiple of ")
           << kvHeads << " query heads, got " << query;
  if (keys != getValues().getType()) // (C5)
    return emitOpError("expects keys and values of one type, got ")
           << keys << " and " << getValues().getType();
  if (failed(verifyScale(*this, getScale()))) // (C3)
    return failure();
  return verifyBlock(*this, getBlock()); // (C4)
}

LogicalResult
ClusterAttentionOp::reifyResultShapes(OpBuilder &builder,
                                      ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getQuery()));
  return success();
}

double ClusterAttentionOp::getEffectiveScale() {
  if (std::optional<APFloat> scale = getScale())
    return toDouble(*scale);
  return 1.0 /
         std::sqrt(static_cast<double>(getQuery().getType().getDimSize(2)));
}
