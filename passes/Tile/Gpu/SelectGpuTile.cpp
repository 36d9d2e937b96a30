//===- SelectGpuTile.cpp - How kernels are cut on GPUs --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/Kernels.h"
#include "passes/Tile/Gpu/Attention/Attention.h"
#include "passes/Tile/Gpu/Cluster/ClusterCache.h"
#include "passes/Tile/Gpu/Gated/Gated.h"
#include "passes/Tile/Gpu/GpuKernels.h"
#include "passes/Tile/Gpu/Matmul/Matmul.h"
#include "passes/Tile/Gpu/Sample/Sample.h"
#include "passes/Tile/Gpu/Select/Select.h"

using namespace mlir;
using namespace gist;

GpuTileAttr gist::selectGpuTile(func::FuncOp kernel, const GpuInfo &gpu,
                                bool smallGram) {
  for (auto op : kernel.getOps<AttentionOp>())
    if (isGpuAttention(op))
      return selectAttentionTile(op, gpu);
  for (auto op : kernel.getOps<AttendOp>())
    return selectAttendTile(op, gpu);
  for (auto op : kernel.getOps<ClusterAttentionOp>())
    return selectClusterAttentionTile(op, gpu);
  for (auto op : kernel.getOps<ClusterUpdateOp>())
    return selectClusterUpdateTile(op, gpu);
  for (auto op : kernel.getOps<SampleOp>())
    return selectSampleTile(op, gpu);
  if (getSelection(kernel))
    return selectSelectionTile(kernel, gpu, smallGram);
  if (GatedProjectionOp op = getGatedProjection(kernel))
    return selectGatedTile(op, gpu);
  if (hasGatedProducts(kernel))
    return selectGatedProductsTile(kernel, gpu);
  if (linalg::LinalgOp product = getGpuMatmul(kernel))
    return selectMatmulTile(product, gpu);
  return selectRowsTile(kernel, gpu);
}
