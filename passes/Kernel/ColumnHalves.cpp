//===- ColumnHalves.cpp - Matrices that are read as two halves ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/ColumnHalves.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace gist;

std::optional<std::array<Value, 2>> gist::getColumnHalves(Value matrix) {
  auto type = cast<RankedTensorType>(matrix.getType());
  if (type.getRank() != 2 || type.isDynamicDim(1) || type.getDimSize(1) % 2)
    return std::nullopt;
  int64_t half = type.getDimSize(1) / 2;
  std::array<Value, 2> halves;
  for (Operation *user : matrix.getUsers()) {
    // A size is not read from memory.
    if (isa<tensor::DimOp>(user))
      continue;
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || slice.getType().getRank() != 2 || !slice.hasUnitStride())
      return std::nullopt;
    SmallVector<OpFoldResult> offsets = slice.getMixedOffsets();
    std::optional<int64_t> column = getConstantIntValue(offsets[1]);
    bool isHalf = isConstantIntValue(offsets[0], 0) &&
                  isConstantIntValue(slice.getMixedSizes()[1], half) &&
                  column && *column % half == 0;
    // A half that two slices read is not one value.
    if (!isHalf || halves[*column / half])
      return std::nullopt;
    halves[*column / half] = slice;
  }
  if (!halves[0] || !halves[1])
    return std::nullopt;
  return halves;
}
