//===- PadHeads.cpp - Rows as wide as vectors -----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/PadHeads.h"
#include "dialect/DecomposeUtils.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace gist;
using arith::CmpIPredicate;

/// Numbers that CPU kernels read at once.
static constexpr int64_t kVector = 4;

static int64_t getWidth(Value rows) {
  return cast<RankedTensorType>(rows.getType()).getShape().back();
}

/// True for rows of a known size that is not a multiple of a vector.
static bool isUneven(Value rows) {
  int64_t width = getWidth(rows);
  return !ShapedType::isDynamic(width) && width % kVector != 0;
}

/// `rows` with `width` numbers each: padded with zeros at the end, or cut off.
static Value resize(ValueBuilder &b, Value rows, int64_t width) {
  auto type = cast<RankedTensorType>(rows.getType());
  int64_t rank = type.getRank(), old = type.getShape().back();
  if (old == width)
    return rows;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), rows);
  sizes.back() = b.getIndexAttr(width);
  auto take = [&](ValueBuilder &b, ValueRange) -> Value {
    SmallVector<Value> at;
    for (int64_t dim = 0; dim < rank; ++dim)
      at.push_back(getLoopIndex(b, dim));
    if (width < old)
      return load(b, rows, at);
    Value isInside = b.compare(CmpIPredicate::slt, at.back(), b.index(old));
    at.back() = b.select(isInside, at.back(), b.index(0));
    Value zero =
        arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
    return b.select(isInside, load(b, rows, at), zero);
  };
  return createLoops(b, rank == 3 ? "->thd" : "->td", {},
                     createEmpty(b, sizes, type.getElementType()), take);
}

static Value pad(ValueBuilder &b, Value rows) {
  return resize(b, rows, llvm::alignTo(getWidth(rows), kVector));
}

template <typename OpTy> static void padAttention(OpTy op) {
  if ((!isUneven(op.getKey()) && !isUneven(op.getValue())) ||
      ShapedType::isDynamic(getWidth(op.getKey())) ||
      ShapedType::isDynamic(getWidth(op.getValue())))
    return;
  ValueBuilder b(op.getLoc(), op);
  int64_t width = getWidth(op.getOutput());
  // The default scale follows from the size before padding.
  op.setScaleAttr(
      b.getF32FloatAttr(static_cast<float>(op.getEffectiveScale())));
  op.getQueryMutable().assign(pad(b, op.getQuery()));
  op.getKeyMutable().assign(pad(b, op.getKey()));
  op.getValueMutable().assign(pad(b, op.getValue()));
  RankedTensorType type = op.getOutput().getType();
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = getWidth(op.getValue());
  op.getOutput().setType(type.clone(shape));
  b.setInsertionPointAfter(op);
  Value output = op.getOutput();
  SmallVector<OpOperand *> readers;
  for (OpOperand &use : output.getUses())
    readers.push_back(&use);
  Value result = resize(b, output, width);
  for (OpOperand *use : readers)
    use->set(result);
}

template <typename OpTy> static void padSelection(OpTy op) {
  ValueBuilder b(op.getLoc(), op);
  if (isUneven(op.getTokens()))
    op.getTokensMutable().assign(pad(b, op.getTokens()));
  if (op.getCoefficients() && isUneven(op.getCoefficients()))
    op.getCoefficientsMutable().assign(pad(b, op.getCoefficients()));
}

void gist::padHeads(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    auto attention = dyn_cast<AttentionOp>(op);
    if (attention && attention.getKey().getType().isDynamicDim(0))
      padAttention(attention);
    else if (auto attend = dyn_cast<AttendOp>(op))
      padAttention(attend);
    else if (auto select = dyn_cast<GramSelectOp>(op))
      padSelection(select);
    else if (auto update = dyn_cast<CascadeUpdateOp>(op);
             update && update.getRule() != CascadeRule::Inherit)
      padSelection(update);
  }
}
