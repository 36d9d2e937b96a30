//===- Sample.h - Draws tokens on GPUs --------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that samples has, besides what the op reads and gives, memory for
// the weights of its rows, i32, as its last destination.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_SAMPLE_H
#define GIST_PASSES_TILE_GPU_SAMPLE_H

#include "dialect/GistSamplingOps.h"
#include "passes/Tile/Gpu/GpuKernels.h"

namespace gist {

mlir::FailureOr<GpuGrid> emitSample(GpuKernel &kernel, SampleOp op);
GpuTileAttr selectSampleTile(SampleOp op, const GpuInfo &gpu);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_SAMPLE_H
