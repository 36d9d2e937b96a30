//===- CausalMask.cpp - Masks that are computed from positions ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Frameworks compute a causal mask from two ranges of positions, in several
// small ops. This follows one element of the mask, at a row and a column that
// are symbols, through the ops that compute it.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/CausalMask.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <optional>

using namespace mlir;
using namespace gist;

namespace {
/// An element, as far as it is known.
struct Element {
  enum Kind {
    Unknown,
    Row,          ///< the position of the query
    Column,       ///< the position of the key
    Difference,   ///< Column - Row
    Number,       ///< an integer or a boolean
    Float,        ///< a constant
    UpToQuery,    ///< Column <= Row
    AfterQuery,   ///< Column > Row
    CausalScores, ///< 0 where Column <= Row, else -inf
  };
  Kind kind = Unknown;
  int64_t number = 0;
  double value = 0;
};

class Follower {
public:
  /// The element of `tensor` at `indices`.
  Element read(Value tensor, ArrayRef<Element> indices);

private:
  Element readExpanded(tensor::ExpandShapeOp op, ArrayRef<Element> indices);
  Element readGeneric(linalg::GenericOp op, ArrayRef<Element> indices);
  Element evaluate(Value scalar, linalg::GenericOp op,
                   ArrayRef<Element> indices);

  /// Masks take few ops. A long chain is something else.
  unsigned stepsLeft = 256;
};
} // namespace

static Element getConstant(Attribute attribute) {
  if (auto splat = dyn_cast<SplatElementsAttr>(attribute))
    attribute = splat.getSplatValue<Attribute>();
  if (auto number = dyn_cast<IntegerAttr>(attribute)) {
    // The sign-extended value of a true bit is -1, and XOr below asks for 1.
    if (number.getType().isInteger(1))
      return {Element::Number, number.getValue().isZero() ? 0 : 1, 0};
    if (number.getValue().isSignedIntN(64))
      return {Element::Number, number.getValue().getSExtValue(), 0};
  }
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return {Element::Float, 0, number.getValueAsDouble()};
  return {};
}

Element Follower::read(Value tensor, ArrayRef<Element> indices) {
  if (stepsLeft == 0)
    return {};
  --stepsLeft;
  Attribute constant;
  if (matchPattern(tensor, m_Constant(&constant)))
    return getConstant(constant);
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>()) {
    if (matchPattern(fill.value(), m_Constant(&constant)))
      return getConstant(constant);
    return {};
  }
  if (auto expand = tensor.getDefiningOp<tensor::ExpandShapeOp>())
    return readExpanded(expand, indices);
  if (auto generic = tensor.getDefiningOp<linalg::GenericOp>())
    return readGeneric(generic, indices);
  return {};
}

/// Only dimensions of one element may be added.
Element Follower::readExpanded(tensor::ExpandShapeOp op,
                               ArrayRef<Element> indices) {
  SmallVector<Element> inside;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    std::optional<int64_t> kept;
    for (int64_t dim : group) {
      if (op.getResultType().getDimSize(dim) == 1)
        continue;
      if (kept)
        return {};
      kept = dim;
    }
    inside.push_back(kept ? indices[*kept] : Element{Element::Number, 0, 0});
  }
  return read(op.getSrc(), inside);
}

Element Follower::readGeneric(linalg::GenericOp op, ArrayRef<Element> indices) {
  if (op.getNumResults() != 1 || op.getNumReductionLoops() != 0 ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
    return {};
  return evaluate(op.getBody()->getTerminator()->getOperand(0), op, indices);
}

static Element negate(Element element) {
  if (element.kind == Element::UpToQuery)
    return {Element::AfterQuery, 0, 0};
  if (element.kind == Element::AfterQuery)
    return {Element::UpToQuery, 0, 0};
  return {};
}

static bool isNumber(const Element &element, int64_t number) {
  return element.kind == Element::Number && element.number == number;
}

/// Comparisons of positions, or of their difference with zero.
static Element compare(arith::CmpIPredicate predicate, const Element &left,
                       const Element &right) {
  // Other predicates are not known: the mask then stays a mask, which is slower
  // and right.
  bool isOrdered =
      (left.kind == Element::Column && right.kind == Element::Row) ||
      (left.kind == Element::Difference && isNumber(right, 0));
  bool isSwapped = left.kind == Element::Row && right.kind == Element::Column;
  if (isSwapped) {
    switch (predicate) {
    case arith::CmpIPredicate::sge:
      return {Element::UpToQuery, 0, 0};
    case arith::CmpIPredicate::slt:
      return {Element::AfterQuery, 0, 0};
    default:
      return {};
    }
  }
  if (!isOrdered)
    return {};
  switch (predicate) {
  case arith::CmpIPredicate::sle:
    return {Element::UpToQuery, 0, 0};
  case arith::CmpIPredicate::sgt:
    return {Element::AfterQuery, 0, 0};
  default:
    return {};
  }
}

static Element select(const Element &condition, const Element &yes,
                      const Element &no) {
  if (isNumber(yes, 1) && isNumber(no, 0))
    return condition;
  if (isNumber(yes, 0) && isNumber(no, 1))
    return negate(condition);
  if (yes.kind != Element::Float || no.kind != Element::Float)
    return {};
  double seen = condition.kind == Element::AfterQuery ? no.value : yes.value;
  double hidden = condition.kind == Element::AfterQuery ? yes.value : no.value;
  bool isMask = condition.kind == Element::UpToQuery ||
                condition.kind == Element::AfterQuery;
  // A large negative number is not enough: with it, a row that hides every key
  // would still have weights.
  if (isMask && seen == 0 && std::isinf(hidden) && hidden < 0)
    return {Element::CausalScores, 0, 0};
  return {};
}

Element Follower::evaluate(Value scalar, linalg::GenericOp op,
                           ArrayRef<Element> indices) {
  Attribute constant;
  if (matchPattern(scalar, m_Constant(&constant)))
    return getConstant(constant);
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    // The first arguments of the body are elements of the inputs.
    if (argument.getOwner() != op.getBody() ||
        argument.getArgNumber() >= op.getNumDpsInputs())
      return {};
    OpOperand *input = op.getDpsInputOperand(argument.getArgNumber());
    SmallVector<Element> inside;
    for (AffineExpr expr : op.getMatchingIndexingMap(input).getResults()) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        inside.push_back(indices[dim.getPosition()]);
      else if (auto number = dyn_cast<AffineConstantExpr>(expr))
        inside.push_back({Element::Number, number.getValue(), 0});
      else
        return {};
    }
    return read(input->get(), inside);
  }
  auto operand = [&](Operation *inner, unsigned i) {
    return evaluate(inner->getOperand(i), op, indices);
  };
  Operation *inner = scalar.getDefiningOp();
  if (!inner || stepsLeft == 0)
    return {};
  --stepsLeft;
  if (auto index = dyn_cast<linalg::IndexOp>(inner))
    return indices[index.getDim()];
  if (isa<arith::IndexCastOp>(inner))
    return operand(inner, 0);
  if (isa<arith::SubIOp>(inner)) {
    Element left = operand(inner, 0), right = operand(inner, 1);
    if (left.kind == Element::Column && right.kind == Element::Row)
      return {Element::Difference, 0, 0};
    return {};
  }
  if (isa<arith::AddIOp>(inner)) {
    Element left = operand(inner, 0), right = operand(inner, 1);
    if (isNumber(left, 0))
      std::swap(left, right);
    return isNumber(right, 0) ? left : Element();
  }
  if (auto cmp = dyn_cast<arith::CmpIOp>(inner))
    return compare(cmp.getPredicate(), operand(inner, 0), operand(inner, 1));
  if (isa<arith::AndIOp, arith::XOrIOp>(inner)) {
    Element left = operand(inner, 0), right = operand(inner, 1);
    if (isNumber(left, 1))
      std::swap(left, right);
    if (!isNumber(right, 1))
      return {};
    // `not` comes as xor with true. `and` with true changes nothing.
    return isa<arith::AndIOp>(inner) ? left : negate(left);
  }
  if (isa<arith::SelectOp>(inner))
    return select(operand(inner, 0), operand(inner, 1), operand(inner, 2));
  return {};
}

MaskMeaning gist::findMaskMeaning(Value mask) {
  auto type = dyn_cast<RankedTensorType>(mask.getType());
  if (!type || type.getRank() != 2)
    return MaskMeaning::Unknown;
  // A mask of more dimensions may differ between heads.
  Element positions[] = {{Element::Row, 0, 0}, {Element::Column, 0, 0}};
  switch (Follower().read(mask, positions).kind) {
  case Element::UpToQuery:
    return MaskMeaning::UpToQuery;
  case Element::AfterQuery:
    return MaskMeaning::AfterQuery;
  case Element::CausalScores:
    return MaskMeaning::CausalScores;
  default:
    return MaskMeaning::Unknown;
  }
}
