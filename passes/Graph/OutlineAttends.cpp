//===- OutlineAttends.cpp - Attention on means as kernels -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GPUs make the means first, for all queries, in memory that is the kernel's
// last three destinations (passes/Tile/Gpu/Attention/AttendMeans.h). CPUs make
// those of a step of keys at a time and leave it alone.
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/OutlineAttends.h"
#include "dialect/DecomposeUtils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Graph/KernelBuilder.h"
#include "passes/Kernel/ScratchSizes.h"

using namespace mlir;
using namespace gist;

static bool hasMeans(AttendOp op) {
  return op.getMode() == AttendMode::Keys &&
         op.getEffectiveMerge() == Merge::Mean;
}

static void outline(AttendOp op, Value control, int64_t number,
                    KernelTable &table) {
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
  kernel.addControl(control, createIndex(host, number));
  SmallVector<Value> results = {kernel.b.clone(*op, mapping)->getResult(0)};

  auto sizesOf = [&](Value tensor) {
    return tensor::getMixedSizes(host, op.getLoc(), tensor);
  };
  auto addOutput = [&](ArrayRef<OpFoldResult> sizes, Type element) {
    return kernel.addOutput(createEmpty(host, sizes, element));
  };
  SmallVector<OpFoldResult> outputSizes = sizesOf(op.getQuery());
  // As many rows and heads as queries, with the width of values.
  outputSizes.back() = sizesOf(op.getValue()).back();
  addOutput(outputSizes, op.getOutput().getType().getElementType());
  // Scratch: means of keys, means of values, and the counts that they are
  // divided by.
  for (Value rows : {op.getKey(), op.getValue()})
    results.push_back(addOutput(sizesOf(rows), getElementTypeOrSelf(rows)));
  auto pack = op.getSelection().getDefiningOp<PackSelectionOp>();
  results.push_back(addOutput(sizesOf(pack.getNearest()), host.getI32Type()));
  DispatchOp call = kernel.call(host, table, KernelKind::Attend,
                                op->getName().stripDialect(), results);
  // The scratch memory's results are not read.
  op->replaceAllUsesWith(call.getResults().take_front());
  op->erase();
  if (pack->use_empty())
    pack->erase();
}

void gist::outlineAttends(func::FuncOp function, KernelTable &table) {
  SmallVector<AttendOp> ops;
  for (auto op : function.getOps<AttendOp>())
    if (hasMeans(op) && op.getSelection().getDefiningOp<PackSelectionOp>())
      ops.push_back(op);
  if (ops.empty())
    return;
  // All calls share one tensor of control, so that one kernel clears it.
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  auto type =
      RankedTensorType::get(ops.size() * kStepWords, builder.getI32Type());
  Value control = table.makeZeros(builder, ops.front().getLoc(), type, "means");
  for (auto [number, op] : llvm::enumerate(ops))
    outline(op, control, number, table);
}
