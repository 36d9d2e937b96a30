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
#include "passes/Tile/Gpu/Core/GridOrder.h"

namespace gist {
#define GEN_PASS_DEF_GPUKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// Threads of a workgroup, at most, on every GPU of the table.
static constexpr int64_t kMaxThreads = 1024;

/// Replaces `source` by its code for `gpu`.
static LogicalResult lowerKernel(func::FuncOp source, const GpuInfo &gpu) {
  const GpuKernelEntry *entry = getGpuKernelEntry(source);
  if (!entry)
    return failure();
  if (!source->hasAttr(kTileAttr))
    return source.emitError("has no tile configuration for a GPU");
  auto refuse = [&] {
    return source.emitError("cannot be written for ") << gpu.name;
  };
  if (failed(entry->verify(source, gpu)))
    return refuse();
  auto tile = cast<GpuTileInterface>(source->getAttr(kTileAttr));
  int64_t threads = gpu.waveSize * tile.getNumWaves();
  if (threads > kMaxThreads)
    return source.emitError("has a tile of ")
           << tile.getNumWaves() << " waves; " << gpu.name
           << " runs workgroups of up to " << kMaxThreads / gpu.waveSize;

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
  orderGrids(b, function, *grid);
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
