//===- WeightsToArguments.cpp - Weights from the caller -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tools that execute a graph without a module file: weights become
// arguments that the caller passes. The order is that of first use.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace gist {
#define GEN_PASS_DEF_WEIGHTSTOARGUMENTSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace gist;
using namespace mlir;

/// Gives `function` an argument for each weight that it names.
static LogicalResult convertFunction(func::FuncOp function) {
  // Keeps the order of insertion, so that the signature is the same every time.
  llvm::MapVector<StringAttr, SmallVector<WeightOp>> uses;
  function.walk([&](WeightOp op) { uses[op.getNameAttr()].push_back(op); });
  for (auto &[name, ops] : uses) {
    Type type = ops.front().getType();
    for (WeightOp op : ops)
      if (op.getType() != type)
        return op.emitOpError("is ") << op.getType() << " here and " << type
                                     << " where this name was used before";
    unsigned index = function.getNumArguments();
    auto attributes = DictionaryAttr::get(
        function.getContext(),
        NamedAttribute(StringAttr::get(function.getContext(), kNameAttr),
                       name));
    if (failed(function.insertArgument(index, type, attributes,
                                       ops.front().getLoc())))
      return failure();
    for (WeightOp op : ops) {
      op.replaceAllUsesWith(function.getArgument(index));
      op.erase();
    }
  }
  return success();
}

namespace {
struct WeightsToArgumentsPass final
    : gist::impl::WeightsToArgumentsPassBase<WeightsToArgumentsPass> {
  void runOnOperation() override {
    if (failed(convertFunction(getOperation())))
      signalPassFailure();
  }
};
} // namespace
