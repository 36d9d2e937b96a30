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

#include "passes/Cost/DecodeSplit.h"
#include "passes/Tile/Gpu/Attention/Attention.h"
#include "passes/Tile/Gpu/Core/Wgmma.h"

using namespace mlir;
using namespace gist;

/// Rows of a workgroup by instructions of a wave: 32 for each of four waves, or
/// 16 for each of eight.
static constexpr int64_t kRows = 128;
/// Keys of a step where nothing else bounds them.
static constexpr int64_t kKeys = 64;
/// Rows of a warp, of the four that multiply 64 rows together.
static constexpr int64_t kRowsOfWarp = Wgmma::kRows / Wgmma::kWarps;
/// One step is multiplied while the next one is loaded.
static constexpr int64_t kStages = 2;

/// The type that is multiplied for numbers of type `element`.
static Type getMultiplied(Type element) {
  return element.isF32() ? Float16Type::get(element.getContext()) : element;
}

GpuAttentionAttr gist::getAttentionTile(RankedTensorType key,
                                        RankedTensorType value,
                                        const GpuInfo &gpu) {
  MLIRContext *context = key.getContext();
  Type element = getMultiplied(key.getElementType());
  int64_t size = std::max(key.getShape().back(), value.getShape().back());
  if (gpu.kind == GpuKind::Amd) {
    // Steps of heads up to 32 are short: twice the keys. Longer heads than 64
    // leave registers for half of them. What is loaded as f32 takes twice the
    // registers.
    bool isWide = key.getElementType().isF32();
    int64_t keys = size <= 32 && !isWide ? 2 * kKeys
                   : size <= 64          ? kKeys
                                         : kKeys / 2;
    return GpuAttentionAttr::get(context, kRows, keys, /*num_waves=*/4, kStages,
                                 Instruction::Mfma32x32x8, element);
  }
  // Waves of 32 rows where registers allow it.
  int64_t waves = size <= 64 ? 4 : 8;
  return GpuAttentionAttr::get(context, kRows, kKeys, waves, kStages,
                               Instruction::Mma16x8x16, element);
}

GpuDecodeAttr gist::getDecodeTile(MLIRContext *context, const GpuInfo &gpu) {
  // A workgroup reads all keys of a head.
  return GpuDecodeAttr::get(context, kDecodeThreads / gpu.waveSize);
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

static GpuAttentionAttr getWgmmaTile(RankedTensorType key, int64_t rows,
                                     int64_t keys) {
  return GpuAttentionAttr::get(key.getContext(), rows, keys, rows / kRowsOfWarp,
                               kStages, Instruction::Wgmma64x128x16,
                               key.getElementType());
}

GpuAttentionAttr gist::getCausalTile(RankedTensorType key,
                                     RankedTensorType value,
                                     RankedTensorType output,
                                     const GpuInfo &gpu) {
  if (!hasWgmma(key, value, output, gpu))
    return getAttentionTile(key, value, gpu);
  // Several workgroups of 64 rows on a compute unit wait for each other less
  // than one of more rows does, as long as their memory allows several.
  int64_t size = std::max(key.getShape().back(), value.getShape().back());
  if (size <= 64)
    return getWgmmaTile(key, Wgmma::kRows, 2 * kKeys);
  return getWgmmaTile(key, size <= 128 ? Wgmma::kRows : 2 * Wgmma::kRows,
                      kKeys);
}

GpuAttentionAttr gist::selectAttentionTile(AttentionOp op, const GpuInfo &gpu) {
  return getCausalTile(op.getKey().getType(), op.getValue().getType(),
                       op.getOutput().getType(), gpu);
}

GpuAttentionAttr gist::selectAttendTile(AttendOp op, const GpuInfo &gpu) {
  RankedTensorType key = op.getKey().getType(), value = op.getValue().getType();
  if (!hasWgmma(key, value, op.getOutput().getType(), gpu))
    return getAttentionTile(key, value, gpu);
  // Rows of a workgroup share what it counts, and the tokens it looks through.
  return getWgmmaTile(key, 2 * Wgmma::kRows, kKeys);
}

LogicalResult gist::verifyAttentionTile(func::FuncOp kernel,
                                        RankedTensorType key,
                                        RankedTensorType value,
                                        RankedTensorType output,
                                        const GpuInfo &gpu) {
  if (failed(expectTile<GpuAttentionAttr>(kernel)))
    return failure();
  auto tile = cast<GpuAttentionAttr>(kernel->getAttr(kTileAttr));
  if (failed(verifyInstruction(kernel, tile.getInstruction(), gpu)))
    return failure();
  bool isWgmma = tile.getInstruction() == Instruction::Wgmma64x128x16;
  if (isWgmma && (!hasWgmma(key, value, output, gpu) ||
                  tile.getElement() != key.getElementType()))
    return kernel.emitOpError("cannot multiply ")
           << key << " and " << value << " into " << output << " by "
           << stringifyInstruction(tile.getInstruction()) << " of "
           << tile.getElement();
  return success();
}
