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
// outputs and 64 for queries. Keys of a step bound how many matrix instructions
// there are for all that is done once a step. On sm_90 a lane has at most 255,
// and tiles are those that were fastest on an H200 (docs/performance/sm_90.md).
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Attention/Attention.h"
#include "passes/Tile/Gpu/Core/Wgmma.h"

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
  if (gpu.kind == GpuKind::Amd) {
    // What is loaded as f32 takes twice the registers.
    bool isWide = key.getElementType().isF32();
    int64_t keys = size <= 32 && !isWide ? 128 : size <= 64 ? 64 : 32;
    return GpuTileAttr::get(context, {128, keys}, size, {4}, /*stages=*/2,
                            Instruction::Mfma32x32x8, element);
  }
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

/// Instructions of four warps multiply what lies in workgroup memory as it is
/// in memory, in rows of 64 numbers, and outputs go through it as what is
/// multiplied.
static bool hasWgmma(RankedTensorType key, RankedTensorType value,
                     RankedTensorType output, const GpuInfo &gpu) {
  Type element = key.getElementType();
  auto isWhole = [](RankedTensorType type) {
    int64_t size = type.getShape().back();
    return size % Wgmma::kTileDepth == 0 && size <= Wgmma::kMaxColumns;
  };
  return gpu.kind == GpuKind::Nvidia && (element.isF16() || element.isBF16()) &&
         value.getElementType() == element &&
         output.getElementType() == element && isWhole(key) && isWhole(value);
}

static GpuTileAttr getWgmmaTile(RankedTensorType key, int64_t size,
                                int64_t rows, int64_t keys) {
  return GpuTileAttr::get(key.getContext(), {rows, keys}, size, {rows / 16},
                          /*stages=*/2, Instruction::Wgmma64x128x16,
                          key.getElementType());
}

GpuTileAttr gist::selectAttentionTile(AttentionOp op, const GpuInfo &gpu) {
  if (isDecodeAttention(op))
    return getDecodeTile(op.getContext(), gpu);
  RankedTensorType key = op.getKey().getType(), value = op.getValue().getType();
  if (!hasWgmma(key, value, op.getOutput().getType(), gpu))
    return getAttentionTile(key, value, gpu);
  // Several workgroups of 64 rows on a compute unit wait for each other less
  // than one of more rows does, as long as their memory allows several.
  int64_t size = std::max(key.getDimSize(2), value.getDimSize(2));
  if (size <= 64)
    return getWgmmaTile(key, size, 64, 128);
  return getWgmmaTile(key, size, size <= 128 ? 64 : 128, 64);
}

GpuTileAttr gist::selectAttendTile(AttendOp op, const GpuInfo &gpu) {
  RankedTensorType key = op.getKey().getType(), value = op.getValue().getType();
  if (!hasWgmma(key, value, op.getOutput().getType(), gpu))
    return getAttentionTile(key, value, gpu);
  // Rows of a workgroup share what it counts, and the tokens it looks through.
  int64_t size = std::max(key.getDimSize(2), value.getDimSize(2));
  return getWgmmaTile(key, size, 128, 64);
}
