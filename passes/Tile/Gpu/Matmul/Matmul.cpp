//===- Matmul.cpp - Kernels of products -----------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Matmul/Matmul.h"
#include "mlir/IR/Matchers.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Tile/Gpu/Matmul/MatmulLoop.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

//===----------------------------------------------------------------------===//
// MatmulGrid
//===----------------------------------------------------------------------===//

MatmulGrid::MatmulGrid(linalg::LinalgOp product, GpuTileAttr tile)
    : rows(tile.getWorkgroup()[0]), columns(tile.getWorkgroup()[1]) {
  auto type = cast<RankedTensorType>(product->getResult(0).getType());
  tilesOfColumns = llvm::divideCeil(type.getDimSize(1), columns);
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

MatmulResult::MatmulResult(ElementEmitter &emitter, linalg::LinalgOp op,
                           int64_t tile)
    : emitter(emitter), b(emitter.getBuilder()), product(op->getResult(0)),
      rows(emitter.size(product, 0)),
      columns(cast<RankedTensorType>(product.getType()).getDimSize(1)),
      checked(columns % tile != 0),
      numResults(op->getParentOfType<func::FuncOp>().getNumResults()) {}

void MatmulResult::ifRow(Value row, function_ref<void()> body) {
  b.ifThen(b.isLess(row, rows), body);
}

void MatmulResult::store(Value row, Value column, Value numbers) {
  auto type = dyn_cast<VectorType>(numbers.getType());
  int64_t width = type ? type.getNumElements() : 1;
  if (checked && columns % width != 0) {
    for (int64_t i = 0; i < width; ++i)
      store(row, b.add(column, i), b.extract(numbers, i));
    return;
  }
  if (checked)
    b.ifThen(b.isLess(column, columns), [&] { storeAt(row, column, numbers); });
  else
    storeAt(row, column, numbers);
}

void MatmulResult::storeAt(Value row, Value column, Value numbers) {
  auto type = dyn_cast<VectorType>(numbers.getType());
  int64_t width = type ? type.getNumElements() : 1;
  emitter.bind(product, [&](ValueRange indices, int64_t asked) {
    if (asked == width && ElementEmitter::areSame(indices, {row, column}))
      return numbers;
    for (int64_t i = 0; asked == 1 && i < width; ++i)
      if (ElementEmitter::areSame(indices, {row, b.add(column, i)}))
        return b.extract(numbers, i);
    return Value();
  });
  Values place{row, column};
  for (unsigned i = 0; i < numResults; ++i) {
    Value written = emitter.getWritten(i);
    emitter.store(i, place,
                  width == 1 ? emitter.element(written, place)
                             : emitter.elements(written, place, width));
  }
  emitter.unbind(product);
}

//===----------------------------------------------------------------------===//
// The kernels
//===----------------------------------------------------------------------===//

LogicalResult gist::emitWaveMatmul(GpuKernel &kernel,
                                   linalg::LinalgOp product) {
  GpuBuilder &b = kernel.b;
  MatmulGrid grid(product, kernel.tile);
  MatmulLoop loop(b, kernel.tile);
  Value firstRow = grid.getRow(b), firstColumn = grid.getColumn(b);
  Operand x(kernel.emitter, product.getDpsInputs()[0]);
  Operand w(kernel.emitter, product.getDpsInputs()[1]);
  TileLoader loadX(b, x, loop.getTileX(), firstRow);
  TileLoader loadW(b, w, loop.getTileW(), firstColumn);
  MatmulResult result(kernel.emitter, product, kernel.tile.getWorkgroup()[1]);
  Values sums = loop.add(loadX, loadW, x.getDepth(), loop.makeSums());
  loop.store(
      result, sums, [&](Value place) { return b.add(firstRow, place); },
      firstColumn);
  return success();
}

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

FailureOr<GpuGrid> gist::emitMatmul(GpuKernel &kernel,
                                    linalg::LinalgOp product) {
  auto type = cast<RankedTensorType>(product->getResult(0).getType());
  FailureOr<AffineExpr> rows =
      getSizeExpr(kernel.source, kernel.emitter.getWrittenSizes(0)[0]);
  if (failed(rows))
    return product.emitOpError("has rows that the kernel's arguments do not "
                               "give");
  MLIRContext *context = kernel.source.getContext();
  if (kernel.tile.getInstruction() == Instruction::Fma) {
    if (failed(emitGemv(kernel, product)))
      return failure();
    return GpuGrid{getAffineConstantExpr(
        llvm::divideCeil(type.getDimSize(1), kernel.tile.getWorkgroup()[1]),
        context)};
  }
  bool isWgmma = kernel.tile.getInstruction() == Instruction::Wgmma64x128x16;
  if (failed(isWgmma ? emitWgmmaMatmul(kernel, product)
                     : emitWaveMatmul(kernel, product)))
    return failure();
  MatmulGrid grid(product, kernel.tile);
  return GpuGrid{rows->ceilDiv(kernel.tile.getWorkgroup()[0]) *
                     grid.getPerRow(),
                 getAffineConstantExpr(grid.getAlongY(), context)};
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
                 const GpuChoices &) -> GpuTileAttr {
      linalg::LinalgOp product = getGpuMatmul(kernel);
      return product ? selectMatmulTile(product, gpu)
                     : selectRowsTile(kernel, gpu);
    },
    .emit = [](GpuKernel &kernel) -> FailureOr<GpuGrid> {
      linalg::LinalgOp product = getGpuMatmul(kernel.source);
      return product ? emitMatmul(kernel, product) : emitDefinition(kernel);
    },
};
