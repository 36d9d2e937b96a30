//===- Experts.cpp - Products with experts on GPUs ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Few tokens name about as many experts as they have rows, and nothing is
// gained by gathering rows; the rest is gathered.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Experts/Experts.h"

using namespace mlir;
using namespace gist;

GpuBuilder::Value gist::readExpert(ElementEmitter &emitter, ExpertMatmulOp op,
                                   GpuBuilder::Value token,
                                   GpuBuilder::Value slot) {
  GpuBuilder &b = emitter.getBuilder();
  GpuBuilder::Value named = emitter.element(op.getExperts(), {token, slot});
  named = b.toIndex(named);
  return b.min(b.max(named, b.index(0)), b.index(op.getSizes().experts - 1));
}

/// Whether tokens share experts whatever they name, or are too many to know.
static bool isGathered(ExpertMatmulOp op) {
  int64_t tokens = op.getInput().getType().getDimSize(0);
  ExpertSizes sizes = op.getSizes();
  return sizes.experts <= kMaxGatheredExperts &&
         (ShapedType::isDynamic(tokens) ||
          tokens > sizes.experts / sizes.slots);
}

static LogicalResult verifyTile(func::FuncOp kernel, const GpuInfo &gpu) {
  auto op = findRoot<ExpertMatmulOp>(kernel);
  if (isGathered(op)) {
    if (failed(expectTile<GpuProductAttr>(kernel)))
      return failure();
    return verifyInstruction(
        kernel,
        cast<GpuProductAttr>(kernel->getAttr(kTileAttr)).getInstruction(), gpu);
  }
  if (failed(expectTile<GpuRowsAttr>(kernel)))
    return failure();
  auto tile = cast<GpuRowsAttr>(kernel->getAttr(kTileAttr));
  if (tile.getRows() == 1 && tile.getColumns() == tile.getNumWaves())
    return success();
  return op.emitOpError("expects one row and a column for each wave, got ")
         << tile;
}

//===----------------------------------------------------------------------===//
// The kind
//===----------------------------------------------------------------------===//

namespace gist {
extern const GpuKernelEntry kGpuExpertMatmulKernel;
} // namespace gist

const GpuKernelEntry gist::kGpuExpertMatmulKernel = {
    .choose = [](func::FuncOp kernel, const GpuInfo &gpu,
                 const GpuChoices &) -> GpuTileInterface {
      auto op = findRoot<ExpertMatmulOp>(kernel);
      return isGathered(op) ? GpuTileInterface(selectExpertTilesTile(op, gpu))
                            : selectExpertRowsTile(op, gpu);
    },
    .emit = [](GpuKernel &kernel) -> FailureOr<GpuGrid> {
      auto op = findRoot<ExpertMatmulOp>(kernel.source);
      return isGathered(op) ? emitExpertTiles(kernel, op)
                            : emitExpertRows(kernel, op);
    },
    .verify = verifyTile,
};
