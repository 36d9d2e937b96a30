//===- GatedMatmul.cpp - Gated projections of many tokens -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that adds products up, each of only those rows whose token is at
// certain levels (passes/Graph/OutlineGated.cpp). How it is cut is said here;
// GatedTiles.cpp writes it.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/Kernels.h"
#include "passes/Tile/Gpu/Core/Wgmma.h"
#include "passes/Tile/Gpu/Gated/GatedChain.h"

using namespace mlir;
using namespace gist;

static LogicalResult verifyChain(func::FuncOp kernel) {
  if (readGatedChain(kernel))
    return success();
  return kernel.emitOpError("is a kernel of kind gated_products and needs "
                            "products of masked rows, at least two, each of "
                            "which starts from the one before");
}

/// Whether the kernel can be cut as its tile says.
static LogicalResult verifyTile(func::FuncOp kernel, const GpuInfo &gpu) {
  if (failed(verifyChain(kernel)) || failed(expectTile<GpuProductAttr>(kernel)))
    return failure();
  return verifyInstruction(
      kernel, cast<GpuProductAttr>(kernel->getAttr(kTileAttr)).getInstruction(),
      gpu);
}

/// Rows and columns of a tile: those at which a matrix is read from memory
/// rarely enough, while sums still fit the registers.
static constexpr int64_t kTileRows = 128, kTileColumns = 128;

GpuProductAttr gist::selectGatedProductsTile(func::FuncOp kernel,
                                             const GpuInfo &gpu) {
  MLIRContext *context = kernel.getContext();
  Type element = Float16Type::get(context);
  for (const GatedLink &link : readGatedChain(kernel)->links)
    for (Value operand : {link.rows, link.matrix})
      if (getElementTypeOrSelf(operand).isBF16())
        element = BFloat16Type::get(context);
  // Two workgroups fit a compute unit: while one reads W for its rows, the
  // other multiplies rows that need none.
  if (gpu.kind == GpuKind::Nvidia)
    return GpuProductAttr::get(
        context, kTileRows, /*columns=*/96, Wgmma::kTileDepth, /*waves=*/{8, 1},
        /*stages=*/4, Instruction::Wgmma64x128x16, element);
  return GpuProductAttr::get(context, kTileRows, kTileColumns, /*depth=*/32,
                             /*waves=*/{2, 2}, /*stages=*/2,
                             Instruction::Mfma32x32x8, element);
}

//===----------------------------------------------------------------------===//
// The kind
//===----------------------------------------------------------------------===//

namespace gist {
extern const GpuKernelEntry kGpuGatedProductsKernel;
} // namespace gist

const GpuKernelEntry gist::kGpuGatedProductsKernel = {
    .choose = [](func::FuncOp kernel, const GpuInfo &gpu,
                 const GpuChoices &) -> GpuTileInterface {
      return succeeded(verifyChain(kernel))
                 ? selectGatedProductsTile(kernel, gpu)
                 : GpuProductAttr();
    },
    .emit = emitGatedProducts,
    .verify = verifyTile,
};
