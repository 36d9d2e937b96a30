//===- Experts.h - Products with a weight for each row ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_EXPERTS_EXPERTS_H
#define GIST_PASSES_TILE_GPU_EXPERTS_EXPERTS_H

#include "dialect/GistExpertOps.h"
#include "passes/Tile/Gpu/Elements/GpuKernel.h"

namespace gist {

/// For few tokens: every row by itself.
GpuRowsAttr selectExpertRowsTile(ExpertMatmulOp op, const GpuInfo &gpu);
mlir::FailureOr<GpuGrid> emitExpertRows(GpuKernel &kernel, ExpertMatmulOp op);

/// For many tokens: the rows of an expert are gathered into tiles, which matrix
/// instructions multiply. Workgroup memory holds a count for each expert, for
/// at most `kMaxGatheredExperts` of them.
inline constexpr int64_t kMaxGatheredExperts = 512;
GpuProductAttr selectExpertTilesTile(ExpertMatmulOp op, const GpuInfo &gpu);
mlir::FailureOr<GpuGrid> emitExpertTiles(GpuKernel &kernel, ExpertMatmulOp op);

/// The expert that a token names in `slot`. A number out of range is clamped,
/// so that only the weights are read.
GpuBuilder::Value readExpert(ElementEmitter &emitter, ExpertMatmulOp op,
                             GpuBuilder::Value token, GpuBuilder::Value slot);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_EXPERTS_EXPERTS_H
