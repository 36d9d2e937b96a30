//===- ProductParts.cpp - Products whose k workgroups share ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Matmul/ProductParts.h"
#include "passes/Target/Info/ModuleTarget.h"
#include "passes/Tile/Gpu/Core/GpuAtomics.h"
#include "passes/Tile/Gpu/Matmul/Matmul.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

/// Assumed numbers of rows where these are unknown: a prompt, and a long one.
static constexpr int64_t kPrompt = 512, kLongPrompt = 2048;
/// Parts of k, at most, and the numbers of k that each has at least. Handing
/// parts in takes longer than multiplying fewer.
static constexpr int64_t kMaxParts = 8, kLeastDepth = 256;
/// Workgroups that a compute unit runs at once, at most: their registers.
static constexpr int64_t kMaxOnUnit = 2;
/// Products of two numbers that a compute unit of gfx942 adds in a cycle.
static constexpr double kProductsOfCycle = 1024;
/// Cycles to hand a part in: two trips to memory and a write-back of the
/// second-level cache; and bytes of parts that a compute unit moves in one.
static constexpr double kHandInCycles = 6000, kBytesOfCycle = 32;
/// 16-bit numbers, and sums in f32.
static constexpr int64_t kNumberBytes = 2, kSumBytes = 4;

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

ProductCut gist::getProductCut(RankedTensorType x, RankedTensorType w,
                               ArrayRef<int64_t> tile, int64_t tileDepth,
                               int64_t stages) {
  return {x.isDynamicDim(0) ? -1 : x.getDimSize(0),
          w.getDimSize(0),
          w.getDimSize(1),
          tile[0],
          tile[1],
          tileDepth,
          stages};
}

int64_t ProductCut::countTiles(int64_t ofRows) const {
  return llvm::divideCeil(ofRows, tileRows) *
         llvm::divideCeil(columns, tileColumns);
}

int64_t ProductCut::countSteps() const {
  return llvm::divideCeil(depth, tileDepth);
}

int64_t ProductCut::countOnUnit(const GpuInfo &gpu) const {
  int64_t bytes = stages * (tileRows + tileColumns) * tileDepth * kNumberBytes;
  return std::clamp<int64_t>(gpu.workgroupMemory / bytes, 1, kMaxOnUnit);
}

int64_t ProductCut::chooseParts(const GpuInfo &gpu) const {
  if (gpu.kind != GpuKind::Amd)
    return 1;
  int64_t places = gpu.computeUnits * countOnUnit(gpu);
  int64_t tiles = countTiles(rows < 0 ? kPrompt : rows), steps = countSteps();
  for (int64_t parts = kMaxParts; parts > 1; --parts) {
    // Two steps are one iteration: the last one is left over in all parts or in
    // none, however many parts there are at a call.
    bool isEven = steps % parts == 0 && (steps / parts) % 2 == steps % 2;
    if (isEven && steps / parts * tileDepth >= kLeastDepth &&
        tiles * parts <= places)
      return parts;
  }
  return 1;
}

double ProductCut::getCost(double share, const GpuInfo &gpu) const {
  auto getRowCost = [&](int64_t ofRows) {
    ProductCut known = *this;
    known.rows = ofRows;
    auto tiles = static_cast<double>(countTiles(ofRows));
    auto parts = static_cast<double>(known.chooseParts(gpu));
    auto places = static_cast<double>(gpu.computeUnits * countOnUnit(gpu));
    auto numbers = static_cast<double>(tileRows * tileColumns);
    double cycles = numbers * static_cast<double>(depth) / kProductsOfCycle /
                    share / parts * std::ceil(tiles * parts / places);
    if (parts > 1)
      cycles +=
          kHandInCycles + (1 + parts) * numbers * kSumBytes / kBytesOfCycle;
    return cycles / static_cast<double>(ofRows);
  };
  return rows < 0 ? getRowCost(kPrompt) + getRowCost(kLongPrompt)
                  : getRowCost(std::max<int64_t>(rows, 1));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Where k is shared there are at most as many parts as run at once.
static int64_t countPlaces(const ProductCut &cut, const GpuInfo &gpu) {
  return gpu.computeUnits * cut.countOnUnit(gpu);
}

static std::array<RankedTensorType, 2> getMemoryTypes(MLIRContext *context,
                                                      const ProductCut &cut,
                                                      const GpuInfo &gpu) {
  int64_t places = countPlaces(cut, gpu);
  return {RankedTensorType::get({places, cut.tileRows * cut.tileColumns},
                                Float32Type::get(context)),
          RankedTensorType::get(places, IntegerType::get(context, 32))};
}

FailureOr<KernelScratch> gist::getProductScratch(func::FuncOp kernel) {
  KernelScratch scratch;
  linalg::LinalgOp product = getGpuMatmul(kernel);
  const GpuInfo *gpu = getGpuTarget(kernel->getParentOfType<ModuleOp>());
  if (!gpu)
    return failure();
  if (!product)
    return scratch;
  GpuTileInterface chosen =
      kernel->hasAttr(kTileAttr)
          ? dyn_cast<GpuTileInterface>(kernel->getAttr(kTileAttr))
          : selectMatmulTile(product, *gpu);
  auto tile = dyn_cast_or_null<GpuProductAttr>(chosen);
  if (!tile)
    return scratch;
  auto x = cast<RankedTensorType>(product.getDpsInputs()[0].getType());
  auto w = cast<RankedTensorType>(product.getDpsInputs()[1].getType());
  ProductCut cut =
      getProductCut(x, w, tile.getShape(), tile.getDepth(), tile.getStages());
  if (cut.chooseParts(*gpu) == 1)
    return scratch;
  MLIRContext *context = kernel.getContext();
  auto [sums, words] = getMemoryTypes(context, cut, *gpu);
  ScratchTensor memory = {{}, sums.getElementType()};
  for (int64_t size : sums.getShape())
    memory.sizes.push_back(getAffineConstantExpr(size, context));
  scratch.tensors.push_back(memory);
  scratch.controlWords = words.getDimSize(0);
  scratch.leavesZero = true;
  return scratch;
}

FailureOr<int64_t> gist::getPartsOfKernel(func::FuncOp kernel,
                                          const ProductCut &cut,
                                          const GpuInfo &gpu) {
  unsigned count = kernel.getNumArguments();
  if (count == 0 || !kernel.getArgAttr(count - 1, kControlArgAttr))
    return 1;
  auto expected = getMemoryTypes(kernel.getContext(), cut, gpu);
  int64_t parts = cut.chooseParts(gpu);
  bool isIt = count >= 2 && parts > 1 &&
              kernel.getArgumentTypes()[count - 2] == expected[0] &&
              kernel.getArgumentTypes()[count - 1] == expected[1];
  if (isIt)
    return parts;
  return kernel.emitOpError("shares k among ")
         << parts << " workgroups and expects scratch memory of " << expected[0]
         << " and " << expected[1] << " for that";
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

ProductParts::ProductParts(GpuKernel &kernel, const ProductCut &cut,
                           int64_t parts, Value tile, Value tiles)
    : b(kernel.b), parts(parts), tile(tile), part(b.block(2)) {
  auto target = cast<func::FuncOp>(b.getBlock()->getParentOp());
  unsigned last = target.getNumArguments() - 1;
  memory = target.getArgument(last - 1);
  control = target.getArgument(last);
  int64_t steps = cut.countSteps(), places = countPlaces(cut, b.getGpu());
  isShared = b.isLess(tiles, places / parts + 1);
  hasWork = arith::OrIOp::create(b, isShared, b.isEqual(part, 0));
  numSteps = b.select(isShared, b.index(steps / parts), b.index(steps));
  firstStep = b.mul(part, steps / parts);
}

HandedIn ProductParts::getPlace(Value number) {
  return {memory, b.add(b.mul(tile, parts), number), b.index(0)};
}

void ProductParts::finish(Values sums, Value free,
                          function_ref<void(Values)> store) {
  Value isLast = b.ifElse(
      isShared,
      [&] {
        writeState(b, getPlace(part), sums);
        return isLastToArrive(b, control, tile, b.index(parts), free);
      },
      [&]() -> Value {
        return arith::ConstantIntOp::create(b, b.getI1Type(), 1);
      });
  b.ifThen(isLast, [&] {
    Values all;
    for (Value own : sums)
      all.push_back(b.select(isShared, b.constant(own.getType(), 0), own));
    Value count = b.select(isShared, b.index(parts), b.index(0));
    all = b.loop(
        b.index(0), count, 1, all, [&](Value number, ValueRange carried) {
          Values other = readState(b, getPlace(number), carried.getTypes());
          for (auto [sum, before] : llvm::zip_equal(other, carried))
            sum = b.add(before, sum);
          return other;
        });
    // The next launch finds zeros.
    b.ifThen(b.both(b.isEqual(b.thread(), 0), isShared),
             [&] { atomicWrite(b, b.i32(0), control, tile); });
    store(all);
  });
}
