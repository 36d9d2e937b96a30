//===- CheckCalls.cpp - What kernels and memory promise -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/OperationSupport.h"
#include "passes/Check/Promises.h"
#include "passes/Kernel/Kernels.h"

using namespace mlir;
using namespace gist;

/// Views that need no copy: a slice is not one, because a buffer is passed
/// whole.
static bool isReshape(Operation *op) {
  return isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
      op);
}

/// Whether nothing but sizes is taken from the tensor that `op` gives.
static bool isOnlyMeasured(Operation *op) {
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    return isa<tensor::DimOp>(user) ||
           (isReshape(user) && isOnlyMeasured(user));
  });
}

/// Whether a host function may have `op`: calls, their operands, and numbers.
/// A slice stays only if just its sizes are used. Its content would need a
/// kernel, or a buffer that begins inside of another.
static bool isHostOp(Operation *op) {
  if (isa<tensor::ExtractSliceOp>(op))
    return isOnlyMeasured(op);
  if (isReshape(op) ||
      isa<DispatchOp, WeightOp, ArenaOp, tensor::EmptyOp, func::ReturnOp>(op))
    return true;
  return op->getNumRegions() == 0 &&
         llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
}

static LogicalResult checkHost(func::FuncOp function) {
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitError("has ")
           << function.getBody().getBlocks().size()
           << " blocks; the stage 'kernels' promises one list of calls";
  for (Operation &op : function.front())
    if (!isHostOp(&op))
      return op.emitOpError("is left in a host function; the stage 'kernels' "
                            "promises that kernels compute everything on "
                            "tensors");
  return success();
}

/// A kernel that nothing calls would be compiled and stored for nothing.
static LogicalResult checkKernel(func::FuncOp kernel,
                                 const llvm::DenseSet<StringAttr> &called) {
  if (!kernel.isPrivate())
    return kernel.emitError(
        "is a kernel that is not private; the stage 'kernels' promises that "
        "only host functions can be called from outside");
  if (!called.contains(kernel.getSymNameAttr()))
    return kernel.emitError("is a kernel that nothing calls; the stage "
                            "'kernels' promises a call for each");
  if (kernel.isExternal() || !llvm::hasSingleElement(kernel.getBody()))
    return kernel.emitError(
        "is a kernel without a body of one block, which the stage 'kernels' "
        "promises");
  return success();
}

/// Whether two kernels differ in their names alone.
/// The name is an inherent attribute, so the discardable ones are all others.
static bool isSame(func::FuncOp a, func::FuncOp b) {
  if (a.getFunctionType() != b.getFunctionType() ||
      a.getArgAttrsAttr() != b.getArgAttrsAttr() ||
      a->getDiscardableAttrDictionary() != b->getDiscardableAttrDictionary())
    return false;
  return OperationEquivalence::isRegionEquivalentTo(
      &a.getBody(), &b.getBody(), OperationEquivalence::Flags::IgnoreLocations);
}

LogicalResult gist::checkCalls(ModuleOp module) {
  llvm::DenseSet<StringAttr> called;
  module.walk(
      [&](DispatchOp call) { called.insert(call.getKernelAttr().getAttr()); });
  SmallVector<func::FuncOp> kernels;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!isKernel(function)) {
      if (!function.isExternal() && failed(checkHost(function)))
        return failure();
      continue;
    }
    if (failed(checkKernel(function, called)))
      return failure();
    // Pairs, because kernels are few: their number does not grow with depth.
    for (func::FuncOp other : kernels)
      if (isSame(function, other))
        return function.emitError("is the same kernel as @")
               << other.getName()
               << "; the stage 'kernels' promises that equal kernels are kept "
                  "once";
    kernels.push_back(function);
  }
  return success();
}

/// Whether `value` is returned, perhaps reshaped.
static bool isReturned(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    if (isa<func::ReturnOp>(user))
      return true;
    return isReshape(user) && isReturned(user->getResult(0));
  });
}

LogicalResult gist::checkMemory(ModuleOp module) {
  if (failed(checkCalls(module)))
    return failure();
  for (auto function : module.getOps<func::FuncOp>()) {
    if (isKernel(function) || function.isExternal())
      continue;
    auto arenas = function.getOps<ArenaOp>();
    if (!arenas.empty() && !function->hasAttr(kArenaSizeAttr))
      return function.emitError("has tensors in the arena but no attribute '")
             << kArenaSizeAttr
             << "'; the stage 'memory' promises the size of the arena";
    for (DispatchOp call : function.getOps<DispatchOp>())
      for (OpOperand &destination : call.getDpsInitsMutable())
        // A result that is returned is written to memory of the caller, so it
        // keeps its tensor.empty.
        if (destination.get().getDefiningOp<tensor::EmptyOp>() &&
            !isReturned(call.getTiedOpResult(&destination)))
          return call.emitOpError("writes a ")
                 << destination.get().getType()
                 << " that has no place in memory; the stage 'memory' promises "
                    "one for everything that is not returned";
  }
  return success();
}
