//===- HeadColumns.cpp - Heads that are columns of a product --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/HeadColumns.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace gist;

/// Which dimension of tokens x heads x size numbers the heads.
static constexpr unsigned kHeadDim = 1;

/// True for values that exist before the token is computed.
static bool isGiven(Value value) {
  while (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>())
    value = slice.getSource();
  return isa<BlockArgument>(value) ||
         isa<WeightOp, arith::ConstantOp>(value.getDefiningOp());
}

/// True if a slice has all heads of `whole` in their places.
static bool keepsHeads(OffsetSizeAndStrideOpInterface slice,
                       RankedTensorType whole, RankedTensorType part) {
  return whole.getRank() == 3 && part.getRank() == 3 &&
         part.getDimSize(kHeadDim) == whole.getDimSize(kHeadDim) &&
         llvm::all_of(slice.getMixedStrides(), [](OpFoldResult stride) {
           return isConstantIntValue(stride, 1);
         });
}

/// The columns of a product that `op` makes heads of, as they are.
static std::optional<HeadColumns> matchColumns(tensor::ExpandShapeOp op) {
  auto slice = op.getSrc().getDefiningOp<tensor::ExtractSliceOp>();
  auto product = slice ? slice.getSource().getDefiningOp<linalg::MatmulOp>()
                       : linalg::MatmulOp();
  RankedTensorType type = op.getResultType();
  if (!product || type.getRank() != 3 || op.getSrcType().getRank() != 2 ||
      !type.hasStaticShape() || type.getDimSize(0) != 1 ||
      op.getReassociationIndices()[0].size() != 1 || !slice.hasUnitStride())
    return std::nullopt;
  std::optional<int64_t> row = getConstantIntValue(slice.getMixedOffsets()[0]);
  std::optional<int64_t> first =
      getConstantIntValue(slice.getMixedOffsets()[1]);
  if (row != 0 || !first)
    return std::nullopt;
  return HeadColumns{product, *first, type.getDimSize(2)};
}

std::optional<HeadColumns> gist::findHeadColumns(Value heads) {
  std::optional<HeadColumns> found;
  SetVector<Value> values;
  values.insert(heads);
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    if (!op)
      return std::nullopt;
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      std::optional<HeadColumns> columns = matchColumns(expand);
      if (!columns || (found && (found->product != columns->product ||
                                 found->first != columns->first ||
                                 found->size != columns->size)))
        return std::nullopt;
      found = columns;
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      if (!keepsHeads(slice, slice.getSourceType(), slice.getType()))
        return std::nullopt;
      values.insert(slice.getSource());
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      if (!keepsHeads(insert, insert.getDestType(), insert.getSourceType()))
        return std::nullopt;
      values.insert(insert.getSource());
      values.insert(insert.getDest());
    } else if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
      // Every element from the elements at its own index, and from given
      // values.
      if (structured.getNumReductionLoops() != 0 ||
          structured.getNumLoops() != 3)
        return std::nullopt;
      for (OpOperand &operand : structured->getOpOperands()) {
        if (!structured.payloadUsesValueFromOperand(&operand))
          continue;
        if (structured.getMatchingIndexingMap(&operand).isIdentity())
          values.insert(operand.get());
        else if (!isGiven(operand.get()))
          return std::nullopt;
      }
      if (!structured.getMatchingIndexingMap(structured.getDpsInitOperand(0))
               .isIdentity())
        return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  return found;
}
