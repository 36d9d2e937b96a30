//===- TileBuilder.cpp - Writes loops over vectors ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/TileBuilder.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace gist;

/// An affine function of one or two values, folded.
static Value apply(TileBuilder &builder, AffineExpr expr,
                   ArrayRef<OpFoldResult> operands) {
  return getValueOrCreateConstantIndexOp(
      builder, builder.getLoc(),
      affine::makeComposedFoldedAffineApply(builder, builder.getLoc(), expr,
                                            operands));
}

/// A constant index as an attribute, so that affine functions fold it.
static OpFoldResult foldable(Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return OpFoldResult(
        IntegerAttr::get(IndexType::get(value.getContext()), *constant));
  return value;
}

Value TileBuilder::add(Value a, Value b) {
  if (!a.getType().isIndex())
    return ValueBuilder::add(a, b);
  return apply(*this, getAffineDimExpr(0) + getAffineDimExpr(1),
               {foldable(a), foldable(b)});
}

Value TileBuilder::add(Value a, int64_t b) {
  return apply(*this, getAffineDimExpr(0) + b, {foldable(a)});
}

Value TileBuilder::mul(Value a, int64_t b) {
  return apply(*this, getAffineDimExpr(0) * b, {foldable(a)});
}

Value TileBuilder::roundDown(Value a, int64_t multiple) {
  return apply(*this, getAffineDimExpr(0).floorDiv(multiple) * multiple,
               {foldable(a)});
}

Value TileBuilder::floorDiv(Value a, int64_t by) {
  return apply(*this, getAffineDimExpr(0).floorDiv(by), {foldable(a)});
}

Value TileBuilder::ceilDiv(Value a, int64_t by) {
  return apply(*this, getAffineDimExpr(0).ceilDiv(by), {foldable(a)});
}

Value TileBuilder::size(Value tensor, int64_t dim) {
  return getValueOrCreateConstantIndexOp(
      *this, getLoc(), tensor::getMixedSize(*this, getLoc(), tensor, dim));
}

Value TileBuilder::broadcast(Value scalar, int64_t lanes) {
  return vector::BroadcastOp::create(*this, vectorOf(lanes, scalar.getType()),
                                     scalar);
}

Value TileBuilder::read(Value tensor, ValueRange indices, VectorType type) {
  // Callers keep reads in bounds, so the padding is never used.
  Value padding = ub::PoisonOp::create(*this, type.getElementType());
  return vector::TransferReadOp::create(*this, type, tensor, indices,
                                        std::optional<Value>(padding),
                                        ArrayRef<bool>{true});
}

Value TileBuilder::readF32(Value tensor, ValueRange indices, int64_t lanes) {
  Type element = getElementTypeOrSelf(tensor.getType());
  Value vector = read(tensor, indices, vectorOf(lanes, element));
  if (isa<IntegerType>(element))
    return arith::SIToFPOp::create(*this, vectorOf(lanes, getF32Type()),
                                   vector);
  return toF32(vector);
}

Value TileBuilder::readScalar(Value tensor, ValueRange indices) {
  return tensor::ExtractOp::create(*this, tensor, indices);
}

Value TileBuilder::write(Value vector, Value tensor, ValueRange indices,
                         bool isInside) {
  Type element = getElementTypeOrSelf(tensor.getType());
  return vector::TransferWriteOp::create(*this, convert(vector, element),
                                         tensor, indices,
                                         ArrayRef<bool>{isInside})
      .getResult();
}

Value TileBuilder::writeScalar(Value scalar, Value tensor, ValueRange indices) {
  return tensor::InsertOp::create(*this, scalar, tensor, indices);
}

Value TileBuilder::empty(ArrayRef<int64_t> shape, Type element) {
  return tensor::EmptyOp::create(*this, shape, element);
}

/// A loop of one round or none.
static Value emitOnce(TileBuilder &b, Value lower, Value upper, Value result,
                      function_ref<Value(Value result)> emit) {
  return b.loop(lower, upper, 1, result, [&](Value, ValueRange carried) {
    return TileBuilder::Values{emit(carried[0])};
  })[0];
}

Value TileBuilder::when(Value condition, Value result,
                        function_ref<Value(Value result)> emit) {
  Value rounds = select(condition, index(1), index(0));
  return emitOnce(*this, index(0), rounds, result, emit);
}

Value TileBuilder::choose(Value condition, Value result,
                          function_ref<Value(Value result)> whenTrue,
                          function_ref<Value(Value result)> otherwise) {
  Value rounds = select(condition, index(1), index(0));
  result = emitOnce(*this, index(0), rounds, result, whenTrue);
  return emitOnce(*this, rounds, index(1), result, otherwise);
}

Value TileBuilder::fma(Value a, Value b, Value c) {
  return vector::FMAOp::create(*this, a, b, c);
}

Value TileBuilder::shuffle(Value a, Value b, ArrayRef<int64_t> mask) {
  return vector::ShuffleOp::create(*this, a, b, mask);
}

Value TileBuilder::bitcast(Value vector, Type element) {
  auto type = cast<VectorType>(vector.getType());
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  return vector::BitCastOp::create(
      *this, vectorOf(bits / element.getIntOrFloatBitWidth(), element), vector);
}

Value TileBuilder::slice(Value vector, int64_t first, int64_t count) {
  if (cast<VectorType>(vector.getType()).getNumElements() == count)
    return vector;
  return vector::ExtractStridedSliceOp::create(
      *this, vector, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{count},
      ArrayRef<int64_t>{1});
}

TileBuilder::Values TileBuilder::transpose(Values rows) {
  int64_t size = rows.size();
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < size / 2; ++i) {
    low.append({i, size + i});
    high.append({size / 2 + i, size + size / 2 + i});
  }
  // In every round, vectors of the first half and of the second one are
  // interleaved.
  for (int64_t round = 1; round < size; round *= 2) {
    Values next;
    for (int64_t i = 0; i < size / 2; ++i) {
      next.push_back(shuffle(rows[i], rows[size / 2 + i], low));
      next.push_back(shuffle(rows[i], rows[size / 2 + i], high));
    }
    rows = std::move(next);
  }
  return rows;
}

Value TileBuilder::sumsOfFour(ArrayRef<Value> vectors) {
  constexpr int64_t kFour = 4;
  int64_t lanes = cast<VectorType>(vectors[0].getType()).getNumElements();
  // Shuffles within groups of four lanes are one instruction each.
  SmallVector<int64_t> even, odd;
  for (int64_t group = 0; group < lanes; group += kFour)
    for (int64_t lane : {group, group + 2, lanes + group, lanes + group + 2}) {
      even.push_back(lane);
      odd.push_back(lane + 1);
    }
  auto pairs = [&](Value a, Value b) {
    return add(shuffle(a, b, even), shuffle(a, b, odd));
  };
  Value sums =
      pairs(pairs(vectors[0], vectors[1]), pairs(vectors[2], vectors[3]));
  for (; lanes > kFour; lanes /= 2)
    sums = add(slice(sums, 0, lanes / 2), slice(sums, lanes / 2, lanes / 2));
  return sums;
}
