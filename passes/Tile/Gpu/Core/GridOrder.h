//===- GridOrder.h - Kernels that begin before others are over --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On sm_90 the workgroups of a kernel can start while those of the kernel
// before it still run. Every kernel then waits itself, before it reads or
// writes anything that other kernels write. Since all do, a kernel that has
// waited knows that all kernels before it are over and not only the last one.
// What is read before the wait is what no kernel writes: weights, and the
// numbers that a call passes.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_CORE_GRIDORDER_H
#define GIST_PASSES_TILE_GPU_CORE_GRIDORDER_H

#include "passes/Tile/Gpu/Core/GpuBuilder.h"

namespace gist {

/// Whether a tensor of a kernel is computed from weights and numbers alone.
bool isConstant(mlir::Value tensor);

/// Waits until the kernels before this one are over. Nothing where a launch
/// does that.
void waitForGrids(GpuBuilder &b);

/// Lets later kernels start once all workgroups of this one are here. They take
/// the places that are free, so a kernel that runs long says it near its end:
/// otherwise many workgroups of a later kernel share the first compute units
/// that are done.
void letGridsStart(GpuBuilder &b);

/// Adds what a kernel that is written on this `grid` lacks: it waits for
/// earlier kernels and lets later ones start at its beginning if it does not do
/// so anywhere. Kernels whose grid depends on numbers have many tokens. Their
/// launches wait: beginning early takes more from them than it gives.
void orderGrids(GpuBuilder &b, mlir::func::FuncOp function,
                llvm::ArrayRef<mlir::AffineExpr> grid);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_CORE_GRIDORDER_H
