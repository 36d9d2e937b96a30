//===- GpuKernels.cpp - The pass -gist-gpu-kernels ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/GpuKernels.h"
#include "dialect/Decompose.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Passes.h"
#include "passes/Tile/Gpu/Attention/Attention.h"
#include "passes/Tile/Gpu/Cluster/ClusterCache.h"
#include "passes/Tile/Gpu/Gated/Gated.h"
#include "passes/Tile/Gpu/Matmul/Matmul.h"
#include "passes/Tile/Gpu/Sample/Sample.h"
#include "passes/Tile/Gpu/Select/Select.h"

namespace gist {
#define GEN_PASS_DEF_GPUKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// Replaces ops that nothing here computes by their definitions.
static LogicalResult decompose(func::FuncOp kernel) {
  SmallVector<Operation *> ops;
  for (Operation &op : kernel.getBody().front())
    if (isa<GistDialect>(op.getDialect()) &&
        !isa<DequantizeOp, AttentionOp>(op))
      ops.push_back(&op);
  if (ops.empty())
    return success();
  RewritePatternSet patterns(kernel.getContext());
  populateDecomposePatterns(patterns);
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingOps);
  return applyOpPatternsGreedily(ops, std::move(patterns), config);
}

/// Dispatches on the op that decides how the kernel is cut.
static FailureOr<GpuGrid> emitKernel(GpuKernel &kernel) {
  for (auto op : kernel.source.getOps<AttentionOp>())
    if (isGpuAttention(op))
      return isDecodeAttention(op) ? emitDecodeAttention(kernel, op)
                                   : emitAttention(kernel, op);
  for (auto op : kernel.source.getOps<AttendOp>())
    return emitAttend(kernel, op);
  for (auto op : kernel.source.getOps<ClusterAttentionOp>())
    return emitClusterAttention(kernel, op);
  for (auto op : kernel.source.getOps<ClusterUpdateOp>())
    return emitClusterUpdate(kernel, op);
  for (auto op : kernel.source.getOps<SampleOp>())
    return emitSample(kernel, op);
  if (getSelection(kernel.source))
    return emitSelection(kernel);
  if (GatedProjectionOp op = getGatedProjection(kernel.source))
    return emitGated(kernel, op);
  if (hasGatedProducts(kernel.source))
    return emitGatedProducts(kernel);
  if (linalg::LinalgOp product = getGpuMatmul(kernel.source))
    return emitMatmul(kernel, product);
  if (failed(decompose(kernel.source)))
    return failure();
  return emitRows(kernel);
}

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
  auto tile = source->getAttrOfType<GpuTileAttr>(kTileAttr);
  if (!tile)
    return source.emitError("has no tile configuration for a GPU");
  int64_t threads = gpu.waveSize;
  for (int64_t waves : tile.getWaves())
    threads *= waves;

  OpBuilder builder(source.getContext());
  func::FuncOp function = createFunction(builder, source);
  GpuBuilder b(function, gpu, threads);
  ElementEmitter emitter(b, source, function.getArguments());
  GpuKernel kernel = {source, tile, b, emitter};
  FailureOr<GpuGrid> grid = emitKernel(kernel);
  if (failed(grid) || emitter.hasFailed())
    return source.emitError("cannot be written for ") << gpu.name;
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
