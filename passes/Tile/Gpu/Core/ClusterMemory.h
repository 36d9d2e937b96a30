//===- ClusterMemory.h - Workgroup memory of neighbours ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_CORE_CLUSTERMEMORY_H
#define GIST_PASSES_TILE_GPU_CORE_CLUSTERMEMORY_H

#include "passes/Tile/Gpu/Core/GpuBuilder.h"

namespace gist {

/// Writes `numbers`, an f32 or two of them, into `memory` of workgroup `to` of
/// this cluster, where this workgroup's own would be at `indices`. The others
/// have begun, and see it behind a barrier of the cluster.
void writeRemote(GpuBuilder &b, mlir::Value numbers, mlir::Value memory,
                 mlir::ValueRange indices, mlir::Value to);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_CORE_CLUSTERMEMORY_H
