//===- CpuEntries.cpp - How kernels are cut on CPUs -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistClusterOps.h"
#include "dialect/GistExpertOps.h"
#include "passes/Kernel/ScaledRows.h"
#include "passes/Kernel/Selections.h"
#include "passes/Tile/Cpu/AmxMatmul.h"
#include "passes/Tile/Cpu/AttentionLoops.h"
#include "passes/Tile/Cpu/Bf16Matmul.h"
#include "passes/Tile/Cpu/ClusterCache.h"
#include "passes/Tile/Cpu/CpuKernel.h"
#include "passes/Tile/Cpu/Experts.h"
#include "passes/Tile/Cpu/PanelMatmul.h"
#include "passes/Tile/Cpu/Selection.h"

#include <array>

using namespace mlir;
using namespace gist;

namespace gist {
#define GIST_CPU_KERNEL(kind, entry) extern const CpuKernelEntry entry;
#include "passes/Tile/Cpu/CpuKernels.def"
#undef GIST_CPU_KERNEL
} // namespace gist

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static CpuTileInterface
chooseRows(func::FuncOp kernel, const TargetInfo &target, const CpuChoices &) {
  return CpuRowsAttr::get(kernel.getContext(), target.rows, target.lanes);
}

const CpuKernelEntry gist::kCpuRowsKernel = {
    .choose = chooseRows,
    .distribute = distributeRows,
    .verify = expectTile<CpuRowsAttr>,
};

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The least share of the limit that is taken for columns that divide a result:
/// smaller tiles cost more than an uneven end.
static constexpr int64_t kLeastShare = 4;

/// The largest multiple of `unit` up to `limit` that divides `size`, or
/// `limit` when only smaller ones than a quarter of it do.
static int64_t getDividingTile(int64_t size, int64_t unit, int64_t limit) {
  if (ShapedType::isDynamic(size))
    return limit;
  // Tiles that divide the result leave no narrower last workgroup.
  for (int64_t tile = limit; tile >= std::max(unit, limit / kLeastShare);
       tile -= unit)
    if (size % tile == 0)
      return tile;
  return size < limit ? llvm::divideCeilSigned(size, unit) * unit : limit;
}

/// How a product is cut. The columns of a workgroup keep its part of the
/// weight in the first cache; its rows reuse that part.
static CpuProductAttr getMatmulTile(MLIRContext *context,
                                    const MatmulShape &shape, int64_t lanes,
                                    int64_t columns, int64_t unit,
                                    int64_t limit, Instruction instruction) {
  return CpuProductAttr::get(
      context, shape.workgroupRows, getDividingTile(columns, unit, limit),
      {shape.registerRows, shape.registerColumns}, lanes, instruction);
}

/// Float products whose lanes are partial sums, on targets whose products of
/// many rows have a column in every lane.
static constexpr MatmulShape kPartialSums = {32, 64, 4, 4};

static const MatmulShape &getFloatShape(const TargetInfo &target,
                                        bool arePanelsFilled) {
  bool hasPanels =
      target.floatShape.registerColumns == kPanelVectors * target.lanes;
  return hasPanels && !arePanelsFilled ? kPartialSums : target.floatShape;
}

static CpuProductAttr getFloatMatmulTile(Operation *product,
                                         const TargetInfo &target,
                                         bool arePanelsFilled) {
  auto type = cast<RankedTensorType>(product->getResult(0).getType());
  const MatmulShape &shape = getFloatShape(target, arePanelsFilled);
  return getMatmulTile(product->getContext(), shape, target.lanes,
                       type.getDimSize(1), shape.registerColumns,
                       shape.workgroupColumns, Instruction::Fma);
}

/// Whether a product has rows that can share panels of its weight.
static bool arePanelsFilled(linalg::LinalgOp product,
                            const TargetInfo &target) {
  auto getType = [&](int64_t number) {
    return cast<RankedTensorType>(
        product.getDpsInputOperand(number)->get().getType());
  };
  return getType(0).getDimSize(0) != 1 && getType(1).hasStaticShape() &&
         getType(1).getDimSize(0) >= target.floatShape.registerColumns &&
         getPanelDepth(product.getDpsInputOperand(1)->get(), target.lanes) != 0;
}

/// Scratch that a product by tiles may take: what -gist-place-buffers gives a
/// kernel, less what follows the product.
static constexpr int64_t kMostScratch = 768 << 10;

static LogicalResult verifyProduct(func::FuncOp kernel) {
  if (failed(expectTile<CpuProductAttr>(kernel)))
    return failure();
  auto tile = cast<CpuProductAttr>(kernel->getAttr(kTileAttr));
  if (tile.getInstruction() == Instruction::Fma)
    return success();
  return kernel.emitError("expects fma for a product of floats, got ") << tile;
}

/// Numbers of bf16 along the reduction of a tile, and rows of the weight that
/// four tiles of sums have.
static constexpr int64_t kBf16Step = 32;
/// The least depth that pays for adding sums to the result, unless it is all.
static constexpr int64_t kLeastBf16Depth = 128;

/// Whether a product is one that tiles of bf16 can compute: many rows, and an
/// f16 or bf16 weight of sizes that fill tiles.
static bool isForBf16(linalg::LinalgOp product) {
  auto x =
      cast<RankedTensorType>(product.getDpsInputOperand(0)->get().getType());
  auto w =
      cast<RankedTensorType>(product.getDpsInputOperand(1)->get().getType());
  return w.hasStaticShape() && w.getDimSize(0) % kBf16Step == 0 &&
         w.getDimSize(1) % kBf16Step == 0 &&
         (w.getElementType().isF16() || w.getElementType().isBF16()) &&
         x.getDimSize(0) != 1 && isa<FloatType>(x.getElementType()) &&
         x.getElementTypeBitWidth() <= 32 &&
         getElementTypeOrSelf(product->getResult(0)).isF32();
}

/// Float products of many rows by tiles; null if the target has no tile unit or
/// the sizes do not fit.
static CpuBf16ProductAttr getBf16Tile(linalg::LinalgOp product,
                                      const TargetInfo &target) {
  const Bf16Shape &shape = target.bf16Shape;
  if (!shape.rows || !isForBf16(product))
    return {};
  auto getElement = [&](int64_t number) {
    return getElementTypeOrSelf(product.getDpsInputOperand(number)->get());
  };
  auto w =
      cast<RankedTensorType>(product.getDpsInputOperand(1)->get().getType());
  int64_t depth = std::min(shape.depth, w.getDimSize(1));
  while (w.getDimSize(1) % depth)
    depth -= kBf16Step;
  if (depth < std::min(kLeastBf16Depth, w.getDimSize(1)))
    return {};
  int64_t parts[] = {getElement(0).isBF16() ? 1 : 2,
                     getElement(1).isBF16() ? 1 : 2};
  return CpuBf16ProductAttr::get(
      product->getContext(), shape.rows,
      getDividingTile(w.getDimSize(0), kBf16Step, shape.columns), depth, parts);
}

static LogicalResult verifyBf16Product(func::FuncOp kernel) {
  auto tile = cast<CpuBf16ProductAttr>(kernel->getAttr(kTileAttr));
  linalg::LinalgOp product = findTransposedMatmul(kernel);
  auto w =
      cast<RankedTensorType>(product.getDpsInputOperand(1)->get().getType());
  if (!isForBf16(product))
    return kernel.emitError("expects a product of several rows with an f16 or "
                            "bf16 weight of multiples of ")
           << kBf16Step << ", summed in f32, for " << tile;
  if (w.getDimSize(1) % tile.getDepth() != 0)
    return kernel.emitError("expects a depth that divides ")
           << w.getDimSize(1) << ", got " << tile.getDepth();
  if (getBf16Scratch(tile) > kMostScratch)
    return kernel.emitError("expects rows and a depth that take at most ")
           << kMostScratch << " bytes of scratch, got " << getBf16Scratch(tile);
  return success();
}

static FailureOr<scf::ForallOp> distributeProduct(RewriterBase &rewriter,
                                                  func::FuncOp kernel) {
  if (auto tile = kernel->getAttrOfType<CpuBf16ProductAttr>(kTileAttr))
    return distributeTail(rewriter, kernel,
                          {tile.getRows(), tile.getColumns()});
  auto tile = cast<CpuProductAttr>(kernel->getAttr(kTileAttr));
  return distributeTail(rewriter, kernel, {tile.getRows(), tile.getColumns()});
}

// A contraction that is not x W^T is computed on whole rows.
const CpuKernelEntry gist::kCpuMatmulKernel = {
    .choose = [](func::FuncOp kernel, const TargetInfo &target,
                 const CpuChoices &choices) -> CpuTileInterface {
      if (linalg::LinalgOp product = findTransposedMatmul(kernel)) {
        if (CpuBf16ProductAttr tiled = getBf16Tile(product, target))
          return tiled;
        return getFloatMatmulTile(product, target,
                                  arePanelsFilled(product, target));
      }
      return chooseRows(kernel, target, choices);
    },
    .distribute = [](RewriterBase &rewriter,
                     func::FuncOp kernel) -> FailureOr<scf::ForallOp> {
      return findTransposedMatmul(kernel) ? distributeProduct(rewriter, kernel)
                                          : distributeRows(rewriter, kernel);
    },
    .verify = [](func::FuncOp kernel) -> LogicalResult {
      if (!findTransposedMatmul(kernel))
        return expectTile<CpuRowsAttr>(kernel);
      if (isa_and_nonnull<CpuBf16ProductAttr>(kernel->getAttr(kTileAttr)))
        return verifyBf16Product(kernel);
      return verifyProduct(kernel);
    },
};

/// Products of many rows by tiles; null if the target has no tile unit or one
/// row already needs too much scratch. The number of rows is halved until the
/// scratch suffices.
static CpuProductAttr getTiledMatmul(QuantizedMatmulOp op,
                                     const TargetInfo &target) {
  PackingAttr packing = op.getPackedAttr();
  const MatmulShape &shape = target.tileShape;
  if (!packing || !shape.workgroupRows || !isPackedForAmx(packing) ||
      op.getType().getDimSize(0) == 1)
    return {};
  int64_t depth = op.getValues().getType().getDimSize(1);
  int64_t rows = shape.workgroupRows;
  while (getAmxScratch(packing, depth, rows) > kMostScratch)
    if ((rows /= 2) < shape.registerRows)
      return {};
  return CpuProductAttr::get(op.getContext(), rows,
                             getDividingTile(op.getType().getDimSize(1),
                                             shape.registerColumns,
                                             shape.workgroupColumns),
                             {shape.registerRows, shape.registerColumns},
                             target.lanes, Instruction::Tdpbsud);
}

/// Whether weights are packed as vpmaddubsw takes them: whole vectors of lanes
/// of four bytes without signs.
static bool isPackedForPairs(PackingAttr packing, int64_t lanes) {
  return packing.getDepth() == 4 && packing.getColumns() % lanes == 0 &&
         !packing.getIsSigned();
}

/// The instruction for products that are not cut into tiles.
static Instruction getIntegerInstruction(PackingAttr packing,
                                         const TargetInfo &target) {
  bool isPaired = target.integerInstruction == Instruction::Vpmaddubsw;
  if (!packing || (isPaired && !isPackedForPairs(packing, target.lanes)))
    return Instruction::Widen;
  return target.integerInstruction;
}

const CpuKernelEntry gist::kCpuGuardedMatmulKernel = {
    .choose = [](func::FuncOp kernel, const TargetInfo &target,
                 const CpuChoices &) -> CpuTileInterface {
      return getFloatMatmulTile(findRoot<GuardedMatmulOp>(kernel), target,
                                /*arePanelsFilled=*/false);
    },
    .distribute = distributeProduct,
    .verify = expectTile<CpuProductAttr>,
};

// Rows that name one of many weights.
template <typename ExpertsOp>
static FailureOr<scf::ForallOp> distributeExpertsOf(RewriterBase &rewriter,
                                                    func::FuncOp kernel) {
  return distributeExperts(rewriter, findRoot<ExpertsOp>(kernel),
                           cast<CpuProductAttr>(kernel->getAttr(kTileAttr)));
}

template <typename ExpertsOp>
static LogicalResult verifyExperts(func::FuncOp kernel) {
  if (failed(expectTile<CpuProductAttr>(kernel)))
    return failure();
  return verifyExpertTile(findRoot<ExpertsOp>(kernel),
                          cast<CpuProductAttr>(kernel->getAttr(kTileAttr)));
}

const CpuKernelEntry gist::kCpuExpertMatmulKernel = {
    .choose = [](func::FuncOp kernel, const TargetInfo &target,
                 const CpuChoices &) -> CpuTileInterface {
      // The rows of an expert are few and would not pay for panels.
      return chooseExpertTile(findRoot<ExpertMatmulOp>(kernel), target,
                              getFloatShape(target, /*arePanelsFilled=*/false),
                              Instruction::Fma);
    },
    .distribute = distributeExpertsOf<ExpertMatmulOp>,
    .verify = verifyExperts<ExpertMatmulOp>,
};

const CpuKernelEntry gist::kCpuQuantizedExpertMatmulKernel = {
    .choose = [](func::FuncOp kernel, const TargetInfo &target,
                 const CpuChoices &) -> CpuTileInterface {
      auto op = findRoot<QuantizedExpertMatmulOp>(kernel);
      return chooseExpertTile(
          op, target, target.integerShape,
          getIntegerInstruction(op.getPackedAttr(), target));
    },
    .prefetch = [](func::FuncOp kernel, const TargetInfo &target) -> int64_t {
      auto op = findRoot<QuantizedExpertMatmulOp>(kernel);
      return op.getPackedAttr() && isOneToken(op) ? target.prefetch : 0;
    },
    .distribute = distributeExpertsOf<QuantizedExpertMatmulOp>,
    .verify = verifyExperts<QuantizedExpertMatmulOp>,
};

const CpuKernelEntry gist::kCpuQuantizedMatmulKernel = {
    .choose = [](func::FuncOp kernel, const TargetInfo &target,
                 const CpuChoices &) -> CpuTileInterface {
      auto op = findRoot<QuantizedMatmulOp>(kernel);
      if (CpuProductAttr tiled = getTiledMatmul(op, target))
        return tiled;
      PackingAttr packing = op.getPackedAttr();
      return getMatmulTile(kernel.getContext(), target.integerShape,
                           target.lanes, op.getType().getDimSize(1),
                           packing ? packing.getColumns() : 1,
                           op.getType().getDimSize(0) == 1
                               ? target.columnsOfOneRow
                               : target.integerShape.workgroupColumns,
                           getIntegerInstruction(packing, target));
    },
    .prefetch = [](func::FuncOp kernel, const TargetInfo &target) -> int64_t {
      // With more rows than one, arithmetic takes longer than memory.
      auto op = findRoot<QuantizedMatmulOp>(kernel);
      bool isOne = op.getPackedAttr() && op.getType().getDimSize(0) == 1;
      return isOne ? target.prefetch : 0;
    },
    .distribute = distributeProduct,
    .verify = [](func::FuncOp kernel) -> LogicalResult {
      if (failed(expectTile<CpuProductAttr>(kernel)))
        return failure();
      auto tile = cast<CpuProductAttr>(kernel->getAttr(kTileAttr));
      PackingAttr packing = findRoot<QuantizedMatmulOp>(kernel).getPackedAttr();
      Instruction instruction = tile.getInstruction();
      if (packing && instruction == Instruction::Tdpbsud &&
          !isPackedForAmx(packing))
        return kernel.emitError("expects weights packed 16 columns wide and 4 "
                                "deep without signs for tdpbsud, got ")
               << packing;
      if (packing && instruction == Instruction::Vpmaddubsw &&
          !isPackedForPairs(packing, tile.getLanes()))
        return kernel.emitError("expects weights packed ")
               << tile.getLanes()
               << " columns wide and 4 deep without signs for vpmaddubsw, got "
               << packing;
      return success();
    },
};

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// bfmmla takes operands of 2 x 4, two of them at once: heads are a multiple of
/// this.
static constexpr int64_t kPairedNumbers = 8;
/// Rows whose sums stay in registers with bfmmla: four pairs by four pairs of
/// keys are 16 of 32 vector registers.
static constexpr int64_t kPairedRows = 8;
/// Numbers of a head at most: code for pairs has an instruction for every four,
/// for each pair of rows and of keys, and compiling a thousand takes minutes.
static constexpr int64_t kMaxPairedHead = 256;

/// The types of query, key and value as they are stored; none where it is
/// another op.
static std::array<RankedTensorType, 3> getTypes(Operation *attention) {
  auto stored = [](TypedValue<RankedTensorType> rows) {
    return rows.getType().clone(getStoredElement(rows));
  };
  if (auto op = dyn_cast_or_null<AttentionOp>(attention))
    return {op.getQuery().getType(), stored(op.getKey()),
            stored(op.getValue())};
  if (auto op = dyn_cast_or_null<ClusterAttentionOp>(attention))
    return {op.getQuery().getType(), op.getKeys().getType(),
            op.getValues().getType()};
  return {};
}

/// Whether code for pairs of rows stays small.
static bool hasPairedHeads(Operation *attention) {
  auto [query, key, value] = getTypes(attention);
  return !query || (key.getShape().back() <= kMaxPairedHead &&
                    value.getShape().back() <= kMaxPairedHead);
}

/// Whether attention has many queries, in numbers that lose little in bf16, and
/// heads that fill operands of two by four.
static bool isPairable(Operation *attention) {
  auto [query, key, value] = getTypes(attention);
  if (!query)
    return false;
  return query.isDynamicDim(0) && !key.getElementType().isF32() &&
         key.getShape().back() % kPairedNumbers == 0 &&
         value.getShape().back() % kPairedNumbers == 0;
}

/// Whether tiles of AMX can compute attention that is pairable: heads fill
/// tiles, and no mask says for each query and key what is added.
static bool isForTiles(Operation *attention) {
  auto isWhole = [](RankedTensorType type) {
    return type.getShape().back() % kBf16Step == 0;
  };
  if (auto op = dyn_cast<AttentionOp>(attention))
    return !op.getMask() && isWhole(op.getKey().getType()) &&
           isWhole(op.getValue().getType());
  auto op = cast<ClusterAttentionOp>(attention);
  return isWhole(op.getKeys().getType()) && isWhole(op.getValues().getType());
}

Operation *gist::findAttention(func::FuncOp kernel) {
  if (Operation *attention = findRoot<AttentionOp>(kernel))
    return attention;
  return findRoot<ClusterAttentionOp>(kernel);
}

static CpuAttentionAttr getAttentionTile(MLIRContext *context,
                                         const TargetInfo &target) {
  return CpuAttentionAttr::get(
      context, target.attention.queries, target.attention.keys,
      target.floatShape.registerRows, target.lanes, Instruction::Fma);
}

/// Refuses attention that would fall back to its definition: the scores would
/// then need memory for every key, and the number of keys has no static bound.
static LogicalResult verifyAttention(AttentionOp op) {
  RankedTensorType key = op.getKey().getType();
  if (!key.isDynamicDim(0))
    return success();
  if (op.getOffsets())
    return op.emitOpError("reads a ragged batch, for which there is no CPU "
                          "kernel");
  if (!isAttentionVectorizable(key, op.getValue().getType()))
    return op.emitOpError("has heads whose size is not a multiple of 4 "
                          "numbers");
  return success();
}

/// Cuts queries, KV heads, of which a workgroup has one, and where there is
/// memory for it, keys.
static FailureOr<scf::ForallOp> distributeAttention(RewriterBase &rewriter,
                                                    func::FuncOp kernel) {
  Operation *attention = findAttention(kernel);
  RankedTensorType query = getTypes(attention)[0];
  int64_t queries;
  if (auto tiles = kernel->getAttrOfType<CpuAmxAttentionAttr>(kTileAttr)) {
    queries = tiles.getQueries();
  } else {
    queries = cast<CpuAttentionAttr>(kernel->getAttr(kTileAttr)).getQueries();
    // Where queries are fewer than a tile, their number stays known.
    if (query && !query.isDynamicDim(0))
      queries = std::clamp<int64_t>(query.getDimSize(0), 1, queries);
  }
  FailureOr<scf::ForallOp> forall =
      distributeTail(rewriter, kernel, {queries, 1});
  if (failed(forall) || getKernelAttr(kernel).getScratch() == 0)
    return forall;
  return cutKeys(rewriter, kernel, *forall);
}

// Dense attention, and that on a cache of clusters.
const CpuKernelEntry gist::kCpuAttentionKernel = {
    .choose = [](func::FuncOp kernel, const TargetInfo &target,
                 const CpuChoices &choices) -> CpuTileInterface {
      MLIRContext *context = kernel.getContext();
      Operation *attention = findAttention(kernel);
      if (choices.isReduced && target.bf16Shape.rows && isPairable(attention) &&
          isForTiles(attention))
        return CpuAmxAttentionAttr::get(context, target.attention.queries,
                                        target.attention.keys);
      if (choices.isReduced && isPairable(attention) &&
          hasPairedHeads(attention) &&
          target.attentionInstruction == Instruction::Bfmmla)
        return CpuAttentionAttr::get(context, target.attention.queries,
                                     target.attention.keys, kPairedRows,
                                     target.lanes, Instruction::Bfmmla);
      return getAttentionTile(context, target);
    },
    .prefetch = [](func::FuncOp kernel, const TargetInfo &target) -> int64_t {
      // The rows of a KV head lie between those of others, and CPUs that fetch
      // by themselves fetch these too. In a cache of clusters they do not.
      auto op = findRoot<AttentionOp>(kernel);
      bool isOne = op && op.getQuery().getType().getDimSize(0) == 1;
      // Measured on x86 alone.
      bool isX86 = StringRef(target.name).starts_with("x86_64");
      return isOne && isX86 ? target.attention.keys : 0;
    },
    .distribute = distributeAttention,
    .verify = [](func::FuncOp kernel) -> LogicalResult {
      auto dense = findRoot<AttentionOp>(kernel);
      if (dense && failed(verifyAttention(dense)))
        return failure();
      Operation *attention = findAttention(kernel);
      auto tiles = kernel->getAttrOfType<CpuAmxAttentionAttr>(kTileAttr);
      if (!tiles) {
        if (failed(expectTile<CpuAttentionAttr>(kernel)))
          return failure();
        auto tile = kernel->getAttrOfType<CpuAttentionAttr>(kTileAttr);
        // No step has keys of two parts.
        if (getKernelAttr(kernel).getScratch() > 0 &&
            kPartKeys % tile.getKeys() != 0)
          return kernel.emitError("expects a step of keys to divide a part, ")
                 << kPartKeys << " keys, got " << tile;
        if (tile.getInstruction() == Instruction::Fma ||
            hasPairedHeads(attention))
          return success();
        return kernel.emitError("expects heads of at most ")
               << kMaxPairedHead << " numbers for " << tile;
      }
      if (isPairable(attention) && isForTiles(attention))
        return success();
      return kernel.emitError("expects attention of many queries on f16 or "
                              "bf16, heads of multiples of ")
             << kBf16Step << " and no mask for " << tiles;
    },
    .scratch = getPartScratch,
};

const CpuKernelEntry gist::kCpuAttendKernel = {
    .choose = [](func::FuncOp kernel, const TargetInfo &target,
                 const CpuChoices &) -> CpuTileInterface {
      return getAttentionTile(kernel.getContext(), target);
    },
    .distribute = [](RewriterBase &rewriter,
                     func::FuncOp kernel) -> FailureOr<scf::ForallOp> {
      return distributeAttend(rewriter, findRoot<AttendOp>(kernel));
    },
    .verify = expectTile<CpuAttentionAttr>,
};

//===----------------------------------------------------------------------===//
// Selections and caches of clusters
//===----------------------------------------------------------------------===//

const CpuKernelEntry gist::kCpuSelectKernel = {
    .choose = chooseRows,
    .distribute = [](RewriterBase &rewriter,
                     func::FuncOp kernel) -> FailureOr<scf::ForallOp> {
      return distributeSelection(rewriter, findSelection(kernel));
    },
    .verify = expectTile<CpuRowsAttr>,
    .scratch = getSelectionScratch,
};

const CpuKernelEntry gist::kCpuClusterUpdateKernel = {
    .choose = chooseRows,
    .distribute = [](RewriterBase &rewriter,
                     func::FuncOp kernel) -> FailureOr<scf::ForallOp> {
      if (auto absorb = findRoot<ClusterAbsorbOp>(kernel))
        return distributeClusterAbsorb(rewriter, absorb);
      return distributeClusterUpdate(rewriter,
                                     findRoot<ClusterUpdateOp>(kernel));
    },
    .verify = expectTile<CpuRowsAttr>,
};
