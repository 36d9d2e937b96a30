//===- Sample.h - Draws tokens on GPUs --------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that samples has, besides what the op reads and gives, memory for
// two i32 of every token, its weight and its order, as its last destination:
// rows x 2 x tokens, as -gist-add-scratch has added it.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_SAMPLE_SAMPLE_H
#define GIST_PASSES_TILE_GPU_SAMPLE_SAMPLE_H

#include "dialect/GistSamplingOps.h"
#include "passes/Tile/Gpu/Elements/GpuKernel.h"

namespace gist {

/// The grid has a workgroup for each row.
mlir::FailureOr<GpuGrid> emitSample(GpuKernel &kernel, SampleOp op);
GpuRowsAttr selectSampleTile(SampleOp op, const GpuInfo &gpu);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_SAMPLE_SAMPLE_H
