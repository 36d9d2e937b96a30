//===- AttentionTiles.cpp - How attention is cut on GPUs ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows of a wave bound how often keys and values are read from workgroup
// memory; its registers bound rows. On gfx942 a lane has 512 registers if there
// is one wave of a workgroup per SIMD: 32 rows of a head of 256 take 128 for
// outputs and 64 for queries. On sm_90 a lane has at most 255.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Attention.h"

using namespace mlir;
using namespace gist;

/// The type that is multiplied for numbers of type `element`.
static Type getMultiplied(Type element) {
  return element.isF32() ? Float16Type::get(element.getContext()) : element;
}

GpuTileAttr gist::getAttentionTile(RankedTensorType key, RankedTensorType value,
                                   const GpuInfo &gpu) {
  MLIRContext *context = key.getContext();
  Type element = getMultiplied(key.getElementType());
  int64_t size = std::max(key.getShape().back(), value.getShape().back());
  if (gpu.kind == GpuKind::Amd)
    return GpuTileAttr::get(context, {128, size <= 128 ? 64 : 32}, size, {4},
                            /*stages=*/2, Instruction::Mfma32x32x8, element);
  // Waves of 32 rows where registers allow it.
  int64_t waves = size <= 64 ? 4 : 8;
  return GpuTileAttr::get(context, {128, 64}, size, {waves}, /*stages=*/2,
                          Instruction::Mma16x8x16, element);
}

GpuTileAttr gist::getDecodeTile(MLIRContext *context, const GpuInfo &gpu) {
  // A workgroup reads all keys of a head.
  return GpuTileAttr::get(context, {1}, 0, {512 / gpu.waveSize}, 1,
                          Instruction::Fma, Float32Type::get(context));
}

/// Two workgroups of 64 rows on a compute unit were faster than one of 128 at
/// this size.
static bool prefersSmallTiles(AttentionOp op, const GpuInfo &gpu) {
  int64_t size = op.getKey().getType().getDimSize(2);
  return gpu.kind == GpuKind::Nvidia && size > 64 && size <= 128;
}

GpuTileAttr gist::selectAttentionTile(AttentionOp op, const GpuInfo &gpu) {
  MLIRContext *context = op.getContext();
  if (isDecodeAttention(op))
    return getDecodeTile(context, gpu);
  GpuTileAttr tile =
      getAttentionTile(op.getKey().getType(), op.getValue().getType(), gpu);
  if (!prefersSmallTiles(op, gpu))
    return tile;
  return GpuTileAttr::get(context, {64, 64}, tile.getDepth(), {4},
                          tile.getStages(), tile.getInstruction(),
                          tile.getElement());
}

GpuTileAttr gist::selectAttendTile(AttendOp op, const GpuInfo &gpu) {
  return getAttentionTile(op.getKey().getType(), op.getValue().getType(), gpu);
}
