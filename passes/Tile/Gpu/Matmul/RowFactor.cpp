//===- RowFactor.cpp - What a whole row is multiplied with ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Matmul/RowFactor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace gist;

/// The factors of `value`, in their order.
static void addFactors(Value value, SmallVectorImpl<Value> &factors) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product || !product->hasOneUse()) {
    factors.push_back(value);
    return;
  }
  addFactors(product.getLhs(), factors);
  addFactors(product.getRhs(), factors);
}

/// The arguments of the body of `op` that `value` is computed from.
static SetVector<BlockArgument> getArguments(linalg::GenericOp op,
                                             Value value) {
  SetVector<BlockArgument> arguments;
  SmallVector<Value> values{value};
  while (!values.empty()) {
    Value next = values.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (argument.getOwner() == op.getBody())
        arguments.insert(argument);
    } else if (next.getDefiningOp()->getBlock() == op.getBody())
      llvm::append_range(values, next.getDefiningOp()->getOperands());
  }
  return arguments;
}

/// Whether a row has to be read as a whole for `tensor`.
static bool takesReduction(Value tensor) {
  auto op = tensor.getDefiningOp<linalg::LinalgOp>();
  return op && (op.getNumReductionLoops() != 0 ||
                llvm::any_of(op.getDpsInputs(), takesReduction));
}

/// An elementwise op with the product of `factors` of `op`, which are in its
/// body, as its result: of `maps` of those inputs that they take.
static Value createProduct(OpBuilder &builder, linalg::GenericOp op,
                           ArrayRef<Value> factors, unsigned rank,
                           function_ref<AffineMap(AffineMap)> getMap,
                           Value start) {
  SetVector<BlockArgument> arguments;
  for (Value factor : factors)
    arguments.insert_range(getArguments(op, factor));
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (BlockArgument argument : arguments) {
    OpOperand &operand = op->getOpOperand(argument.getArgNumber());
    inputs.push_back(operand.get());
    maps.push_back(getMap(op.getMatchingIndexingMap(&operand)));
  }
  maps.push_back(builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto body = [&](OpBuilder &b, Location loc, ValueRange given) {
    IRMapping mapping;
    for (auto [argument, value] : llvm::zip(arguments, given))
      mapping.map(argument, value);
    // The factors' ops, in the order of the body.
    SetVector<Operation *> needed;
    SmallVector<Value> values(factors);
    while (!values.empty()) {
      Operation *next = values.pop_back_val().getDefiningOp();
      if (!next || next->getBlock() != op.getBody() || !needed.insert(next))
        continue;
      llvm::append_range(values, next->getOperands());
    }
    for (Operation &next : op.getBody()->without_terminator())
      if (needed.contains(&next))
        b.clone(next, mapping);
    Value product = mapping.lookupOrDefault(factors.front());
    for (Value factor : factors.drop_front())
      product = arith::MulFOp::create(b, loc, product,
                                      mapping.lookupOrDefault(factor));
    linalg::YieldOp::create(b, loc, product);
  };
  return linalg::GenericOp::create(builder, op.getLoc(), start.getType(),
                                   inputs, start, maps, loops, body)
      .getResult(0);
}

std::optional<RowFactor> gist::splitRowFactor(Value rows) {
  auto op = rows.getDefiningOp<linalg::GenericOp>();
  auto type = cast<RankedTensorType>(rows.getType());
  if (!op || op.getNumLoops() != 2 || op.getNumReductionLoops() != 0 ||
      op->getNumResults() != 1 || !type.getElementType().isF32() ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
    return std::nullopt;
  AffineMap ofRow =
      AffineMap::get(2, 0, getAffineDimExpr(0, rows.getContext()));
  SmallVector<Value> factors, rest, taken;
  addFactors(op.getBody()->getTerminator()->getOperand(0), factors);
  for (Value factor : factors) {
    SetVector<BlockArgument> arguments = getArguments(op, factor);
    bool isOfRow = !arguments.empty(), isReduced = false;
    for (BlockArgument argument : arguments) {
      OpOperand &operand = op->getOpOperand(argument.getArgNumber());
      // The factor must not read the previous value of the result.
      if (op.isDpsInit(&operand))
        return std::nullopt;
      isOfRow &= op.getMatchingIndexingMap(&operand) == ofRow;
      isReduced |= takesReduction(operand.get());
    }
    if (isReduced && !isOfRow)
      return std::nullopt;
    (isReduced ? taken : rest).push_back(factor);
  }
  if (taken.empty() || rest.empty())
    return std::nullopt;
  OpBuilder builder(op);
  OpFoldResult size =
      tensor::getMixedSize(builder, op.getLoc(), op.getDpsInits()[0], 0);
  auto getStart = [&](ArrayRef<OpFoldResult> sizes) -> Value {
    return tensor::EmptyOp::create(builder, op.getLoc(), sizes,
                                   type.getElementType());
  };
  RowFactor parts;
  parts.rest = createProduct(
      builder, op, rest, 2, [](AffineMap map) { return map; },
      getStart({size, builder.getIndexAttr(type.getDimSize(1))}));
  parts.factor = createProduct(
      builder, op, taken, 1,
      [&](AffineMap) { return builder.getMultiDimIdentityMap(1); },
      getStart(size));
  return parts;
}
