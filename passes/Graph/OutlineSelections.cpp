//===- OutlineSelections.cpp - Selections as kernels ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A selection leaves its kernel as its parts, and enters others as those.
//
// A selection in which nothing is computed is replaced by its definition.
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/OutlineSelections.h"
#include "dialect/Decompose.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace gist;

namespace {
/// !gist.selection is a type for the compiler alone. Memory holds its four
/// tensors of i32, in the order of gist.pack_selection.
class SelectionOutliner {
public:
  SelectionOutliner(Operation *op, KernelTable &table)
      : op(op), table(table), host(op), loc(op->getLoc()) {}

  void run() {
    auto type = cast<SelectionType>(op->getResult(0).getType());
    Type i32 = host.getI32Type();
    Value tokens = op->getOperand(0);
    OpFoldResult size = tensor::getMixedSize(host, loc, tokens, 0);
    int64_t heads = type.getHeads().value_or(1);

    // What the kernel reads: a selection as its parts.
    for (Value operand : op->getOperands()) {
      if (!isa<SelectionType>(operand.getType())) {
        // Rows of tokens are passed as they are.
        inputs.push_back(operand);
        continue;
      }
      auto parts = UnpackSelectionOp::create(host, loc, operand);
      inputs.append(parts.result_begin(), parts.result_end());
    }

    // What it writes.
    // With heads every part has a first dimension for them; the count of a
    // selection without heads is a tensor of rank 0.
    SmallVector<OpFoldResult> part, count;
    if (type.getHeads())
      count.push_back(host.getIndexAttr(heads));
    part = count;
    part.push_back(size);
    auto addOutput = [&](ArrayRef<OpFoldResult> sizes) {
      outputs.push_back(tensor::EmptyOp::create(host, loc, sizes, i32));
    };
    // The parts of a selection: ids, count, nearest and weight. Then the other
    // results of the op.
    addOutput(part);
    addOutput(count);
    addOutput(part);
    addOutput(part);
    for (unsigned i = 1; i < op->getNumResults(); ++i)
      addOutput(count);

    DispatchOp call =
        table.call(host, createKernel(), getKind(), inputs, outputs);
    SmallVector<Value> results = {
        PackSelectionOp::create(host, loc, call.getResult(0), call.getResult(1),
                                call.getResult(2), call.getResult(3))};
    for (unsigned i = 1; i < op->getNumResults(); ++i)
      results.push_back(call.getResult(3 + i));
    op->replaceAllUsesWith(results);
    op->erase();
  }

private:
  StringRef getKind() { return op->getName().stripDialect(); }

  func::FuncOp createKernel() {
    OpBuilder builder(op->getContext());
    SmallVector<Type> types(ValueRange(inputs).getTypes());
    llvm::append_range(types, ValueRange(outputs).getTypes());
    auto kernel = func::FuncOp::create(
        loc, "kernel",
        builder.getFunctionType(types, ValueRange(outputs).getTypes()));
    markKernel(kernel, KernelKind::Select, outputs.size());
    Block *block = kernel.addEntryBlock();
    builder.setInsertionPointToEnd(block);

    IRMapping mapping;
    auto *argument = block->args_begin();
    for (Value operand : op->getOperands()) {
      if (!isa<SelectionType>(operand.getType())) {
        mapping.map(operand, *argument++);
        continue;
      }
      mapping.map(operand,
                  PackSelectionOp::create(builder, loc, argument[0],
                                          argument[1], argument[2], argument[3])
                      .getResult());
      argument += 4;
    }
    Operation *copy = builder.clone(*op, mapping);
    auto parts = UnpackSelectionOp::create(builder, loc, copy->getResult(0));
    SmallVector<Value> results(parts.getResults());
    llvm::append_range(results, copy->getResults().drop_front());
    func::ReturnOp::create(builder, loc, results);
    return kernel;
  }

  Operation *op;
  KernelTable &table;
  OpBuilder host;
  Location loc;
  SmallVector<Value> inputs, outputs;
};
} // namespace

/// True for an op whose result needs no computation.
static bool isTrivial(Operation *op) {
  auto update = dyn_cast<CascadeUpdateOp>(op);
  return isa<KeepAllOp>(op) ||
         (update && update.getRule() == CascadeRule::Inherit);
}

LogicalResult gist::outlineSelections(func::FuncOp function,
                                      KernelTable &table) {
  SmallVector<Operation *> trivial, selections, unpacks;
  for (Operation &op : function.getBody().front()) {
    if (isTrivial(&op))
      trivial.push_back(&op);
    else if (isa<GramSelectOp, CascadeUpdateOp>(op))
      selections.push_back(&op);
  }
  // keep_all and inherited selections are index arithmetic or a copy.
  RewritePatternSet patterns(function.getContext());
  populateDecomposePatterns(patterns);
  GreedyRewriteConfig config;
  // Only these ops: the patterns would also decompose what has kernels.
  config.setStrictness(GreedyRewriteStrictness::ExistingOps);
  if (failed(applyOpPatternsGreedily(trivial, std::move(patterns), config)))
    return failure();
  for (Operation *op : selections)
    SelectionOutliner(op, table).run();

  // Packed and taken apart again at once: values of the type are left only
  // where readers of selections pack them.
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    auto unpack = dyn_cast<UnpackSelectionOp>(op);
    auto pack = unpack ? unpack.getSelection().getDefiningOp<PackSelectionOp>()
                       : PackSelectionOp();
    if (!pack)
      continue;
    unpack.replaceAllUsesWith(pack->getOperands());
    unpack.erase();
  }
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isa<PackSelectionOp>(op) && op.use_empty())
      op.erase();
  return success();
}
