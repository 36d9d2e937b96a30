//===- SelectTileConfig.cpp - The pass -gist-select-tile-config -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
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
    if (gram != "exact" && gram != "fp8") {
      getOperation().emitError("gram is exact or fp8, not ") << gram;
      return signalPassFailure();
    }
    if (target != "cpu")
      return selectForGpu();
    if (gram == "fp8") {
      getOperation().emitError("gram=fp8 is for GPUs that multiply f8E4M3FNUZ; "
                               "CPUs compare rows as they are");
      return signalPassFailure();
    }
    FailureOr<TargetInfo> info =
        getTargetInfo({triple, cpu, features}, [&](const Twine &message) {
          getOperation().emitError(message);
        });
    if (failed(info))
      return signalPassFailure();
    auto kernels = llvm::make_filter_range(
        getOperation().getOps<func::FuncOp>(), isKernel);
    CpuChoices choices;
    choices.isReduced = llvm::any_of(kernels, [](func::FuncOp kernel) {
      return getKernelKind(kernel) == KernelKind::QuantizedMatmul;
    });
    for (func::FuncOp kernel : kernels) {
      const CpuKernelEntry *entry = getCpuKernelEntry(kernel);
      if (!entry)
        return signalPassFailure();
      if (!kernel->hasAttr(kTileAttr))
        kernel->setAttr(kTileAttr, entry->choose(kernel, *info, choices));
    }
  }

private:
  void selectForGpu() {
    const GpuInfo *gpu = getGpuInfo(target);
    if (!gpu) {
      getOperation().emitError("unknown target: ") << target;
      return signalPassFailure();
    }
    GpuChoices choices;
    choices.smallGram = gram == "fp8";
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!isKernel(kernel) || kernel->hasAttr(kTileAttr))
        continue;
      GpuTileAttr tile = selectGpuTile(kernel, *gpu, choices);
      if (!tile)
        return signalPassFailure();
      kernel->setAttr(kTileAttr, tile);
    }
  }
};
} // namespace
