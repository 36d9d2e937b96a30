//===- WeightOps.cpp - Weights and their storage formats ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights by name, and blocks that stand for numbers.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "dialect/Verify.h"

using namespace mlir;
using namespace gist;

LogicalResult WeightOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getResult().getType());
  // A module file stores a weight by its name and exact size.
  if (getName().empty() || !type || !type.hasStaticShape()) // (C1)
    return emitOpError("expects a name and a static shape, got \"")
           << getName() << "\" and " << getResult().getType();
  // A weight of the whole model has no layer.
  if (IntegerAttr layer = getLayerAttr(); layer && layer.getInt() < 0) // (C2)
    return emitOpError("expects a layer that is not negative, got ")
           << layer.getInt();
  return success();
}

LogicalResult DequantizeOp::inferReturnTypes(MLIRContext *context,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  RankedTensorType blocks =
      getTensorType(location, adaptor.getBlocks(), 3, 3, "blocks");
  if (!blocks)
    return failure();
  // Rows may be dynamic: a look-up takes as many as there are tokens.
  if (blocks.isDynamicDim(1)) // (C2)
    return emitOptionalError(location,
                             "expects a static number of blocks, got ", blocks);
  int64_t values =
      blocks.getDimSize(1) * getBlockLayout(adaptor.getFormat()).values;
  types.push_back(RankedTensorType::get({blocks.getDimSize(0), values},
                                        Float32Type::get(context)));
  return success();
}

LogicalResult DequantizeOp::verify() {
  RankedTensorType blocks = getBlocks().getType();
  int64_t bytes = getBlockLayout(getFormat()).bytes;
  if (blocks.getDimSize(2) != bytes) // (C1)
    return emitOpError("expects blocks of ")
           << bytes << " bytes for " << stringifyBlockFormat(getFormat())
           << ", got " << printSize(blocks.getDimSize(2));
  return success();
}
