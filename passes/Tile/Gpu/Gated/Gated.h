//===- Gated.h - Kernels of gated projections -------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_GATED_GATED_H
#define GIST_PASSES_TILE_GPU_GATED_GATED_H

#include "passes/Tile/Gpu/Elements/GpuKernel.h"

namespace gist {

/// The op that makes `kernel` a gated projection of a few tokens, or null.
GatedProjectionOp getGatedProjection(mlir::func::FuncOp kernel);

/// A projection of many tokens: sums of products, the later ones of rows of
/// certain levels alone.
GpuProductAttr selectGatedProductsTile(mlir::func::FuncOp kernel,
                                       const GpuInfo &gpu);
mlir::FailureOr<GpuGrid> emitGatedProducts(GpuKernel &kernel);

GpuGatedAttr selectGatedTile(GatedProjectionOp op, const GpuInfo &gpu);
mlir::FailureOr<GpuGrid> emitGated(GpuKernel &kernel, GatedProjectionOp op);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_GATED_GATED_H
