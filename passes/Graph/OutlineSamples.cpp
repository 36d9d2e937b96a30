//===- OutlineSamples.cpp - Sampling as kernels ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Drawing a token is a kernel without what comes before or after it. The
// memory it works in is added later, by -gist-add-scratch.
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/OutlineSamples.h"
#include "dialect/DecomposeUtils.h"
#include "dialect/GistSamplingOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Graph/KernelBuilder.h"

using namespace mlir;
using namespace gist;

void gist::outlineSamples(func::FuncOp function, KernelTable &table) {
  // As an ordinary root it would take the elementwise ops that follow it
  // (KernelGroups.cpp).
  for (auto op : llvm::make_early_inc_range(function.getOps<SampleOp>())) {
    ImplicitLocOpBuilder host(op.getLoc(), op);
    KernelBuilder kernel(op.getLoc());
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, kernel.addInput(operand));
    Value result = kernel.b.clone(*op, mapping)->getResult(0);
    OpFoldResult rows = getSize(host, op.getLogits(), 0);
    kernel.addOutput(createEmpty(host, rows, host.getI32Type()));
    DispatchOp call = kernel.call(host, table, KernelKind::Sample,
                                  op->getName().stripDialect(), result);
    op.replaceAllUsesWith(call.getResult(0));
    op.erase();
  }
}
