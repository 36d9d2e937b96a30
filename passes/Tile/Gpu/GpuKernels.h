//===- GpuKernels.h - Every kind of kernel for GPUs -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_GPUKERNELS_H
#define GIST_PASSES_TILE_GPU_GPUKERNELS_H

#include "passes/Tile/Gpu/Elements/GpuKernel.h"

namespace gist {

/// How `kernel` is cut on `gpu`, its cosines in 8 bits if `smallGram`; null,
/// with a diagnostic, where the GPU cannot do that.
GpuTileAttr selectGpuTile(mlir::func::FuncOp kernel, const GpuInfo &gpu,
                          bool smallGram);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_GPUKERNELS_H
