//===- GpuKernels.cpp - The pass -gist-gpu-kernels ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/GpuKernels.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "passes/Passes.h"
#include "passes/Target/Info/ModuleTarget.h"

namespace gist {
#define GEN_PASS_DEF_GPUKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// Replaces `source` by its code for `gpu`.
static LogicalResult lowerKernel(func::FuncOp source, const GpuInfo &gpu) {
  const GpuKernelEntry *entry = getGpuKernelEntry(source);
  if (!entry)
    return failure();
  auto tile = source->getAttrOfType<GpuTileAttr>(kTileAttr);
  if (!tile)
    return source.emitError("has no tile configuration for a GPU");
  auto refuse = [&] {
    return source.emitError("cannot be written for ") << gpu.name;
  };
  if (entry->verify && failed(entry->verify(source, tile, gpu)))
    return refuse();
  int64_t threads = gpu.waveSize;
  for (int64_t waves : tile.getWaves())
    threads *= waves;

  OpBuilder builder(source.getContext());
  func::FuncOp function = createBufferFunction(builder, source);
  GpuBuilder b(function, gpu, threads);
  ElementEmitter emitter(b, source, function.getArguments());
  GpuKernel kernel = {source, tile, b, emitter};
  FailureOr<GpuGrid> grid = entry->emit(kernel);
  if (failed(grid) || emitter.hasFailed())
    return refuse();
  b.setInsertionPointToEnd(&function.getBody().front());
  func::ReturnOp::create(b);
  function->setAttr(kGridAttr, getGridAttr(source, *grid));
  function->setAttr(kWorkgroupAttr, b.getDenseI64ArrayAttr(threads));
  source.erase();
  return success();
}

namespace {
struct GpuKernelsPass final : gist::impl::GpuKernelsPassBase<GpuKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    const GpuInfo *gpu = getGpuTarget(getOperation());
    if (!gpu)
      return signalPassFailure();
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (isKernel(function) && failed(lowerKernel(function, *gpu)))
        return signalPassFailure();
  }
};
} // namespace
