//===- Select.h - Kernels that select representatives -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_SELECT_SELECT_H
#define GIST_PASSES_TILE_GPU_SELECT_SELECT_H

#include "passes/Tile/Gpu/Elements/GpuKernel.h"

namespace gist {

/// The grid has the workgroups of a head times the heads: together as many as
/// the GPU runs at once.
mlir::FailureOr<GpuGrid> emitSelection(GpuKernel &kernel);
/// With `isSmall`, rows are compared in f8E4M3FNUZ; null, with a diagnostic,
/// where `gpu` does not multiply that.
GpuSelectionAttr selectSelectionTile(mlir::func::FuncOp kernel,
                                     const GpuInfo &gpu, bool isSmall);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_SELECT_SELECT_H
