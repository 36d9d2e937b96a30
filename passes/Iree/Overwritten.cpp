//===- Overwritten.cpp - Tensors that are overwritten whole ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rotary positions take the two halves of a head and put others in their place.
//
//===----------------------------------------------------------------------===//

#include "passes/Iree/Overwritten.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace gist;

/// Whether `size` is that of dimension `dim` of `tensor`. For a dynamic one it
/// must be the value that the tensor was made with.
static bool isSizeOf(Value tensor, int64_t dim, OpFoldResult size) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return isConstantIntValue(size, type.getDimSize(dim));
  if (auto insert = tensor.getDefiningOp<tensor::InsertSliceOp>())
    return isSizeOf(insert.getDest(), dim, size);
  auto expand = tensor.getDefiningOp<tensor::ExpandShapeOp>();
  return expand && expand.getMixedOutputShape()[dim] == size;
}

/// Whether the slice covers dimension `dim` of its destination from `begin` for
/// `count` elements, and all other dimensions whole.
static bool covers(tensor::InsertSliceOp insert, int64_t dim, int64_t begin,
                   int64_t count) {
  if (!llvm::all_of(insert.getMixedStrides(), [](OpFoldResult stride) {
        return isConstantIntValue(stride, 1);
      }))
    return false;
  RankedTensorType type = insert.getDestType();
  for (int64_t each = 0; each < type.getRank(); ++each) {
    OpFoldResult offset = insert.getMixedOffsets()[each];
    OpFoldResult size = insert.getMixedSizes()[each];
    if (each == dim) {
      if (!isConstantIntValue(offset, begin) ||
          !isConstantIntValue(size, count))
        return false;
      continue;
    }
    if (!isConstantIntValue(offset, 0) ||
        !isSizeOf(insert.getDest(), each, size))
      return false;
  }
  return true;
}

/// The sizes of `first`, a slice, with that of dimension `dim` being `whole`.
static SmallVector<OpFoldResult> getWholeSizes(tensor::InsertSliceOp first,
                                               int64_t dim, int64_t whole) {
  SmallVector<OpFoldResult> sizes = first.getMixedSizes();
  sizes[dim] = Builder(first.getContext()).getIndexAttr(whole);
  return sizes;
}

static void freeDestination(tensor::InsertSliceOp second) {
  auto first = second.getDest().getDefiningOp<tensor::InsertSliceOp>();
  if (!first || !first->hasOneUse() ||
      first.getDest().getDefiningOp<tensor::EmptyOp>())
    return;
  RankedTensorType type = second.getDestType();
  int64_t dim = type.getRank() - 1;
  if (dim < 0 || type.isDynamicDim(dim))
    return;
  int64_t whole = type.getDimSize(dim);
  std::optional<int64_t> half = getConstantIntValue(first.getMixedSizes()[dim]);
  if (!half || !covers(first, dim, 0, *half) ||
      !covers(second, dim, *half, whole - *half))
    return;
  OpBuilder builder(first);
  Value empty = tensor::EmptyOp::create(builder, first.getLoc(),
                                        getWholeSizes(first, dim, whole),
                                        type.getElementType());
  first.getDestMutable().assign(empty);
}

void gist::freeOverwrittenTensors(Operation *root) {
  root->walk([](tensor::InsertSliceOp insert) { freeDestination(insert); });
}
