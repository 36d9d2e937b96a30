//===- CacheLayers.cpp - Which part of a cache a call uses ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Emit/CacheLayers.h"
#include "dialect/GistClusterOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/Kernel/KernelKinds.h"
#include "passes/Kernel/Kernels.h"

using namespace mlir;
using namespace gist;

std::optional<CacheLayers> gist::getCacheLayers(DispatchOp call) {
  // On kernels on tensors: lowered ones have no such ops any more.
  auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getKernelAttr());
  if (!kernel || kernel.isExternal())
    return std::nullopt;
  Value layer;
  // Absorbs name their layers as attributes; the other two take a number.
  if (auto absorb = findRoot<ClusterAbsorbOp>(kernel))
    return CacheLayers{absorb.getBegin(), absorb.getEnd()};
  if (auto update = findRoot<ClusterUpdateOp>(kernel))
    layer = update.getLayer();
  else if (auto attention = findRoot<ClusterAttentionOp>(kernel))
    layer = attention.getLayer();
  // The kernel's argument is the call's operand.
  if (auto argument = dyn_cast_or_null<BlockArgument>(layer);
      argument && argument.getArgNumber() < call->getNumOperands())
    layer = call->getOperand(argument.getArgNumber());
  std::optional<int64_t> number =
      layer ? getConstantIntValue(layer) : std::nullopt;
  if (!number)
    return std::nullopt;
  return CacheLayers{*number, *number + 1};
}

llvm::SmallPtrSet<Value, 8> gist::findLayeredCaches(func::FuncOp function) {
  llvm::SmallPtrSet<Value, 8> layered, whole;
  for (DispatchOp call : function.getOps<DispatchOp>()) {
    llvm::SmallPtrSet<Value, 8> &uses = getCacheLayers(call) ? layered : whole;
    for (Value operand : call->getOperands())
      if (BlockArgument argument = getUpdatedArgument(operand))
        uses.insert(argument);
  }
  // One call that uses all of a cache makes its layers depend on each other.
  for (Value argument : whole)
    layered.erase(argument);
  return layered;
}
