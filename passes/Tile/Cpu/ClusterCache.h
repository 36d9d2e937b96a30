//===- ClusterCache.h - A cache of clusters on the CPU ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_CPU_CLUSTERCACHE_H
#define GIST_PASSES_TILE_CPU_CLUSTERCACHE_H

#include "dialect/GistClusterOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace gist {

/// A tile of one KV head as loops over vectors.
mlir::LogicalResult lowerClusterAttention(mlir::RewriterBase &rewriter,
                                          ClusterAttentionOp op);

/// Makes the update a loop over KV heads, and over blocks of tokens where these
/// need not leave windows before, that works on the buffers of the cache, each
/// head in its own regions, and returns that loop. The kernel then takes the
/// cache as buffers.
mlir::FailureOr<mlir::scf::ForallOp>
distributeClusterUpdate(mlir::RewriterBase &rewriter, ClusterUpdateOp op);
/// The same over KV heads and layers.
mlir::FailureOr<mlir::scf::ForallOp>
distributeClusterAbsorb(mlir::RewriterBase &rewriter, ClusterAbsorbOp op);

} // namespace gist

#endif // GIST_PASSES_TILE_CPU_CLUSTERCACHE_H
