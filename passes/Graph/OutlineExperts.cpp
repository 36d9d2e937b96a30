//===- OutlineExperts.cpp - Products with experts as kernels --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product with experts is a kernel without what comes after it: its rows are
// written as their experts are met, not in their own order.
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/OutlineExperts.h"
#include "dialect/DecomposeUtils.h"
#include "dialect/GistExpertOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Graph/KernelBuilder.h"

using namespace mlir;
using namespace gist;

static void outline(Operation *op, KernelTable &table) {
  ImplicitLocOpBuilder host(op->getLoc(), op);
  KernelBuilder kernel(op->getLoc());
  IRMapping mapping;
  mapping.map(op->getOperands(), kernel.addInputs(op->getOperands()));
  Value result = kernel.b.clone(*op, mapping)->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  kernel.addOutput(createEmpty(host,
                               {getSize(host, op->getOperand(0), 0),
                                host.getIndexAttr(type.getDimSize(1))},
                               type.getElementType()));
  DispatchOp call = kernel.call(host, table, *getRootKind(op),
                                op->getName().stripDialect(), result);
  op->replaceAllUsesWith(call.getResults());
  // Blocks that only this op dequantised are dequantised in the kernel now.
  SmallVector<Operation *> blocks;
  for (Value operand : op->getOperands())
    if (auto dequantize = operand.getDefiningOp<DequantizeOp>())
      blocks.push_back(dequantize);
  op->erase();
  for (Operation *dequantize : blocks)
    if (dequantize->use_empty())
      dequantize->erase();
}

void gist::outlineExperts(func::FuncOp function, KernelTable &table) {
  // A list first: outlining erases the op that a range stands on.
  SmallVector<Operation *> ops;
  for (Operation &op : function.getOps())
    if (isa<ExpertMatmulOp, QuantizedExpertMatmulOp>(op))
      ops.push_back(&op);
  for (Operation *op : ops)
    outline(op, table);
}
