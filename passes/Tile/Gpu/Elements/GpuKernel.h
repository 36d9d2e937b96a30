//===- GpuKernel.h - What a generator of kernels is given --------*- C++
//-*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A generator takes a kernel function on tensors that -gist-select-tile-config
// has given a `#gist.gpu_tile`, and writes the code of one thread at a builder
// whose function has the kernel's arguments as buffers. It returns the grid.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_ELEMENTS_GPUKERNEL_H
#define GIST_PASSES_TILE_GPU_ELEMENTS_GPUKERNEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Target/Info/GpuInfo.h"
#include "passes/Tile/Gpu/Core/GpuBuilder.h"
#include "passes/Tile/Gpu/Elements/ElementEmitter.h"

namespace gist {

/// What a generator is given.
struct GpuKernel {
  mlir::func::FuncOp source; ///< on tensors
  GpuTileAttr tile;
  GpuBuilder &b; ///< at the end of the new function, on buffers
  ElementEmitter &emitter;
};

/// Workgroups along x, y, z as functions of the kernel's numbers (getSizeExpr);
/// sizes left out are one.
using GpuGrid = llvm::SmallVector<mlir::AffineExpr, 3>;

/// Kernels on whole rows, and any kernel that no other generator takes.
mlir::FailureOr<GpuGrid> emitRows(GpuKernel &kernel);
GpuTileAttr selectRowsTile(mlir::func::FuncOp kernel, const GpuInfo &gpu);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_ELEMENTS_GPUKERNEL_H
