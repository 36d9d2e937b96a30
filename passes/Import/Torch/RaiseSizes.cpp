//===- RaiseSizes.cpp - Sizes of torch-mlir as formulas -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First the arguments, then every number that follows from their sizes.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Torch/SizeValues.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace gist {
#define GEN_PASS_DEF_RAISESIZESPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// Drops the dimensions of one that an argument has before its dynamic one, so
/// that this is the first, which is what counts tokens in every graph.
static LogicalResult putTokensFirst(func::FuncOp function, unsigned number) {
  BlockArgument argument = function.getArgument(number);
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type || type.hasStaticShape())
    return success();
  int64_t tokens = 0;
  while (!type.isDynamicDim(tokens))
    ++tokens;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if ((dim < tokens && type.getDimSize(dim) != 1) ||
        (dim > tokens && type.isDynamicDim(dim)))
      return function.emitOpError("has an argument of type ")
             << type
             << "; one dimension may be dynamic, the number of tokens, and "
                "those before it must be 1";
  if (tokens == 0)
    return success();
  auto inner = RankedTensorType::get(type.getShape().drop_front(tokens),
                                     type.getElementType());
  OpBuilder b = OpBuilder::atBlockBegin(&function.front());
  Location location = argument.getLoc();
  argument.setType(inner);
  SmallVector<ReassociationIndices> groups(1);
  for (int64_t dim = 0; dim <= tokens; ++dim)
    groups[0].push_back(dim);
  for (int64_t dim = tokens + 1; dim < type.getRank(); ++dim)
    groups.push_back({dim});
  SmallVector<OpFoldResult> sizes(tokens, b.getIndexAttr(1));
  llvm::append_range(sizes, tensor::getMixedSizes(b, location, argument));
  auto expanded =
      tensor::ExpandShapeOp::create(b, location, type, argument, groups, sizes);
  SmallPtrSet<Operation *, 2> own{expanded};
  for (Value size : expanded.getOutputShape())
    own.insert(size.getDefiningOp());
  argument.replaceAllUsesExcept(expanded, own);
  return success();
}

/// Clamps the indices of `extract` that depend on data to its tensor.
static void bound(OpBuilder &b, tensor::ExtractOp extract) {
  b.setInsertionPoint(extract);
  Location location = extract.getLoc();
  for (OpOperand &index : extract.getIndicesMutable()) {
    Operation *maker = index.get().getDefiningOp();
    // A loop index is always in bounds.
    if (!maker || isa<linalg::IndexOp>(maker) ||
        maker->hasTrait<OpTrait::ConstantLike>() || isa<arith::MinSIOp>(maker))
      continue;
    auto dim = static_cast<int64_t>(index.getOperandNumber()) - 1;
    Value size = tensor::DimOp::create(b, location, extract.getTensor(), dim);
    Value zero = arith::ConstantIndexOp::create(b, location, 0);
    Value one = arith::ConstantIndexOp::create(b, location, 1);
    Value last = arith::SubIOp::create(b, location, size, one);
    Value above = arith::MaxSIOp::create(b, location, index.get(), zero);
    index.set(arith::MinSIOp::create(b, location, above, last));
  }
}

/// An argument that is returned is state, which a module updates and a caller
/// does not pass.
static LogicalResult refuseReturnedArguments(func::FuncOp function) {
  for (Value result : function.front().getTerminator()->getOperands()) {
    while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                           tensor::CastOp>(result.getDefiningOp()))
      result = result.getDefiningOp()->getOperand(0);
    if (auto argument = dyn_cast<BlockArgument>(result))
      return function.emitOpError("returns argument ")
             << argument.getArgNumber()
             << " as it is; leave it out of the results";
  }
  return success();
}

/// Asserts of sizes are decided here. Those of data are in bodies, of gathers.
static LogicalResult dropAsserts(func::FuncOp function, SizeValues &values) {
  OpBuilder b(function.getContext());
  WalkResult walk = function.walk([&](cf::AssertOp op) {
    std::optional<bool> truth = values.getTruth(op.getArg());
    auto body = dyn_cast<linalg::GenericOp>(op->getParentOp());
    if (truth == false || (!truth && !body && op->getParentOp() != function)) {
      op.emitOpError("says \"") << op.getMsg() << "\", which never holds here";
      return WalkResult::interrupt();
    }
    if (!truth && !body) {
      op.emitOpError("says \"")
          << op.getMsg()
          << "\", and the sizes of the arguments do not decide it";
      return WalkResult::interrupt();
    }
    if (!truth)
      body.walk([&](tensor::ExtractOp extract) { bound(b, extract); });
    op.erase();
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

namespace {
/// Makes numbers out of formulas, at the start of a function, each once.
class Materializer {
public:
  Materializer(func::FuncOp function, Value tokens)
      : b(OpBuilder::atBlockBegin(&function.front())),
        location(function.getLoc()), tokens(tokens) {
    if (tokens)
      b.setInsertionPointAfter(tokens.getDefiningOp());
    numbers[Size::tokens()] = tokens;
  }

  Value get(const Size &size) {
    if (Value known = numbers.lookup(size))
      return known;
    // The sum of the terms, each a factor times a power of T.
    Value sum;
    for (auto [power, factor] : size.terms) {
      Value term = arith::ConstantIndexOp::create(b, location, factor);
      for (unsigned i = 0; i < power; ++i)
        term = factor == 1 && i == 0
                   ? tokens
                   : arith::MulIOp::create(b, location, term, tokens);
      sum = sum ? arith::AddIOp::create(b, location, sum, term) : term;
    }
    if (!sum)
      sum = arith::ConstantIndexOp::create(b, location, 0);
    return numbers[size] = sum;
  }

  Value get(const Size &size, Type type) {
    Value number = get(size);
    if (type.isIndex())
      return number;
    Value &cast = casts[{number, type}];
    if (!cast)
      cast = arith::IndexCastOp::create(b, location, type, number);
    return cast;
  }

  bool isOwn(Operation *op) {
    for (auto &[size, value] : numbers)
      if (value && value.getDefiningOp() == op)
        return true;
    return false;
  }

private:
  struct Numbers : std::map<Size, Value> {
    Value lookup(const Size &size) const {
      auto found = find(size);
      return found == end() ? Value() : found->second;
    }
  };
  OpBuilder b;
  Location location;
  Value tokens;
  Numbers numbers;
  DenseMap<std::pair<Value, Type>, Value> casts;
};

struct RaiseSizesPass final : gist::impl::RaiseSizesPassBase<RaiseSizesPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !llvm::hasSingleElement(function.getBody()))
      return;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (failed(putTokensFirst(function, i)))
        return signalPassFailure();
    function.setFunctionType(
        FunctionType::get(&getContext(), function.front().getArgumentTypes(),
                          function.getResultTypes()));
    SizeValues values;
    if (failed(refuseReturnedArguments(function)) ||
        failed(dropAsserts(function, values)))
      return signalPassFailure();
    replaceNumbers(function);
  }

private:
  static Value findTokens(func::FuncOp function) {
    for (BlockArgument argument : function.getArguments())
      if (auto type = dyn_cast<RankedTensorType>(argument.getType());
          type && !type.hasStaticShape()) {
        OpBuilder b = OpBuilder::atBlockBegin(&function.front());
        return tensor::DimOp::create(b, function.getLoc(), argument, 0);
      }
    return {};
  }

  void replaceNumbers(func::FuncOp function) {
    Value tokens = findTokens(function);
    if (!tokens)
      return;
    SizeValues values;
    SmallVector<std::pair<Value, Size>> found;
    function.walk([&](Operation *op) {
      if (op->getNumResults() != 1 || op->hasTrait<OpTrait::ConstantLike>() ||
          op->getResult(0) == tokens ||
          !isa<arith::ArithDialect, tensor::TensorDialect>(op->getDialect()))
        return;
      Value result = op->getResult(0);
      if (!result.getType().isIntOrIndex() || result.getType().isInteger(1))
        return;
      if (std::optional<Size> size = values.get(result))
        found.emplace_back(result, *size);
    });
    Materializer made(function, tokens);
    for (auto &[value, size] : found)
      value.replaceAllUsesWith(made.get(size, value.getType()));
  }
};
} // namespace
