//===- StoreBooleans.cpp - Tensors of booleans are stored as bytes --------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types change where they are. Bodies of loops convert at their ends.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace gist {
#define GEN_PASS_DEF_STOREBOOLEANSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;

static bool isBooleans(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isInteger(1);
}

static RankedTensorType toBytes(Type type) {
  return cast<RankedTensorType>(type).clone(
      IntegerType::get(type.getContext(), 8));
}

static bool touchesBooleans(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isBooleans) ||
         llvm::any_of(op->getResultTypes(), isBooleans);
}

static Value toByte(OpBuilder &b, Location location, Value truth) {
  return arith::ExtUIOp::create(b, location, b.getI8Type(), truth);
}

/// Converts `byte` for the ops that used it as a boolean.
static void readAsTruth(OpBuilder &b, Location location, Value byte) {
  Value zero = arith::ConstantOp::create(b, location, b.getI8IntegerAttr(0));
  Value truth =
      arith::CmpIOp::create(b, location, arith::CmpIPredicate::ne, byte, zero);
  byte.replaceUsesWithIf(truth, [&](OpOperand &use) {
    return use.getOwner() != truth.getDefiningOp();
  });
}

/// Changes the body of a loop whose tensors have become bytes.
static void changeBody(linalg::GenericOp op, ArrayRef<bool> isChanged) {
  OpBuilder b = OpBuilder::atBlockBegin(op.getBody());
  Operation *end = op.getBody()->getTerminator();
  for (auto [argument, changed] :
       llvm::zip_equal(op.getBody()->getArguments(), isChanged)) {
    if (!changed)
      continue;
    argument.setType(b.getI8Type());
    if (!argument.use_empty())
      readAsTruth(b, op.getLoc(), argument);
  }
  b.setInsertionPoint(end);
  for (OpOperand &given : end->getOpOperands())
    if (isChanged[op.getNumDpsInputs() + given.getOperandNumber()])
      given.set(toByte(b, op.getLoc(), given.get()));
}

namespace {
struct StoreBooleansPass final
    : gist::impl::StoreBooleansPassBase<StoreBooleansPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !llvm::hasSingleElement(function.getBody()))
      return;
    IRRewriter rewriter(&getContext());
    // Only generic loops have a body to change.
    SmallVector<linalg::LinalgOp> named;
    function.walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp, linalg::FillOp>(op.getOperation()) &&
          touchesBooleans(op))
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      if (failed(linalg::generalizeNamedOp(rewriter, op))) {
        op.emitOpError("works on booleans and is not a loop");
        return signalPassFailure();
      }
    }
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      if (touchesBooleans(op))
        ops.push_back(op);
    });
    SmallVector<SmallVector<bool>> changed;
    for (Operation *op : ops) {
      changed.emplace_back();
      for (Type type : op->getOperandTypes())
        changed.back().push_back(isBooleans(type));
    }
    for (BlockArgument argument : function.getArguments())
      if (isBooleans(argument.getType()))
        argument.setType(toBytes(argument.getType()));
    for (Operation *op : ops)
      for (Value result : op->getResults())
        if (isBooleans(result.getType()))
          result.setType(toBytes(result.getType()));
    for (auto [op, isChanged] : llvm::zip_equal(ops, changed))
      if (failed(change(op, isChanged)))
        return signalPassFailure();
    auto end = cast<func::ReturnOp>(function.front().getTerminator());
    function.setFunctionType(rewriter.getFunctionType(
        function.front().getArgumentTypes(), end.getOperandTypes()));
  }

private:
  LogicalResult change(Operation *op, ArrayRef<bool> isChanged) {
    OpBuilder b(op);
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      changeBody(generic, isChanged);
      return success();
    }
    if (auto fill = dyn_cast<linalg::FillOp>(op)) {
      Value byte = toByte(b, op->getLoc(), fill.value());
      auto filled =
          linalg::FillOp::create(b, op->getLoc(), byte, fill.getOutputs()[0]);
      fill->replaceAllUsesWith(filled);
      fill.erase();
      return success();
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
      if (!splat)
        return op->emitOpError("is a constant of several booleans; "
                               "-gist-raise-weights stores those");
      constant.setValueAttr(DenseElementsAttr::get(
          toBytes(splat.getType()),
          APInt(8, splat.getSplatValue<bool>() ? 1 : 0)));
      return success();
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      extract.getResult().setType(b.getI8Type());
      b.setInsertionPointAfter(op);
      readAsTruth(b, op->getLoc(), extract.getResult());
      return success();
    }
    if (isa<tensor::EmptyOp, tensor::CastOp, tensor::ExpandShapeOp,
            tensor::CollapseShapeOp, tensor::ExtractSliceOp,
            tensor::InsertSliceOp, tensor::ConcatOp, tensor::DimOp,
            func::ReturnOp>(op))
      return success();
    return op->emitOpError("works on a tensor of booleans; expected loops and "
                           "views of them");
  }
};
} // namespace
