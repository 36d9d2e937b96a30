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

/// What is known of kernels of this kind on GPUs; null for a kind that has no
/// line in GpuKernels.def.
const GpuKernelEntry *findGpuKernelEntry(KernelKind kind);

/// The same for `kernel`, whose body is looked at; null with a diagnostic where
/// there is no entry, or the body is not of its kind.
const GpuKernelEntry *getGpuKernelEntry(mlir::func::FuncOp kernel);

/// How `kernel` is cut on `gpu`; null, with a diagnostic, where the GPU cannot
/// do that.
GpuTileInterface selectGpuTile(mlir::func::FuncOp kernel, const GpuInfo &gpu,
                               const GpuChoices &choices);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_GPUKERNELS_H
