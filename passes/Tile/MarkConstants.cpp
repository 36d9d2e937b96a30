//===- MarkConstants.cpp - Arguments that are weights ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/MarkConstants.h"
#include "dialect/GistLaunchNames.h"
#include "dialect/GistNames.h"
#include "dialect/GistOps.h"
#include "dialect/GistTargetAttrs.h"
#include "dialect/GpuInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace gist;

/// Only launches of NVIDIA's GPUs overlap.
static bool hasOverlappingLaunches(ModuleOp module) {
  auto target = module->getAttrOfType<GpuTargetAttr>(kTargetAttr);
  return target && getGpuInfo(target.getName())->kind == GpuKind::Nvidia;
}

void gist::markConstants(ModuleOp module) {
  if (!hasOverlappingLaunches(module))
    return;
  llvm::MapVector<func::FuncOp, llvm::BitVector> constants;
  SymbolTable symbols(module);
  module.walk([&](DispatchOp call) {
    auto kernel = symbols.lookup<func::FuncOp>(call.getKernel());
    if (!kernel)
      return;
    llvm::BitVector isWeight(kernel.getNumArguments());
    for (auto [number, input] : llvm::enumerate(call.getInputs()))
      if (input.getDefiningOp<WeightOp>())
        isWeight.set(number);
    auto [known, isNew] = constants.insert({kernel, isWeight});
    if (!isNew)
      known->second &= isWeight;
  });
  for (auto &[kernel, isWeight] : constants)
    for (unsigned number : isWeight.set_bits())
      kernel.setArgAttr(number, kConstantArgAttr,
                        UnitAttr::get(module.getContext()));
}
