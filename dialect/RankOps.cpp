//===- RankOps.cpp - One model on several ranks ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistRankOps.h"
#include "dialect/Verify.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace gist;

#define GET_OP_CLASSES
#include "dialect/GistRankOps.cpp.inc"

LogicalResult AllGatherOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto part = dyn_cast<RankedTensorType>(adaptor.getPart().getType());
  if (!part || part.getRank() != 2)
    return emitOptionalError(location, "expects rows and columns, got ",
                             adaptor.getPart().getType());
  int64_t all = 0;
  constexpr int64_t kMost = int64_t(1) << 31;
  for (int64_t columns : adaptor.getColumns()) {
    if (columns < 0 || columns >= kMost - all) // (C1)
      return emitOptionalError(
          location, "expects columns of ranks that add up to less than ", kMost,
          ", got ", columns, " after ", all);
    all += columns;
  }
  types.push_back(
      RankedTensorType::get({part.getDimSize(0), all}, part.getElementType()));
  return success();
}

LogicalResult AllGatherOp::verify() {
  if (getColumns().empty()) // (C1)
    return emitOpError("expects a number of columns for each rank, got none");
  int64_t own = getPart().getType().getDimSize(1);
  if (!llvm::is_contained(getColumns(), own)) // (C2)
    return emitOpError("expects as many columns as one of the ranks has, got ")
           << printSize(own);
  return success();
}

LogicalResult HandOnOp::verify() {
  auto from = static_cast<int64_t>(getFrom()),
       to = static_cast<int64_t>(getTo());
  if (from < 0 || to < 0 || from == to) // (C1)
    return emitOpError("expects two different ranks, got ")
           << from << " and " << to;
  return success();
}

LogicalResult WeightPartOp::verify() {
  if (getAxis() > 1 || static_cast<int64_t>(getOffset()) < 0 ||
      static_cast<int64_t>(getSize()) <= 0) // (C1)
    return emitOpError("expects axis 0 or 1 and a range that is not empty, got "
                       "axis ")
           << static_cast<int64_t>(getAxis()) << ", offset "
           << static_cast<int64_t>(getOffset()) << " and size "
           << static_cast<int64_t>(getSize());
  return success();
}
