//===- Sizes.cpp - Sizes as polynomials of the call's symbols -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes as formulas of the tokens of a call, the tokens before it and the
// capacity. They are found by looking backwards through the host function,
// because every tensor there has a size that a caller could compute.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/Sizes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/Kernel/Dimensions.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace gist;

// The symbols of size expressions, in the order in which SpecBuilder maps them
// to the runtime's T, P and C: tokens of the call, tokens before it, and the
// most tokens that the state can hold.
enum : unsigned { kTokens, kPast, kCapacity };

/// The size of dimension `dim`, found where the tensor was made.
static AffineExpr getSymbolicSize(Value tensor, int64_t dim);

/// Null where the value depends on something else, such as the content of a
/// tensor.
AffineExpr gist::getSymbolicValue(Value index) {
  MLIRContext *context = index.getContext();
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return getAffineConstantExpr(*constant, context);
  // The only index that a host function takes is the number of tokens before.
  if (isa<BlockArgument>(index))
    return getAffineSymbolExpr(kPast, context);
  Operation *op = index.getDefiningOp();
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> number = getDimension(dim);
    return number ? getSymbolicSize(dim.getSource(), *number) : AffineExpr();
  }
  SmallVector<AffineExpr> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(getSymbolicValue(operand));
    if (!operands.back())
      return {};
  }
  if (isa<arith::AddIOp>(op))
    return operands[0] + operands[1];
  if (isa<arith::SubIOp>(op))
    return operands[0] - operands[1];
  if (isa<arith::MulIOp>(op))
    return operands[0] * operands[1];
  // Dimensions come first among the operands, then symbols.
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    auto all = ArrayRef(operands);
    return map.getResult(0).replaceDimsAndSymbols(
        all.take_front(map.getNumDims()), all.drop_front(map.getNumDims()));
  }
  return {};
}

static AffineExpr getSymbolicSize(Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  MLIRContext *context = tensor.getContext();
  if (!type.isDynamicDim(dim))
    return getAffineConstantExpr(type.getDimSize(dim), context);
  // Inputs have one row per token. Caches are layers x capacity x …, so their
  // dynamic dimension is never the first.
  if (isa<BlockArgument>(tensor))
    return getAffineSymbolExpr(dim == 0 ? kTokens : kCapacity, context);

  // Sizes are constants or values.
  auto ofSize = [&](OpFoldResult size) -> AffineExpr {
    if (auto value = dyn_cast<Value>(size))
      return getSymbolicValue(value);
    return getAffineConstantExpr(*getConstantIntValue(size), context);
  };
  Operation *op = tensor.getDefiningOp();
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return ofSize(empty.getMixedSizes()[dim]);
  // The op has only its dynamic sizes as operands.
  if (auto arena = dyn_cast<ArenaOp>(op))
    return ofSize(arena.getSizes()[type.getDynamicDimIndex(dim)]);
  // A cast that forgets a size: the source may know it.
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return getSymbolicSize(cast.getSource(), dim);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return ofSize(expand.getMixedOutputShape()[dim]);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    AffineExpr product = getAffineConstantExpr(1, context);
    for (int64_t source : collapse.getReassociationIndices()[dim]) {
      AffineExpr size = getSymbolicSize(collapse.getSrc(), source);
      if (!size)
        return {};
      product = product * size;
    }
    return product;
  }
  // A result has the shape of its destination.
  if (auto style = dyn_cast<DestinationStyleOpInterface>(op))
    return getSymbolicSize(
        style.getTiedOpOperand(cast<OpResult>(tensor))->get(), dim);
  return {};
}

SmallVector<AffineExpr> gist::getSymbolicShape(Value tensor) {
  SmallVector<AffineExpr> shape;
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim) {
    shape.push_back(getSymbolicSize(tensor, dim));
    if (!shape.back())
      return {};
  }
  return shape;
}

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

SizePolynomial SizePolynomial::constant(int64_t value) {
  SizePolynomial result;
  if (value != 0)
    result.terms[{}] = value;
  return result;
}

/// Sums and products only: floordiv and its kin have no such form.
std::optional<SizePolynomial> SizePolynomial::from(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    // max() relies on coefficients that are not negative.
    if (constant.getValue() < 0)
      return std::nullopt;
    return SizePolynomial::constant(constant.getValue());
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    SizePolynomial result;
    Exponents exponents = {};
    exponents[symbol.getPosition()] = 1;
    result.terms[exponents] = 1;
    return result;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<SizePolynomial> lhs = from(binary.getLHS());
  std::optional<SizePolynomial> rhs = from(binary.getRHS());
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return *lhs + *rhs;
  if (expr.getKind() == AffineExprKind::Mul)
    return *lhs * *rhs;
  return std::nullopt;
}

SizePolynomial SizePolynomial::operator*(const SizePolynomial &other) const {
  SizePolynomial result;
  for (const auto &[a, ca] : terms)
    for (const auto &[b, cb] : other.terms) {
      Exponents sum = a;
      for (unsigned i = 0; i < kNumSizeSymbols; ++i)
        sum[i] += b[i];
      result.terms[sum] += ca * cb;
    }
  return result;
}

SizePolynomial SizePolynomial::operator+(const SizePolynomial &other) const {
  SizePolynomial result = *this;
  for (const auto &[exponents, coefficient] : other.terms)
    result.terms[exponents] += coefficient;
  return result;
}

// The largest coefficient of each term. Symbols are not negative, so this is an
// upper bound of both for all values; the exact maximum is not a polynomial.
SizePolynomial SizePolynomial::max(const SizePolynomial &other) const {
  SizePolynomial result = *this;
  for (const auto &[exponents, coefficient] : other.terms) {
    int64_t &mine = result.terms[exponents];
    mine = std::max(mine, coefficient);
  }
  return result;
}

// Every coefficient becomes a multiple, so the sum is one for all values.
SizePolynomial SizePolynomial::alignTo(int64_t alignment) const {
  SizePolynomial result = *this;
  for (auto &[exponents, coefficient] : result.terms)
    coefficient = llvm::alignTo(coefficient, alignment);
  return result;
}

int64_t
SizePolynomial::evaluate(std::array<int64_t, kNumSizeSymbols> values) const {
  int64_t sum = 0;
  for (const auto &[exponents, coefficient] : terms) {
    int64_t product = coefficient;
    for (unsigned i = 0; i < kNumSizeSymbols; ++i)
      for (unsigned power = 0; power < exponents[i]; ++power)
        product *= values[i];
    sum += product;
  }
  return sum;
}

AffineMap SizePolynomial::toMap(MLIRContext *context) const {
  AffineExpr sum = getAffineConstantExpr(0, context);
  for (const auto &[exponents, coefficient] : terms) {
    AffineExpr product = getAffineConstantExpr(coefficient, context);
    for (unsigned i = 0; i < kNumSizeSymbols; ++i)
      for (unsigned power = 0; power < exponents[i]; ++power)
        product = product * getAffineSymbolExpr(i, context);
    sum = sum + product;
  }
  return AffineMap::get(0, kNumSizeSymbols, sum, context);
}

/// Elements that are not whole bytes have no buffer.
std::optional<SizePolynomial> gist::getByteSize(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.getElementType().isIntOrFloat())
    return std::nullopt;
  int64_t bits = type.getElementTypeBitWidth();
  if (bits % 8 != 0)
    return std::nullopt;
  SizePolynomial product = SizePolynomial::constant(bits / 8);
  SmallVector<AffineExpr> shape = getSymbolicShape(tensor);
  if (static_cast<int64_t>(shape.size()) != type.getRank())
    return std::nullopt;
  for (AffineExpr size : shape) {
    std::optional<SizePolynomial> factor = SizePolynomial::from(size);
    if (!factor)
      return std::nullopt;
    product = product * *factor;
  }
  return product;
}
