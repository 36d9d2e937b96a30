//===- SelectTileConfig.cpp - The pass -gist-select-tile-config -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Target/Info/ModuleTarget.h"
#include "passes/Tile/Cpu/CpuKernel.h"
#include "passes/Tile/Gpu/GpuKernels.h"

namespace gist {
#define GEN_PASS_DEF_SELECTTILECONFIGPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

namespace {
struct SelectTileConfigPass final
    : gist::impl::SelectTileConfigPassBase<SelectTileConfigPass> {
  using Base::Base;

  void runOnOperation() override {
    if (auto gpu = getOperation()->getAttrOfType<GpuTargetAttr>(kTargetAttr))
      return selectForGpu(gpu);
    FailureOr<TargetInfo> info = getCpuTargetInfo(getOperation());
    if (failed(info))
      return signalPassFailure();
    auto kernels = llvm::make_filter_range(
        getOperation().getOps<func::FuncOp>(), isKernel);
    // A property of the whole module: one that multiplies in 8 bits needs
    // attention no more exact than bf16.
    CpuChoices choices;
    choices.isReduced = llvm::any_of(kernels, [](func::FuncOp kernel) {
      return getKernelKind(kernel) == KernelKind::QuantizedMatmul;
    });
    for (func::FuncOp kernel : kernels) {
      const CpuKernelEntry *entry = getCpuKernelEntry(kernel);
      if (!entry)
        return signalPassFailure();
      // An existing tile was written by hand or by an earlier run.
      if (kernel->hasAttr(kTileAttr))
        continue;
      kernel->setAttr(kTileAttr, entry->choose(kernel, *info, choices));
      int64_t ahead = entry->prefetch ? entry->prefetch(kernel, *info) : 0;
      if (ahead > 0 && !kernel->hasAttr(kPrefetchAttr))
        kernel->setAttr(
            kPrefetchAttr,
            IntegerAttr::get(IntegerType::get(&getContext(), 64), ahead));
    }
  }

private:
  void selectForGpu(GpuTargetAttr target) {
    // The attribute's verifier has found the GPU in the table.
    const GpuInfo &gpu = *getGpuInfo(target.getName());
    GpuChoices choices;
    choices.smallGram = target.getGram() == Gram::Fp8;
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!isKernel(kernel) || kernel->hasAttr(kTileAttr))
        continue;
      GpuTileInterface tile = selectGpuTile(kernel, gpu, choices);
      if (!tile)
        return signalPassFailure();
      kernel->setAttr(kTileAttr, tile);
    }
  }
};
} // namespace
