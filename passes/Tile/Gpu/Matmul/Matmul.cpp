//===- Matmul.cpp - Kernels of products -----------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Matmul/Matmul.h"
#include "mlir/IR/Matchers.h"
#include "passes/Kernel/ColumnHalves.h"
#include "passes/Kernel/KernelKinds.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Tile/Gpu/Matmul/FewRows.h"
#include "passes/Tile/Gpu/Matmul/ProductParts.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

//===----------------------------------------------------------------------===//
// MatmulGrid
//===----------------------------------------------------------------------===//

MatmulGrid::MatmulGrid(Operation *product, ArrayRef<int64_t> workgroup)
    : rows(workgroup[0]), columns(workgroup[1]) {
  auto type = cast<RankedTensorType>(product->getResult(0).getType());
  tilesOfColumns = llvm::divideCeil(type.getDimSize(1), columns);
  // It must divide the tiles of columns, or the grid would have workgroups
  // without a tile; a power of two also makes the division a shift.
  perRow = std::min(tilesOfColumns & -tilesOfColumns, kColumnsOfTiles);
}

Value MatmulGrid::getRow(GpuBuilder &b) const {
  return b.mul(b.div(b.block(0), perRow), rows);
}

Value MatmulGrid::getColumn(GpuBuilder &b) const {
  Value inside = b.rem(b.block(0), perRow);
  return b.mul(b.add(b.mul(b.block(1), perRow), inside), columns);
}

//===----------------------------------------------------------------------===//
// MatmulResult
//===----------------------------------------------------------------------===//

bool gist::isPaired(Operation *product) {
  if (auto steps = dyn_cast<TileProductOp>(product))
    return steps.getPaired();
  return getColumnHalves(product->getResult(0)).has_value();
}

Value gist::getPairedRow(GpuBuilder &b, Value column, int64_t columns) {
  return b.add(b.div(column, 2), b.mul(b.rem(column, 2), columns / 2));
}

MatmulResult::MatmulResult(ElementEmitter &emitter, Operation *op, int64_t tile,
                           int64_t perRow)
    : emitter(emitter), b(emitter.getBuilder()), product(op->getResult(0)),
      rows(b.mul(emitter.size(product, 0), perRow)),
      columns(cast<RankedTensorType>(product.getType()).getDimSize(1) / perRow),
      perRow(perRow), checked(columns % tile != 0), numResults(0) {
  // Scratch memory is a result too, and is not what follows the product.
  auto kernel = op->getParentOfType<func::FuncOp>();
  numResults = kernel.getNumResults() - getKernelAttr(kernel).getScratch();
  if (isPaired(op))
    halves = *getColumnHalves(product);
}

void MatmulResult::ifRow(Value row, function_ref<void()> body) {
  b.ifThen(b.isLess(row, rows), body);
}

void MatmulResult::store(Value row, Value column, Value numbers) {
  auto type = dyn_cast<VectorType>(numbers.getType());
  int64_t width = type ? type.getNumElements() : 1;
  // A vector may cross the last column. Where the width divides the columns it
  // lies inside or outside as a whole, and one comparison will do.
  if (checked && columns % width != 0) {
    int64_t piece = halves[0] ? 2 : 1; // A pair stays together.
    for (int64_t i = 0; i < width; i += piece)
      store(row, b.add(column, i),
            piece == 1 ? b.extract(numbers, i) : b.slice(numbers, i, piece));
    return;
  }
  if (checked)
    b.ifThen(b.isLess(column, columns), [&] { storeAt(row, column, numbers); });
  else
    storeAt(row, column, numbers);
}

/// How much larger `index` is than `from`, where that can be seen.
static std::optional<int64_t> getOffset(Value index, Value from) {
  if (ElementEmitter::areSame(index, from))
    return 0;
  auto sum = index.getDefiningOp<arith::AddIOp>();
  if (!sum || sum.getLhs() != from)
    return std::nullopt;
  return getConstantIntValue(sum.getRhs());
}

void MatmulResult::bind(Value tensor, Value row, Value column, Value numbers) {
  auto type = dyn_cast<VectorType>(numbers.getType());
  int64_t width = type ? type.getNumElements() : 1;
  emitter.bind(tensor, [=, this](ValueRange indices, int64_t asked) {
    std::optional<int64_t> offset = getOffset(indices.back(), column);
    if (!offset || !ElementEmitter::areSame(indices.front(), row))
      return Value();
    if (*offset == 0 && asked == width)
      return numbers;
    if (*offset >= 0 && *offset + asked <= width)
      return asked == 1 ? b.extract(numbers, *offset)
                        : b.slice(numbers, *offset, asked);
    return Value();
  });
}

void MatmulResult::write(Value row, Value column, int64_t width) {
  Values place{row, column};
  for (unsigned i = 0; i < numResults; ++i) {
    Value written = emitter.getWritten(i);
    emitter.store(i, place,
                  width == 1 ? emitter.element(written, place)
                             : emitter.elements(written, place, width));
  }
}

void MatmulResult::storeAt(Value row, Value column, Value numbers) {
  if (perRow != 1) {
    column = b.add(b.mul(b.rem(row, perRow), columns), column);
    row = b.div(row, perRow);
  }
  auto type = dyn_cast<VectorType>(numbers.getType());
  int64_t width = type ? type.getNumElements() : 1;
  if (!halves[0]) {
    // The ops behind the product are written once for each store, and find its
    // numbers in registers as long as they are bound.
    bind(product, row, column, numbers);
    write(row, column, width);
    emitter.unbind(product);
    return;
  }
  assert(width % 2 == 0 && "columns come in pairs");
  Value place = b.div(column, 2);
  for (auto [first, half] : llvm::enumerate(halves)) {
    Values lanes;
    for (int64_t i = static_cast<int64_t>(first); i < width; i += 2)
      lanes.push_back(b.extract(numbers, i));
    bind(half, row, place, lanes.size() == 1 ? lanes[0] : b.concat(lanes));
  }
  write(row, place, width / 2);
  for (Value half : halves)
    emitter.unbind(half);
}

//===----------------------------------------------------------------------===//
// The kernels
//===----------------------------------------------------------------------===//

linalg::LinalgOp gist::getGpuMatmul(func::FuncOp kernel) {
  linalg::LinalgOp product = findTransposedMatmul(kernel);
  if (!product)
    return {};
  auto start = product.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  auto weight = cast<RankedTensorType>(product.getDpsInputs()[1].getType());
  bool isFromZero = start && matchPattern(start.value(), m_AnyZeroFloat());
  bool isFloat = llvm::all_of(product.getDpsInputs(), [](Value operand) {
    return isa<FloatType>(getElementTypeOrSelf(operand));
  });
  return isFromZero && isFloat && weight.hasStaticShape() ? product
                                                          : linalg::LinalgOp();
}

/// The most products of one lane; chosen tiles have at most 128.
static constexpr int64_t kMaxProducts = 1024;
/// The largest size in a tile of few rows: such a tile may be written by hand,
/// and products of these sizes do not overflow.
static constexpr int64_t kMaxSize = 1 << 16;

LogicalResult gist::verifyLaneProducts(linalg::LinalgOp product,
                                       GpuGemvAttr tile, int64_t products) {
  if (products * tile.getSteps() <= kMaxProducts)
    return success();
  return product.emitOpError("expects at most ")
         << kMaxProducts << " products for a lane, got " << tile;
}

static LogicalResult verifyFewRowsTile(linalg::LinalgOp product,
                                       GpuGemvAttr tile, const GpuInfo &gpu) {
  for (int64_t size : {tile.getRows(), tile.getColumns(), tile.getWaves()[0],
                       tile.getWaves()[1], tile.getSteps()})
    if (size > kMaxSize)
      return product.emitOpError("expects sizes of at most ")
             << kMaxSize << ", got " << tile;
  return tile.getMatrix() ? verifyFewRows(product, tile, gpu)
                          : verifyGemv(product, tile, gpu);
}

static LogicalResult refuseUncut(Operation *product) {
  return product->emitOpError("expects to be cut into steps on tiles; "
                              "-gist-gpu-tile-products does that");
}

static LogicalResult verifyTile(func::FuncOp kernel, const GpuInfo &gpu) {
  if (findRoot<TileProductOp>(kernel)) // It verifies its instruction itself.
    return expectTile<GpuProductAttr>(kernel);
  if (auto product = findRoot<ScaledMatmulOp>(kernel)) {
    if (failed(expectTile<GpuProductAttr>(kernel)))
      return failure();
    return refuseUncut(product);
  }
  linalg::LinalgOp product = getGpuMatmul(kernel);
  if (!product)
    return expectTile<GpuRowsAttr>(kernel);
  if (failed(expectTile<GpuProductAttr, GpuGemvAttr>(kernel)))
    return failure();
  if (auto tile = kernel->getAttrOfType<GpuGemvAttr>(kTileAttr))
    return verifyFewRowsTile(product, tile, gpu);
  return refuseUncut(product);
}

//===----------------------------------------------------------------------===//
// The kind
//===----------------------------------------------------------------------===//

namespace gist {
extern const GpuKernelEntry kGpuMatmulKernel;
} // namespace gist

const GpuKernelEntry gist::kGpuMatmulKernel = {
    // Other contractions run by their definition, slowly.
    .choose = [](func::FuncOp kernel, const GpuInfo &gpu,
                 const GpuChoices &) -> GpuTileInterface {
      if (auto product = findRoot<ScaledMatmulOp>(kernel))
        return selectScaledTile(product, gpu);
      if (linalg::LinalgOp product = getGpuMatmul(kernel))
        return selectMatmulTile(product, gpu);
      return selectRowsTile(kernel, gpu);
    },
    .emit = [](GpuKernel &kernel) -> FailureOr<GpuGrid> {
      if (auto steps = findRoot<TileProductOp>(kernel.source))
        return emitTileProduct(kernel, steps);
      linalg::LinalgOp product = getGpuMatmul(kernel.source);
      if (!product)
        return emitDefinition(kernel);
      return kernel.getTile<GpuGemvAttr>().getMatrix()
                 ? emitFewRows(kernel, product)
                 : emitGemv(kernel, product);
    },
    .verify = verifyTile,
    .scratch = getProductScratch,
};
