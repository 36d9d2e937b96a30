//===- KernelBuilder.cpp - Kernels that are written, not cut out ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds a kernel and the operands of its call side by side, for ops that
// become kernels by a rule of their own.
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/KernelBuilder.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace gist;

/// The function stands alone until KernelTable has compared it with the others.
KernelBuilder::KernelBuilder(Location loc)
    : function(func::FuncOp::create(
          loc, "kernel", FunctionType::get(loc.getContext(), {}, {}))),
      b(loc, loc.getContext()) {
  b.setInsertionPointToEnd(function.addEntryBlock());
}

Value KernelBuilder::addArgument(Value value) {
  return function.front().addArgument(value.getType(), value.getLoc());
}

/// Clones values that cost nothing to compute into the kernel instead of
/// passing them, as OutlineKernel does: constants, views, and weights that are
/// dequantised as they are read.
Value KernelBuilder::addInput(Value value) {
  Operation *op = value.getDefiningOp();
  if (op && (getKernelRole(op) == KernelRole::Free || isa<DequantizeOp>(op))) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, addInput(operand));
    return b.clone(*op, mapping)
        ->getResult(cast<OpResult>(value).getResultNumber());
  }
  inputs.push_back(value);
  return addArgument(value);
}

SmallVector<Value> KernelBuilder::addInputs(ValueRange values) {
  return llvm::map_to_vector(values, [&](Value v) { return addInput(v); });
}

Value KernelBuilder::addOutput(Value value) {
  outputs.push_back(value);
  return addArgument(value);
}

/// Finishes the kernel. The table may hold an equal one already.
DispatchOp KernelBuilder::call(OpBuilder &host, KernelTable &table,
                               KernelKind kind, StringRef name,
                               ValueRange results) {
  func::ReturnOp::create(b, results);
  function.setFunctionType(b.getFunctionType(
      function.front().getArgumentTypes(), results.getTypes()));
  markKernel(function, kind, outputs.size());
  return table.call(host, function, name, inputs, outputs);
}
