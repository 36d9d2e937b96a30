//===- SizeValues.cpp - Sizes as formulas of the tokens -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers are followed back to the sizes of arguments. A result of an op in
// destination style has the sizes of its destination.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Torch/SizeValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "passes/Kernel/Dimensions.h"

#include <cmath>

using namespace mlir;
using namespace gist;

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

static void add(std::map<unsigned, int64_t> &terms, unsigned power,
                int64_t factor) {
  int64_t &sum = terms[power];
  sum += factor;
  if (sum == 0)
    terms.erase(power);
}

Size Size::operator+(const Size &other) const {
  Size sum = *this;
  for (auto [power, factor] : other.terms)
    add(sum.terms, power, factor);
  return sum;
}

Size Size::operator-(const Size &other) const {
  Size sum = *this;
  for (auto [power, factor] : other.terms)
    add(sum.terms, power, -factor);
  return sum;
}

Size Size::operator*(const Size &other) const {
  Size product;
  for (auto [power, factor] : terms)
    for (auto [otherPower, otherFactor] : other.terms)
      add(product.terms, power + otherPower, factor * otherFactor);
  return product;
}

std::optional<Size> Size::divideBy(const Size &other) const {
  // Sizes are divided by products of sizes, which have one term.
  if (other.terms.size() != 1)
    return std::nullopt;
  auto [power, factor] = *other.terms.begin();
  Size quotient;
  for (auto [ownPower, ownFactor] : terms) {
    if (ownPower < power || ownFactor % factor != 0)
      return std::nullopt;
    quotient.terms[ownPower - power] = ownFactor / factor;
  }
  return quotient;
}

std::optional<int64_t> Size::getConstant() const {
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms.begin()->first == 0)
    return terms.begin()->second;
  return std::nullopt;
}

bool Size::isNeverNegative() const {
  // With T = 1 + u, factors that are not negative are enough.
  Size shifted, step = Size::tokens() + Size(1);
  for (auto [power, factor] : terms) {
    Size term(factor);
    for (unsigned i = 0; i < power; ++i)
      term = term * step;
    shifted = shifted + term;
  }
  return llvm::all_of(shifted.terms,
                      [](const auto &term) { return term.second >= 0; });
}

long double Size::guess() const {
  constexpr long double kTokens = 1000003;
  long double sum = 0;
  for (auto [power, factor] : terms)
    sum += static_cast<long double>(factor) * std::pow(kTokens, power);
  return sum;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

std::optional<Size> SizeValues::get(Value number) {
  auto found = known.find(number);
  if (found != known.end())
    return found->second;
  known[number] = std::nullopt; // Until it is known: nothing depends on itself.
  std::optional<Size> result = compute(number);
  known[number] = result;
  return result;
}

std::optional<Size> SizeValues::compute(Value number) {
  Operation *op = number.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (std::optional<int64_t> constant = getConstantIntValue(number)) {
    // A true bit is -1 when it is sign-extended.
    return Size(number.getType().isInteger(1) ? *constant & 1 : *constant);
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> position = getDimension(dim);
    return position ? getSize(dim.getSource(), *position) : std::nullopt;
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    // An element of a shape.
    auto elements = extract.getTensor().getDefiningOp<tensor::FromElementsOp>();
    if (!elements || extract.getIndices().size() != 1)
      return std::nullopt;
    std::optional<int64_t> at = getConstantIntValue(extract.getIndices()[0]);
    if (!at || *at < 0 ||
        *at >= static_cast<int64_t>(elements.getElements().size()))
      return std::nullopt;
    return get(elements.getElements()[*at]);
  }
  if (isa<arith::CmpIOp>(op)) {
    std::optional<bool> truth = getTruth(number);
    return truth ? std::optional(Size(*truth ? 1 : 0)) : std::nullopt;
  }
  // Sizes fit: a tensor of 2^31 tokens does not.
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
          arith::ExtUIOp, arith::TruncIOp>(op)) {
    if (op->getOperand(0).getType().isInteger(1) && isa<arith::ExtSIOp>(op))
      return std::nullopt;
    return get(op->getOperand(0));
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    std::optional<bool> truth = getTruth(select.getCondition());
    if (truth)
      return get(*truth ? select.getTrueValue() : select.getFalseValue());
    std::optional<Size> yes = get(select.getTrueValue());
    std::optional<Size> no = get(select.getFalseValue());
    return yes && no && *yes == *no ? yes : std::nullopt;
  }
  if (op->getNumOperands() != 2)
    return std::nullopt;
  std::optional<Size> left = get(op->getOperand(0));
  std::optional<Size> right = get(op->getOperand(1));
  if (!left || !right)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *left + *right;
  if (isa<arith::SubIOp>(op))
    return *left - *right;
  if (isa<arith::MulIOp>(op))
    return *left * *right;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp,
          arith::CeilDivSIOp>(op))
    return left->divideBy(*right);
  bool isLeftLarger = (*left - *right).isNeverNegative();
  bool isRightLarger = (*right - *left).isNeverNegative();
  if (isa<arith::MaxSIOp>(op))
    return isLeftLarger ? left : isRightLarger ? right : std::nullopt;
  if (isa<arith::MinSIOp>(op))
    return isLeftLarger ? right : isRightLarger ? left : std::nullopt;
  return std::nullopt;
}

std::optional<bool> SizeValues::getTruth(Value boolean) {
  if (std::optional<int64_t> constant = getConstantIntValue(boolean))
    return *constant != 0;
  Operation *op = boolean.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op)) {
    std::optional<bool> left = getTruth(op->getOperand(0));
    std::optional<bool> right = getTruth(op->getOperand(1));
    if (!left || !right)
      return std::nullopt;
    return isa<arith::AndIOp>(op)  ? *left && *right
           : isa<arith::OrIOp>(op) ? *left || *right
                                   : *left != *right;
  }
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare)
    return std::nullopt;
  std::optional<Size> left = get(compare.getLhs()),
                      right = get(compare.getRhs());
  if (!left || !right)
    return std::nullopt;
  bool isAtLeast = (*left - *right).isNeverNegative();
  bool isAtMost = (*right - *left).isNeverNegative();
  bool isAbove = (*left - *right - Size(1)).isNeverNegative();
  bool isBelow = (*right - *left - Size(1)).isNeverNegative();
  auto decide = [](bool yes, bool no) -> std::optional<bool> {
    if (yes || no)
      return yes;
    return std::nullopt;
  };
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::eq:
    return decide(*left == *right, isAbove || isBelow);
  case arith::CmpIPredicate::ne:
    return decide(isAbove || isBelow, *left == *right);
  case arith::CmpIPredicate::sge:
    return decide(isAtLeast, isBelow);
  case arith::CmpIPredicate::sgt:
    return decide(isAbove, isAtMost);
  case arith::CmpIPredicate::sle:
    return decide(isAtMost, isAbove);
  case arith::CmpIPredicate::slt:
    return decide(isBelow, isAtLeast);
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

std::optional<Size> SizeValues::getSize(Value tensor, int64_t dim) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || dim < 0 || dim >= type.getRank())
    return std::nullopt;
  if (!type.isDynamicDim(dim))
    return Size(type.getDimSize(dim));
  return computeSize(tensor, dim);
}

std::optional<Size> SizeValues::computeSize(Value tensor, int64_t dim) {
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    // The tokens of a call are one number for all arguments.
    if (isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      return Size::tokens();
    return std::nullopt;
  }
  auto of = [&](OpFoldResult size) -> std::optional<Size> {
    if (auto value = dyn_cast<Value>(size))
      return get(value);
    return Size(*getConstantIntValue(size));
  };
  Operation *op = tensor.getDefiningOp();
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return of(empty.getMixedSizes()[dim]);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return of(expand.getMixedOutputShape()[dim]);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    // Dropped dimensions are not among those of the result.
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    int64_t kept = -1;
    for (auto [number, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!dropped.test(number) && ++kept == dim)
        return of(size);
    return std::nullopt;
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return getSize(insert.getDest(), dim);
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return getSize(cast.getSource(), dim);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    Size product(1);
    for (int64_t source : collapse.getReassociationIndices()[dim]) {
      std::optional<Size> size = getSize(collapse.getSrc(), source);
      if (!size)
        return std::nullopt;
      product = product * *size;
    }
    return product;
  }
  if (auto reshape = dyn_cast<tensor::ReshapeOp>(op)) {
    auto shape = reshape.getShape().getDefiningOp<tensor::FromElementsOp>();
    return shape ? get(shape.getElements()[dim]) : std::nullopt;
  }
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    if (static_cast<int64_t>(concat.getDim()) != dim)
      return getSize(concat.getInputs()[0], dim);
    Size sum;
    for (Value input : concat.getInputs()) {
      std::optional<Size> size = getSize(input, dim);
      if (!size)
        return std::nullopt;
      sum = sum + *size;
    }
    return sum;
  }
  if (auto style = dyn_cast<DestinationStyleOpInterface>(op))
    return getSize(style.getTiedOpOperand(cast<OpResult>(tensor))->get(), dim);
  return std::nullopt;
}

std::optional<SmallVector<Size>> SizeValues::getShape(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return std::nullopt;
  SmallVector<Size> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    std::optional<Size> size = getSize(tensor, dim);
    if (!size)
      return std::nullopt;
    shape.push_back(*size);
  }
  return shape;
}
