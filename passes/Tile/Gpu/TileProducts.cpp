//===- TileProducts.cpp - The pass -gist-gpu-tile-products ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "passes/Kernel/KernelKinds.h"
#include "passes/Passes.h"
#include "passes/Target/Info/ModuleTarget.h"
#include "passes/Tile/Gpu/Matmul/Matmul.h"

namespace gist {
#define GEN_PASS_DEF_GPUTILEPRODUCTSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// Cuts the product of a kernel that is one product by matrix instructions.
static LogicalResult cutProduct(func::FuncOp kernel, const GpuInfo &gpu) {
  auto tile = kernel->getAttrOfType<GpuProductAttr>(kTileAttr);
  if (!tile || getKernelKind(kernel) != KernelKind::Matmul)
    return success();
  if (auto product = findRoot<ScaledMatmulOp>(kernel))
    return tileProduct(product, tile, gpu);
  linalg::LinalgOp product = getGpuMatmul(kernel);
  return product ? LogicalResult(tileProduct(product, tile, gpu)) : success();
}

namespace {
struct GpuTileProductsPass final
    : gist::impl::GpuTileProductsPassBase<GpuTileProductsPass> {
  using Base::Base;

  void runOnOperation() override {
    const GpuInfo *gpu = getGpuTarget(getOperation());
    if (!gpu)
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!isKernel(kernel))
        continue;
      if (failed(verifyKernelBody(kernel)) || failed(cutProduct(kernel, *gpu)))
        return signalPassFailure();
    }
  }
};
} // namespace
