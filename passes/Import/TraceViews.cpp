//===- TraceViews.cpp - What a tensor is a view of ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One element, at a token, a head and a place that are symbols, is followed
// from tensor to tensor. Heads of a group end at the same element: the head
// divided by the size of the group.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/TraceViews.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace gist;

namespace {
/// An element of `tensor`, by its indices. They are expressions of d0, the
/// token, d1, the head, and d2, the place in the head.
struct Element {
  Value tensor;
  SmallVector<AffineExpr> at;
  double factor = 1;
};
} // namespace

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

/// The element of the source of a collapsed tensor. Only heads are cut apart,
/// and the sizes that divide them must be known.
static bool stepOver(tensor::CollapseShapeOp op, Element &element) {
  RankedTensorType source = op.getSrcType();
  SmallVector<AffineExpr> at(source.getRank());
  for (auto [number, group] : llvm::enumerate(op.getReassociationIndices())) {
    AffineExpr rest = element.at[number];
    for (size_t i = group.size(); i-- > 0;) {
      int64_t size = source.getDimSize(group[i]);
      if (size == 1 && group.size() > 1) {
        at[group[i]] = getAffineConstantExpr(0, op.getContext());
        continue;
      }
      bool isFirst =
          llvm::all_of(ArrayRef(group).take_front(i),
                       [&](int64_t d) { return source.getDimSize(d) == 1; });
      if (isFirst) {
        at[group[i]] = rest;
        continue;
      }
      if (ShapedType::isDynamic(size))
        return false;
      at[group[i]] = rest % size;
      rest = rest.floorDiv(size);
    }
  }
  element.at = std::move(at);
  element.tensor = op.getSrc();
  return true;
}

/// A generic that copies, or multiplies by a constant: its input and that.
static OpOperand *findCopied(linalg::GenericOp op, double &factor) {
  if (op.getNumDpsInputs() != 1 || op.getNumResults() != 1 ||
      op.getNumReductionLoops() != 0 ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
    return nullptr;
  Value input = op.getBody()->getArgument(0);
  Value given = op.getBody()->getTerminator()->getOperand(0);
  if (given == input)
    return op.getDpsInputOperand(0);
  auto product = given.getDefiningOp<arith::MulFOp>();
  if (!product || !given.getType().isF32())
    return nullptr;
  Value other = product.getLhs() == input ? product.getRhs() : product.getLhs();
  if (other == input ||
      (product.getLhs() != input && product.getRhs() != input))
    return nullptr;
  if (auto round = other.getDefiningOp<arith::TruncFOp>())
    other = round.getIn();
  FloatAttr number;
  if (!matchPattern(other, m_Constant(&number)))
    return nullptr;
  factor *= number.getValueAsDouble();
  return op.getDpsInputOperand(0);
}

/// Takes one step back; false: the tensor is computed.
static bool step(Element &element) {
  Operation *op = element.tensor.getDefiningOp();
  if (!op)
    return false;
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    SmallVector<AffineExpr> at(element.at.size());
    for (auto [number, source] : llvm::enumerate(transpose.getPermutation()))
      at[source] = element.at[number];
    element.at = std::move(at);
    element.tensor = transpose.getInput();
    return true;
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return stepOver(collapse, element);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    // Only where dimensions of one are added: rows that are cut into heads
    // stay cut.
    SmallVector<AffineExpr> at;
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      AffineExpr kept;
      for (int64_t dim : group)
        if (expand.getResultType().getDimSize(dim) != 1) {
          if (kept)
            return false;
          kept = element.at[dim];
        }
      at.push_back(kept ? kept : getAffineConstantExpr(0, op->getContext()));
    }
    element.at = std::move(at);
    element.tensor = expand.getSrc();
    return true;
  }
  auto generic = dyn_cast<linalg::GenericOp>(op);
  OpOperand *input = generic ? findCopied(generic, element.factor) : nullptr;
  if (!input)
    return false;
  AffineMap map = generic.getMatchingIndexingMap(input);
  SmallVector<AffineExpr> at;
  for (AffineExpr expr : map.getResults())
    at.push_back(expr.replaceDims(element.at));
  element.at = std::move(at);
  element.tensor = input->get();
  return true;
}

/// The source that the indices describe, or none.
static std::optional<HeadSource> read(const Element &element,
                                      ArrayRef<int64_t> sizes) {
  RankedTensorType type = typeOf(element.tensor);
  if (type.getRank() != 3)
    return std::nullopt;
  MLIRContext *context = type.getContext();
  HeadSource found{element.tensor, -1, -1, -1, 1, element.factor};
  for (auto [dim, expr] : llvm::enumerate(element.at)) {
    auto number = static_cast<int64_t>(dim);
    if (expr == getAffineDimExpr(0, context))
      found.tokens = number;
    else if (expr == getAffineDimExpr(2, context))
      found.width = number;
    else if (expr == getAffineDimExpr(1, context))
      found.heads = number;
    else if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
      auto group = dyn_cast<AffineConstantExpr>(binary.getRHS());
      if (binary.getKind() != AffineExprKind::FloorDiv || !group ||
          binary.getLHS() != getAffineDimExpr(1, context))
        return std::nullopt;
      found.heads = number;
      found.group = group.getValue();
    }
  }
  if (found.tokens < 0 || found.heads < 0 || found.width < 0)
    return std::nullopt;
  // The tensor must not have more elements than were asked for.
  int64_t heads = type.getDimSize(found.heads);
  if (ShapedType::isDynamic(heads) || heads * found.group != sizes[1] ||
      type.getDimSize(found.width) != sizes[2] ||
      type.getDimSize(found.tokens) != sizes[0])
    return std::nullopt;
  return found;
}

HeadSource gist::findHeadSource(Value value, ArrayRef<int64_t> dims) {
  RankedTensorType type = typeOf(value);
  Element element{value, SmallVector<AffineExpr>(3), 1};
  SmallVector<int64_t> sizes(3);
  for (unsigned i = 0; i < 3; ++i) {
    element.at[dims[i]] = getAffineDimExpr(i, value.getContext());
    sizes[i] = type.getDimSize(dims[i]);
  }
  HeadSource best{value, dims[0], dims[1], dims[2], 1, 1};
  do {
    if (std::optional<HeadSource> found = read(element, sizes))
      best = *found;
  } while (step(element));
  return best;
}

Value gist::createTranspose(OpBuilder &b, Location location, Value value,
                            ArrayRef<int64_t> order) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, location, value);
  SmallVector<OpFoldResult> ordered;
  for (int64_t dim : order)
    ordered.push_back(sizes[static_cast<size_t>(dim)]);
  Value empty = tensor::EmptyOp::create(b, location, ordered,
                                        typeOf(value).getElementType());
  return linalg::TransposeOp::create(b, location, value, empty, order)
      ->getResult(0);
}

Value gist::createHeads(OpBuilder &b, Location location,
                        const HeadSource &heads) {
  if (heads.tokens == 0 && heads.heads == 1 && heads.width == 2)
    return heads.source;
  return createTranspose(b, location, heads.source,
                         {heads.tokens, heads.heads, heads.width});
}
