//===- ClusterCache.h - A cache of clusters on GPUs -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of gist.cluster_update, gist.cluster_absorb and
// gist.cluster_attention. What a head keeps is data to them: one kernel serves
// all layers and plans. Their grids:
//
//   update      KV heads
//   absorbed    blocks of tokens x KV heads
//   absorb      KV heads x layers; nothing where no block begins
//   attention   blocks of queries x parts of KV heads (ClusterParts.h)
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_CLUSTER_CLUSTERCACHE_H
#define GIST_PASSES_TILE_GPU_CLUSTER_CLUSTERCACHE_H

#include "dialect/ClusterHead.h"
#include "dialect/GistClusterOps.h"
#include "passes/Tile/Gpu/Elements/GpuKernel.h"

namespace gist {

/// Lets tokens leave the window and puts the call's own into the ring.
mlir::FailureOr<GpuGrid> emitClusterUpdate(GpuKernel &kernel,
                                           ClusterUpdateOp op);
/// For updates that are `absorbed`.
mlir::FailureOr<GpuGrid> emitClusterAppend(GpuKernel &kernel,
                                           ClusterUpdateOp op);
mlir::FailureOr<GpuGrid> emitClusterAbsorb(GpuKernel &kernel,
                                           ClusterAbsorbOp op);
mlir::FailureOr<GpuGrid> emitClusterAttention(GpuKernel &kernel,
                                              ClusterAttentionOp op);

/// Copies `number` tokens of a head, from `first` on, into the rows that
/// `place` gives for them. The cache is a buffer.
void appendRows(ElementEmitter &emitter, ClusterUpdateOp op, mlir::Value head,
                mlir::Value first, mlir::Value number,
                llvm::function_ref<mlir::Value(mlir::Value token)> place);

GpuRowsAttr selectClusterAppendTile(ClusterUpdateOp op, const GpuInfo &gpu);
GpuTileInterface selectClusterAttentionTile(ClusterAttentionOp op,
                                            const GpuInfo &gpu);

/// What the table of heads says of one KV head.
ClusterHead readHead(ElementEmitter &emitter, mlir::Value heads,
                     mlir::Value layer, mlir::Value head);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_CLUSTER_CLUSTERCACHE_H
