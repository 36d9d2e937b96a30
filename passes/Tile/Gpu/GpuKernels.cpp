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

namespace gist {
#define GEN_PASS_DEF_GPUKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// The function on buffers that takes the place of `source`.
static func::FuncOp createFunction(OpBuilder &builder, func::FuncOp source) {
  SmallVector<Type> types;
  SmallVector<Location> locations;
  for (BlockArgument argument : source.getArguments()) {
    auto tensor = dyn_cast<RankedTensorType>(argument.getType());
    types.push_back(
        tensor ? MemRefType::get(tensor.getShape(), tensor.getElementType())
               : argument.getType());
    locations.push_back(argument.getLoc());
  }
  builder.setInsertionPoint(source);
  auto function =
      func::FuncOp::create(builder, source.getLoc(), source.getName(),
                           builder.getFunctionType(types, {}),
                           llvm::to_vector(source->getDiscardableAttrs()));
  function.setVisibility(source.getVisibility());
  builder.createBlock(&function.getBody(), {}, types, locations);
  return function;
}

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
  func::FuncOp function = createFunction(builder, source);
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
    const GpuInfo *gpu = getGpuInfo(target);
    if (!gpu) {
      getOperation().emitError("unknown GPU: ") << target;
      return signalPassFailure();
    }
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (isKernel(function) && failed(lowerKernel(function, *gpu)))
        return signalPassFailure();
  }
};
} // namespace
