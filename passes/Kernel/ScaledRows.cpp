//===- ScaledRows.cpp - Rows of integers with a scale for each ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/ScaledRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace gist;

/// True if the body gives the integer times the scale.
static bool isProductOfArguments(Block &body) {
  auto end = cast<linalg::YieldOp>(body.getTerminator());
  auto product = end.getOperand(0).getDefiningOp<arith::MulFOp>();
  if (!product)
    return false;
  Value number = product.getLhs(), scale = product.getRhs();
  if (!number.getDefiningOp())
    std::swap(number, scale);
  auto widened = number.getDefiningOp<arith::SIToFPOp>();
  return widened && widened.getIn() == body.getArgument(0) &&
         scale == body.getArgument(1);
}

std::optional<ScaledRows> gist::getScaledRows(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 2 ||
      generic.getNumResults() != 1 || generic.getNumReductionLoops() != 0)
    return std::nullopt;
  Value numbers = generic.getDpsInputs()[0], scales = generic.getDpsInputs()[1];
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  // Rows have at least one index, and the last loop runs along them.
  if (generic.getNumLoops() < 2 ||
      !getElementTypeOrSelf(numbers).isInteger(8) ||
      !getElementTypeOrSelf(scales).isF32() ||
      !getElementTypeOrSelf(generic.getResult(0)).isF32() ||
      !maps[0].isIdentity() ||
      maps[1] != maps[0].getMajorSubMap(maps[0].getNumResults() - 1) ||
      !maps[2].isIdentity() || !isProductOfArguments(*generic.getBody()))
    return std::nullopt;
  return ScaledRows{numbers, scales};
}

std::optional<ScaledRows> gist::sliceScaledRows(OpBuilder &builder,
                                                Value rows) {
  auto slice = rows.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice)
    return getScaledRows(rows.getDefiningOp());
  std::optional<ScaledRows> whole =
      getScaledRows(slice.getSource().getDefiningOp());
  if (!whole || slice.getDroppedDims().any() ||
      !isConstantIntValue(slice.getMixedOffsets().back(), 0))
    return std::nullopt;
  auto take = [&](Value from) -> Value {
    size_t rank = cast<RankedTensorType>(from.getType()).getRank();
    auto first = [&](SmallVector<OpFoldResult> numbers) {
      numbers.truncate(rank);
      return numbers;
    };
    return tensor::ExtractSliceOp::create(
        builder, slice.getLoc(), from, first(slice.getMixedOffsets()),
        first(slice.getMixedSizes()), first(slice.getMixedStrides()));
  };
  return ScaledRows{take(whole->numbers), take(whole->scales)};
}

Type gist::getStoredElement(Value rows) {
  std::optional<ScaledRows> scaled = getScaledRows(rows.getDefiningOp());
  return getElementTypeOrSelf(scaled ? scaled->numbers : rows);
}
