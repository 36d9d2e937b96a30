//===- MatmulTile.cpp - How products are cut on GPUs ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Matmul/Matmul.h"

using namespace mlir;
using namespace gist;

namespace {
/// A row of the table of tiles.
struct MatmulTile {
  GpuKind kind;
  /// It is for products of up to so many rows and of at least so many columns.
  int64_t rows, columns;
  int64_t workgroup[2], depth, waves[2], stages;
  Instruction instruction;
};
} // namespace

static constexpr int64_t kAny = std::numeric_limits<int64_t>::max();

/// The first row that fits is taken. A number of rows that is not known counts
/// as many.
static constexpr MatmulTile kTiles[] = {
    // Few rows: whole columns of fragments, and many workgroups.
    {GpuKind::Amd, 32, 0, {32, 64}, 64, {1, 2}, 2, Instruction::Mfma32x32x8},
    {GpuKind::Nvidia, 32, 0, {32, 64}, 64, {1, 4}, 4, Instruction::Mma16x8x16},
    // 32 instructions of a wave for each barrier hide what a step costs
    // besides.
    {GpuKind::Amd,
     kAny,
     2048,
     {128, 256},
     32,
     {2, 2},
     2,
     Instruction::Mfma32x32x8},
    {GpuKind::Nvidia,
     kAny,
     2048,
     {128, 256},
     64,
     {8, 1},
     4,
     Instruction::Wgmma64x128x16},
    // Narrow results: smaller tiles, so that there are enough of them.
    {GpuKind::Amd, kAny, 0, {64, 64}, 64, {2, 2}, 2, Instruction::Mfma32x32x8},
    {GpuKind::Nvidia,
     kAny,
     0,
     {64, 64},
     64,
     {2, 2},
     4,
     Instruction::Mma16x8x16},
};

/// Rows of x up to which every row of W is multiplied as it is read.
static constexpr int64_t kGemvRows = 8;

static GpuTileAttr getGemvTile(MLIRContext *context, RankedTensorType weight,
                               int64_t rows, int64_t piece,
                               const GpuInfo &gpu) {
  int64_t columns = weight.getDimSize(0), depth = weight.getDimSize(1);
  // As many lanes for a row of W as have something to read.
  int64_t pieces = llvm::divideCeil(depth, piece);
  int64_t lanes = std::min<int64_t>(
      gpu.waveSize, llvm::bit_floor<uint64_t>(std::max<int64_t>(pieces, 1)));
  int64_t groups = gpu.waveSize / lanes;
  constexpr int64_t kWaves = 4;
  // Rows of W that a lane reads at once, as long as every compute unit has
  // several workgroups; where there are not even enough waves, they share k.
  int64_t enough = gpu.computeUnits * 8;
  int64_t each = 4;
  while (each > 1 && columns / (each * groups * kWaves) < enough)
    each /= 2;
  int64_t wavesOfK = 1;
  while (wavesOfK < kWaves && pieces / (lanes * wavesOfK) >= 4 &&
         columns / (each * groups * (kWaves / wavesOfK)) < enough)
    wavesOfK *= 2;
  int64_t wavesOfRows = kWaves / wavesOfK;
  int64_t steps = pieces / (lanes * wavesOfK) >= 2 ? 2 : 1;
  return GpuTileAttr::get(context, {rows, each * groups * wavesOfRows},
                          lanes * piece, {wavesOfRows, wavesOfK}, steps,
                          Instruction::Fma, Float32Type::get(context));
}

GpuTileAttr gist::selectMatmulTile(linalg::LinalgOp product,
                                   const GpuInfo &gpu) {
  MLIRContext *context = product.getContext();
  Value left = product.getDpsInputs()[0], right = product.getDpsInputs()[1];
  auto weight = cast<RankedTensorType>(right.getType());
  int64_t rows = cast<RankedTensorType>(left.getType()).getDimSize(0);
  int64_t columns = weight.getDimSize(0);
  if (!ShapedType::isDynamic(rows) && rows <= kGemvRows)
    return getGemvTile(context, weight, rows,
                       right.getDefiningOp<DequantizeOp>() ? 32 : 8, gpu);

  Type element = Float16Type::get(context);
  for (Value operand : {left, right})
    if (getElementTypeOrSelf(operand).isBF16())
      element = BFloat16Type::get(context);
  for (const MatmulTile &tile : kTiles)
    if (tile.kind == gpu.kind && columns >= tile.columns &&
        (tile.rows == kAny ||
         (!ShapedType::isDynamic(rows) && rows <= tile.rows)))
      return GpuTileAttr::get(context, tile.workgroup, tile.depth, tile.waves,
                              tile.stages, tile.instruction, element);
  llvm_unreachable("the last rows of the table fit every product");
}
