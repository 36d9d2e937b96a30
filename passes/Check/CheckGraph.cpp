//===- CheckGraph.cpp - What Import and Graph promise ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Check/Promises.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Kernel/Limits.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace gist;

/// Buffers are named by these attributes: two inputs, or two outputs, of one
/// name would share memory.
static LogicalResult checkNames(func::FuncOp function, StringRef what,
                                ArrayAttr attributes) {
  llvm::StringSet<> names;
  if (!attributes)
    return success();
  for (auto each : attributes.getAsRange<DictionaryAttr>()) {
    auto name = each.getAs<StringAttr>(kNameAttr);
    // Without a name the writer of the module makes one of the position.
    if (name && !names.insert(name).second)
      return function.emitError("has two ")
             << what << " with the name " << name
             << "; a graph promises different names";
  }
  return success();
}

/// Graphs may be written by hand, so nothing is assumed.
static LogicalResult checkFunction(func::FuncOp function) {
  if (isKernel(function))
    return function.emitError(
        "is a kernel; a graph promises functions on tensors, which the stage "
        "'kernels' cuts into kernels");
  if (failed(verifySizes(function)))
    return failure();
  if (function.isExternal())
    return success();
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitOpError("expects straight-line code, got ")
           << function.getBody().getBlocks().size()
           << " blocks; a graph promises one block for each function";
  WalkResult walk = function.walk([](Operation *op) {
    auto isBuffer = [](Type type) { return isa<BaseMemRefType>(type); };
    if (llvm::any_of(op->getOperandTypes(), isBuffer) ||
        llvm::any_of(op->getResultTypes(), isBuffer)) {
      op->emitError("works on a buffer; a graph promises only tensors");
      return WalkResult::interrupt();
    }
    if (isa<DispatchOp, ArenaOp>(op)) {
      op->emitOpError("is in a graph, which promises that nothing is cut into "
                      "kernels yet");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult gist::checkImported(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(checkFunction(function)) ||
        failed(checkNames(function, "arguments", function.getArgAttrsAttr())) ||
        failed(checkNames(function, "results", function.getResAttrsAttr())))
      return failure();
  return success();
}

LogicalResult gist::checkGraph(ModuleOp module) {
  if (failed(checkImported(module)))
    return failure();
  WalkResult walk = module.walk([](QuantizedMatmulOp product) {
    // A weight that is an argument says nothing about its order.
    auto weight = product.getWeight().getDefiningOp<WeightOp>();
    if (!weight)
      return WalkResult::advance();
    auto stored = weight->getAttrOfType<PackingAttr>(kPackingAttr);
    PackingAttr read = product.getPackedAttr();
    if (stored == read)
      return WalkResult::advance();
    auto error = product.emitOpError("reads the weight \"")
                 << weight.getName() << "\" as ";
    auto print = [&](PackingAttr packing) {
      if (packing)
        error << packing;
      else
        error << "stored in the model";
    };
    print(read);
    error << ", and it is ";
    print(stored);
    error << "; the stage 'graph' promises that both agree";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}
