//===- GpuKernels.h - Kernels for GPUs, one generator each ------*- C++ -*-===//
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

#ifndef GIST_PASSES_TILE_GPU_GPUKERNELS_H
#define GIST_PASSES_TILE_GPU_GPUKERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Target/GpuInfo.h"
#include "passes/Tile/Gpu/ElementEmitter.h"
#include "passes/Tile/Gpu/GpuBuilder.h"

namespace gist {

/// Threads of a workgroup: an array of one number on a kernel.
inline constexpr llvm::StringLiteral kWorkgroupAttr = "gist.workgroup";
/// Bytes of dynamic workgroup memory that a launch must give.
inline constexpr llvm::StringLiteral kSharedMemoryAttr = "gist.shared_memory";
/// On a branch: on gfx942 the kernel's arguments are loaded where it begins, so
/// that they, and what follows from them, take no scalar registers elsewhere.
inline constexpr llvm::StringLiteral kLoadArgumentsAttr = "gist.load_arguments";

/// How `kernel` is cut on `gpu`, its cosines in 8 bits if `smallGram`; null,
/// with a diagnostic, where the GPU cannot do that.
GpuTileAttr selectGpuTile(mlir::func::FuncOp kernel, const GpuInfo &gpu,
                          bool smallGram);

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

#endif // GIST_PASSES_TILE_GPU_GPUKERNELS_H
