//===- Attention.h - Attention on GPUs --------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of gist.attention and gist.attend, with what follows them element by
// element. Their grids:
//
//   attention   blocks of rows x KV heads
//   one query   query heads / getDecodeHeads()
//   attend      blocks of rows x KV heads, for as many representatives as there
//               are tokens; where queries see clusters, blocks of rows of one
//               block of queries x blocks of queries x KV heads
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_ATTENTION_ATTENTION_H
#define GIST_PASSES_TILE_GPU_ATTENTION_ATTENTION_H

#include "passes/Tile/Gpu/Elements/GpuKernel.h"

namespace gist {

mlir::FailureOr<GpuGrid> emitAttention(GpuKernel &kernel, AttentionOp op);
/// For one query.
mlir::FailureOr<GpuGrid> emitDecodeAttention(GpuKernel &kernel, AttentionOp op);
/// The memory that it works in where several clusters share keys.
mlir::FailureOr<KernelScratch> getDecodeScratch(mlir::func::FuncOp kernel);
mlir::FailureOr<GpuGrid> emitAttend(GpuKernel &kernel, AttendOp op);

/// Whether these take the op; dense attention has a slow kernel otherwise.
bool isGpuAttention(AttentionOp op);
/// Whether the op has one query.
bool isDecodeAttention(AttentionOp op);

/// The tiles for one query, and for keys and values of these types.
GpuDecodeAttr getDecodeTile(mlir::MLIRContext *context, const GpuInfo &gpu);
GpuAttentionAttr getAttentionTile(mlir::RankedTensorType key,
                                  mlir::RankedTensorType value,
                                  const GpuInfo &gpu);

/// The tile for many queries of causal attention, by what the GPU does best.
GpuAttentionAttr getCausalTile(mlir::RankedTensorType key,
                               mlir::RankedTensorType value,
                               mlir::RankedTensorType output,
                               const GpuInfo &gpu);

/// The tile of attention of many queries.
GpuAttentionAttr selectAttentionTile(AttentionOp op, const GpuInfo &gpu);
GpuAttentionAttr selectAttendTile(AttendOp op, const GpuInfo &gpu);

/// Whether attention of many queries in `kernel`, on keys, values and outputs
/// of these types, can be cut as the kernel's tile says.
mlir::LogicalResult verifyAttentionTile(mlir::func::FuncOp kernel,
                                        mlir::RankedTensorType key,
                                        mlir::RankedTensorType value,
                                        mlir::RankedTensorType output,
                                        const GpuInfo &gpu);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_ATTENTION_ATTENTION_H
