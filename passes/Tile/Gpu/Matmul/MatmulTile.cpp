//===- MatmulTile.cpp - How products are cut on GPUs ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/ProductCost.h"
#include "passes/Tile/Gpu/Core/Wgmma.h"
#include "passes/Tile/Gpu/Matmul/FewRows.h"
#include "passes/Tile/Gpu/Matmul/Matmul.h"
#include "passes/Tile/Gpu/Matmul/ProductParts.h"

using namespace mlir;
using namespace gist;

namespace {
/// A row of the table of tiles.
struct MatmulTile {
  GpuKind kind;
  /// The products it is for: the most rows and the fewest columns.
  int64_t maxRows, minColumns;
  int64_t rows, columns, depth, waves[2], stages;
  Instruction instruction;
  /// On gfx942, the part of a main loop's time in which the matrix unit works
  /// (docs/performance/gfx942.md).
  double share = 0;
};
} // namespace

static constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
/// Rows that one fragment of gfx942 has: more do not make such a product
/// slower.
static constexpr int64_t kFewRows = 32;
/// Columns from which on large tiles are enough workgroups for a GPU.
static constexpr int64_t kWide = 2048;

/// The first row that fits is taken. An unknown number of rows counts as large.
static constexpr MatmulTile kTiles[] = {
    // Few rows: whole columns of fragments, and many workgroups.
    {GpuKind::Amd,
     kFewRows,
     0,
     32,
     64,
     64,
     {1, 2},
     2,
     Instruction::Mfma32x32x8},
    {GpuKind::Nvidia,
     kFewRows,
     0,
     32,
     64,
     64,
     {1, 4},
     4,
     Instruction::Mma16x8x16},
    // 32 instructions of a wave for each barrier hide what a step costs
    // besides.
    {GpuKind::Amd,
     kAny,
     kWide,
     128,
     256,
     32,
     {2, 2},
     2,
     Instruction::Mfma32x32x8,
     .77},
    // Narrow results: smaller tiles, so that there are enough of them.
    {GpuKind::Amd,
     kAny,
     0,
     64,
     64,
     64,
     {2, 2},
     2,
     Instruction::Mfma32x32x8,
     .3},
};

/// How much cheaper by the model of costs small tiles have to be to be taken
/// for wide results: the model was not compared with a card.
static constexpr double kClearlyCheaper = .8;

/// Whether the last row of the table is clearly cheaper than `tile`.
static bool isNarrowCheaper(const MatmulTile &tile, RankedTensorType x,
                            RankedTensorType w, const GpuInfo &gpu) {
  const MatmulTile &narrow = kTiles[std::size(kTiles) - 1];
  if (tile.share == 0 || tile.share == narrow.share)
    return false;
  auto getCost = [&](const MatmulTile &cut) {
    return getProductCut(x, w, {cut.rows, cut.columns}, cut.depth, cut.stages)
        .getCost(cut.share, gpu);
  };
  return getCost(narrow) < kClearlyCheaper * getCost(tile);
}

/// Rows of x up to which every row of W is multiplied as it is read.
static constexpr int64_t kGemvRows = 8;
/// Numbers of a row of W that a lane reads at once: a block, or 16 bytes of
/// f16; what Operand::getPiece says.
static constexpr int64_t kBlockPiece = 32, kPlainPiece = 8;
/// Waves of a workgroup: rows of W are shared evenly, and many workgroups hide
/// the latency of those that wait.
static constexpr int64_t kGemvWaves = 4;
/// Workgroups of a compute unit that hide the time of loads.
static constexpr int64_t kWorkgroupsOfUnit = 8;
/// Rows of W that a lane reads at once, at most; sums of more take registers
/// that loads need.
static constexpr int64_t kMaxEach = 4;
/// Pieces of a row of W that a lane of sm_90 reads at once, at most.
static constexpr int64_t kMaxSteps = 4;
/// Pieces that each lane has to have before another wave shares a row.
static constexpr int64_t kSharedPieces = 4;

static GpuGemvAttr getGemvTile(MLIRContext *context, RankedTensorType weight,
                               int64_t rows, int64_t piece, bool isPaired,
                               const GpuInfo &gpu) {
  int64_t columns = weight.getDimSize(0), depth = weight.getDimSize(1);
  // As many lanes for a row of W as have something to read.
  int64_t pieces = llvm::divideCeil(depth, piece);
  int64_t lanes = std::min<int64_t>(
      gpu.waveSize, llvm::bit_floor<uint64_t>(std::max<int64_t>(pieces, 1)));
  int64_t groups = gpu.waveSize / lanes;
  // Rows of W that a lane reads at once, as long as every compute unit has
  // several workgroups; where there are not even enough waves, they share k.
  int64_t enough = gpu.computeUnits * kWorkgroupsOfUnit;
  int64_t each = kMaxEach, least = isPaired ? 2 : 1;
  while (each > least && columns / (each * groups * kGemvWaves) < enough)
    each /= 2;
  int64_t wavesOfK = 1;
  while (wavesOfK < kGemvWaves &&
         pieces / (lanes * wavesOfK) >= kSharedPieces &&
         columns / (each * groups * (kGemvWaves / wavesOfK)) < enough)
    wavesOfK *= 2;
  int64_t wavesOfRows = kGemvWaves / wavesOfK;
  // While one piece is multiplied, the next is in flight, if there is one. If a
  // lane has only a few pieces, all are in flight at once, before x is
  // available.
  int64_t ofLane = llvm::divideCeil(pieces, lanes * wavesOfK);
  int64_t steps = pieces / (lanes * wavesOfK) >= 2 ? 2 : 1;
  if (gpu.kind == GpuKind::Nvidia && ofLane <= kMaxSteps)
    steps = ofLane;
  return GpuGemvAttr::get(context, rows, each * groups * wavesOfRows, lanes,
                          {wavesOfRows, wavesOfK}, steps, /*matrix=*/false);
}

/// Numbers of k that a wave has for itself, counted in steps of all lanes,
/// before another wave shares them; waves, at most.
static constexpr int64_t kStepsOfWave = 4, kFewRowsWaves = 8;
/// Steps whose loads are in flight at once: all of up to `kAllSteps`, else as
/// many as hide the latency of loads.
static constexpr int64_t kAllSteps = 6, kStepsAtOnce = 4, kBlockSteps = 2;
/// Lanes that share a row of W there.
static constexpr int64_t kFewRowsLanes = 4;
/// Columns of a fragment, and tiles of a compute unit from which on a workgroup
/// has two: x is then read half as often.
static constexpr int64_t kFragmentColumns = 16, kTilesOfUnit = 4;

/// The tile of a product of up to 16 rows by matrix instructions.
static GpuGemvAttr getFewRowsTile(MLIRContext *context, RankedTensorType weight,
                                  int64_t piece, const GpuInfo &gpu) {
  int64_t columns = weight.getDimSize(0), depth = weight.getDimSize(1);
  constexpr int64_t lanes = kFewRowsLanes;
  int64_t steps = llvm::divideCeil(depth, lanes * piece);
  int64_t waves = std::clamp<int64_t>(
      llvm::bit_floor<uint64_t>(steps / kStepsOfWave), 1, kFewRowsWaves);
  steps = llvm::divideCeil(steps, waves);
  if (piece != kPlainPiece)
    steps = std::min(steps, kBlockSteps);
  else if (steps > kAllSteps)
    steps = kStepsAtOnce;
  bool isWide = columns >= kFragmentColumns * kTilesOfUnit * gpu.computeUnits;
  return GpuGemvAttr::get(context, kMatrixRows,
                          (isWide ? 2 : 1) * kFragmentColumns, lanes,
                          {1, waves}, steps, /*matrix=*/true);
}

/// Numbers of 8 bits of k in a step of gfx942, where sums are scaled by blocks.
static constexpr int64_t kBlockDepth = 64;

/// Steps of a block that are written out, at most.
static constexpr int64_t kMaxStepsOfBlock = 8;
/// Products of integers of 8 bits that can be added up in 32.
static constexpr int64_t kMaxSums = 1 << 17;

/// The cheapest tile of wgmma by the model of costs.
static GpuProductAttr getWgmmaTile(MLIRContext *context,
                                   const ProductSize &size, Type element,
                                   const GpuInfo &gpu) {
  ProductTile tile = chooseProductTile(size, gpu);
  int64_t depth = Wgmma::kTileBytes * 8 / element.getIntOrFloatBitWidth();
  return GpuProductAttr::get(context, tile.rows, tile.columns, depth,
                             {tile.getWarps(), 1}, tile.stages,
                             Instruction::Wgmma64x128x16, element);
}

static int64_t getRowSize(ScaledMatmulOp product) {
  return product.getValues().getType().getDimSize(1);
}

/// What a tile of wgmma has beside totals.
static BlockSums getSumsBesideTotals(ScaledMatmulOp product) {
  if (!product.hasBlocks())
    return BlockSums::None;
  return product.getValues().getType().getElementType().isInteger()
             ? BlockSums::Integers
             : BlockSums::Floats;
}

GpuTileInterface gist::selectScaledTile(ScaledMatmulOp product,
                                        const GpuInfo &gpu) {
  MLIRContext *context = product.getContext();
  auto weight = product.getWeight().getType();
  Type element = weight.getElementType();
  int64_t columns = weight.getDimSize(0);
  int64_t rows = product.getValues().getType().getDimSize(0);
  if (gpu.kind == GpuKind::Nvidia)
    return getWgmmaTile(context,
                        {ShapedType::isDynamic(rows) ? -1 : rows, columns,
                         weight.getDimSize(1), /*bytes=*/1,
                         getSumsBesideTotals(product)},
                        element, gpu);
  // Sums and totals of a wave's part are 128 registers where results are wide:
  // a compute unit has two workgroups.
  int64_t size = columns >= kWide ? 128 : 64;
  int64_t width = columns >= kWide && !product.hasBlocks() ? 2 * size : size;
  return GpuProductAttr::get(context, size, width, kBlockDepth, {2, 2},
                             /*stages=*/2, Instruction::Mfma32x32x8, element);
}

LogicalResult gist::verifyScaledTile(ScaledMatmulOp product,
                                     GpuProductAttr tile, const GpuInfo &gpu) {
  auto block = static_cast<int64_t>(product.getBlock());
  int64_t depth = tile.getDepth();
  Type element = product.getValues().getType().getElementType();
  if (tile.getElement() != element)
    return product.emitOpError("expects a tile of ")
           << element << ", which it multiplies; got " << tile;
  if (element.isInteger() && std::min(block, getRowSize(product)) > kMaxSums)
    return product.emitOpError("adds up ")
           << block << " products as integers and expects at most " << kMaxSums;
  // Steps of a block are written out. Four warps have those of one block in
  // workgroup memory while those of the next one arrive.
  int64_t most =
      gpu.kind == GpuKind::Amd ? kMaxStepsOfBlock : tile.getStages() / 2;
  if (product.hasBlocks() && (block % depth != 0 || block / depth > most))
    return product.emitOpError("has blocks of ")
           << block << " and expects a tile whose depth divides that into at "
           << "most " << most << " steps; got " << tile;
  if (!product.getWeight().getType().hasStaticShape())
    return product.emitOpError("expects a weight of static size, got ")
           << product.getWeight().getType();
  return success();
}

GpuTileInterface gist::selectMatmulTile(linalg::LinalgOp product,
                                        const GpuInfo &gpu) {
  MLIRContext *context = product.getContext();
  Value left = product.getDpsInputs()[0], right = product.getDpsInputs()[1];
  auto weight = cast<RankedTensorType>(right.getType());
  int64_t rows = cast<RankedTensorType>(left.getType()).getDimSize(0);
  int64_t columns = weight.getDimSize(0);
  bool areRowsKnown = !ShapedType::isDynamic(rows);
  int64_t piece =
      right.getDefiningOp<DequantizeOp>() ? kBlockPiece : kPlainPiece;
  if (areRowsKnown && rows > 0 && rows <= kGemvRows)
    return getGemvTile(context, weight, rows, piece, isPaired(product), gpu);
  if (std::optional<int64_t> most = getMaxRows(product);
      most && *most <= kMatrixRows)
    return getFewRowsTile(context, weight, piece, gpu);

  Type element = Float16Type::get(context);
  for (Value operand : {left, right})
    if (getElementTypeOrSelf(operand).isBF16())
      element = BFloat16Type::get(context);
  // Where there are more than a few rows, four warps multiply at once.
  if (gpu.kind == GpuKind::Nvidia && !(areRowsKnown && rows <= kFewRows))
    return getWgmmaTile(
        context, {areRowsKnown ? rows : -1, columns, weight.getDimSize(1)},
        element, gpu);
  for (const MatmulTile &tile : kTiles)
    if (tile.kind == gpu.kind && columns >= tile.minColumns &&
        (tile.maxRows == kAny || (areRowsKnown && rows <= tile.maxRows)) &&
        !isNarrowCheaper(tile, cast<RankedTensorType>(left.getType()), weight,
                         gpu))
      return GpuProductAttr::get(context, tile.rows, tile.columns, tile.depth,
                                 tile.waves, tile.stages, tile.instruction,
                                 element);
  llvm_unreachable("the last row of the table fits every product on gfx942");
}
