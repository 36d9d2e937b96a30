//===- OutlineAttends.cpp - Attention on means as kernels -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// They are kernels without what follows them: GPUs make the means first, for
// all queries, in memory that -gist-add-scratch gives the kernel. CPUs make
// those of a step of keys at a time.
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/OutlineAttends.h"
#include "dialect/DecomposeUtils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Graph/KernelBuilder.h"

using namespace mlir;
using namespace gist;

static bool hasMeans(AttendOp op) {
  return op.getMode() == AttendMode::Keys &&
         op.getEffectiveMerge() == Merge::Mean;
}

/// The op has a packed selection: the caller has checked that.
static void outline(AttendOp op, KernelTable &table) {
  ImplicitLocOpBuilder host(op.getLoc(), op);
  KernelBuilder kernel(op.getLoc());
  IRMapping mapping;
  // A selection is passed as its parts, which are tensors, and packed again
  // inside.
  for (Value operand : op->getOperands()) {
    auto pack = operand.getDefiningOp<PackSelectionOp>();
    if (!pack) {
      mapping.map(operand, kernel.addInput(operand));
      continue;
    }
    mapping.map(pack.getOperands(), kernel.addInputs(pack.getOperands()));
    mapping.map(operand, kernel.b.clone(*pack, mapping)->getResult(0));
  }
  Value result = kernel.b.clone(*op, mapping)->getResult(0);

  auto sizesOf = [&](Value tensor) {
    return tensor::getMixedSizes(host, op.getLoc(), tensor);
  };
  SmallVector<OpFoldResult> sizes = sizesOf(op.getQuery());
  // As many rows and heads as queries, with the width of values.
  sizes.back() = sizesOf(op.getValue()).back();
  kernel.addOutput(
      createEmpty(host, sizes, op.getOutput().getType().getElementType()));
  // Taken before the op is erased. Several layers may share a selection, so
  // the pack goes away with the last of its readers only.
  auto pack = op.getSelection().getDefiningOp<PackSelectionOp>();
  DispatchOp call = kernel.call(host, table, KernelKind::Attend,
                                op->getName().stripDialect(), result);
  op->replaceAllUsesWith(call.getResults());
  op->erase();
  if (pack->use_empty())
    pack->erase();
}

void gist::outlineAttends(func::FuncOp function, KernelTable &table) {
  for (auto op : llvm::make_early_inc_range(function.getOps<AttendOp>()))
    if (hasMeans(op) && op.getSelection().getDefiningOp<PackSelectionOp>())
      outline(op, table);
}
