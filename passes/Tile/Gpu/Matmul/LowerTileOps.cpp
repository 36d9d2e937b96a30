//===- LowerTileOps.cpp - Steps on tiles as the code of one thread --------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Matmul/LowerTileOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Tile/Gpu/Core/Carried.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

/// Whether a value is a vector that the workgroup holds together.
static bool isTile(Value value) { return isa<VectorType>(value.getType()); }

static bool isZero(Value value) {
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

LogicalResult
TileLowering::lower(llvm::iterator_range<Block::iterator> operations) {
  for (Operation &op : operations)
    if (failed(lower(op)))
      return failure();
  return success();
}

LogicalResult TileLowering::lower(Operation &op) {
  if (isa<memref::AllocaOp>(op) && numbers.contains(op.getResult(0)))
    return success(); // Allocated where the kernel begins.
  for (Value operand : op.getOperands())
    if (!isa<TensorType>(operand.getType()) && !numbers.contains(operand) &&
        !tiles.contains(operand) && !isOfSide(operand))
      return op.emitOpError("reads a value from outside of the product");
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<arith::ConstantOp, scf::ForOp, TileFetchOp, TileStageOp, TileCopyOp,
            TileLoadOp, TileMultiplyOp, TileStartOp, TileFinishOp, TileScalesOp,
            TileScaleOp, TileInterleaveOp>([&](auto op) { return lower(op); })
      .Default([&](Operation *op) { return clone(*op); });
}

LogicalResult TileLowering::clone(Operation &op) {
  bool isKnown =
      op.getNumRegions() == 0 && llvm::none_of(op.getResults(), isTile) &&
      llvm::all_of(op.getOperands(),
                   [&](Value operand) { return numbers.contains(operand); });
  if (!isKnown)
    return op.emitOpError("is not an op of a workgroup that works on tiles");
  b.clone(op, numbers);
  return success();
}

LogicalResult TileLowering::takeConstants(Region &region) {
  LogicalResult result = success();
  visitUsedValuesDefinedAbove(region, [&](OpOperand *operand) {
    auto constant = operand->get().getDefiningOp<arith::ConstantOp>();
    if (constant && !numbers.contains(operand->get()) &&
        !tiles.contains(operand->get()) && failed(lower(constant)))
      result = failure();
  });
  return result;
}

LogicalResult TileLowering::checkSums(Operation *op, Value sums) {
  if (isKind(sums, Kind::Sums))
    return success();
  return op->emitOpError("expects sums of products, or zeros");
}

TileLoader *TileLowering::getLoader(Operation *op, Value first, Value buffer) {
  for (const Side &side : sides)
    if (side.loader && side.first == first &&
        (!buffer || side.buffer == buffer))
      return side.loader;
  op->emitOpError("expects every tile of an operand in the same buffer");
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Sums and steps
//===----------------------------------------------------------------------===//

LogicalResult TileLowering::lower(arith::ConstantOp op) {
  if (!isTile(op))
    return clone(*op);
  if (!isZero(op.getResult()))
    return op.emitOpError("expects sums that begin with zero");
  Type number = getElementTypeOrSelf(op.getType());
  mapSums(op, wave ? wave->makeSums(number) : wgmma->makeSums(number));
  return success();
}

LogicalResult TileLowering::lower(scf::ForOp op) {
  // What a thread has of each vector.
  using State = SmallVector<Tile>;
  State start;
  for (Value init : op.getInitArgs()) {
    if (!tiles.contains(init))
      return op.emitOpError("expects to carry vectors of the workgroup");
    start.push_back(tiles[init]);
  }
  auto map = [&](ValueRange vectors, const State &state) {
    for (auto [vector, tile] : llvm::zip_equal(vectors, state))
      tiles[vector] = tile;
  };
  LogicalResult result = success();
  auto lowerBody = [&](Value step, State state) {
    numbers.map(op.getInductionVar(), step);
    map(op.getRegionIterArgs(), state);
    result = lower(op.getBody()->without_terminator());
    for (auto [vector, tile] :
         llvm::zip_equal(op.getBody()->getTerminator()->getOperands(), state)) {
      if (succeeded(result) && !isKind(vector, tile.kind))
        result = op.emitOpError("expects a step to yield what it carries");
      if (succeeded(result))
        tile = tiles.lookup(vector);
    }
    return state;
  };
  map(op.getResults(), carry(b, numbers.lookup(op.getLowerBound()),
                             numbers.lookup(op.getUpperBound()),
                             numbers.lookup(op.getStep()), start, lowerBody));
  return result;
}

//===----------------------------------------------------------------------===//
// Loads of operands
//===----------------------------------------------------------------------===//

LogicalResult TileLowering::lower(TileFetchOp op) {
  TileLoader *loader = getLoader(op, op.getRow());
  if (!loader)
    return failure();
  tiles[op] = {loader->fetch(numbers.lookup(op.getK())), getKind(loader)};
  return success();
}

LogicalResult TileLowering::lower(TileStageOp op) {
  TileLoader *loader = getLoader(op, op.getRow(), op.getBuffer());
  if (!loader)
    return failure();
  if (!isKind(op.getTile(), getKind(loader)))
    return op.emitOpError("expects a tile of the operand by gist.tile_fetch");
  loader->store(numbers.lookup(op.getK()), tiles.lookup(op.getTile()).values,
                numbers.lookup(op.getStage()));
  return success();
}

LogicalResult TileLowering::lower(TileCopyOp op) {
  TileLoader *loader = getLoader(op, op.getRow(), op.getBuffer());
  if (!loader)
    return failure();
  if (!loader->isAsync())
    return op.emitOpError("cannot copy this operand as it is on ")
           << b.getGpu().name;
  loader->copy(numbers.lookup(op.getK()), numbers.lookup(op.getStage()));
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

LogicalResult TileLowering::lower(TileLoadOp op) {
  if (!wave || op.getX() != sides[0].buffer || op.getW() != sides[1].buffer)
    return op.emitOpError("expects the buffers of both operands");
  auto [x, w] = wave->load(numbers.lookup(op.getStageX()),
                           numbers.lookup(op.getStageW()));
  tiles[op.getTileX()] = {std::move(x), Kind::Loaded};
  tiles[op.getTileW()] = {std::move(w), Kind::Loaded};
  return success();
}

LogicalResult TileLowering::lower(TileMultiplyOp op) {
  auto load = op.getX().getDefiningOp<TileLoadOp>();
  if (!load || op.getX() != load.getTileX() || op.getW() != load.getTileW())
    return op.emitOpError("expects both tiles of a gist.tile_load");
  if (failed(checkSums(op, op.getSums())))
    return failure();
  mapSums(op, wave->multiply(tiles.lookup(op.getX()).values,
                             tiles.lookup(op.getW()).values,
                             getSums(op.getSums())));
  return success();
}

LogicalResult TileLowering::lower(TileStartOp op) {
  if (op.getX() != sides[0].buffer || op.getW() != sides[1].buffer)
    return op.emitOpError("expects the buffers of both operands");
  if (failed(checkSums(op, op.getSums())))
    return failure();
  Value x = numbers.lookup(op.getStageX()), w = numbers.lookup(op.getStageW());
  int64_t columns = op.getW().getType().getDimSize(1);
  int64_t parts = columns / op.getSums().getType().getDimSize(1);
  // From zero the first instruction writes its registers without reading them.
  bool isNew = isZero(op.getSums());
  mapSums(op, wgmma->start(x, w, static_cast<int64_t>(op.getPart()), parts,
                           isNew ? Values() : getSums(op.getSums())));
  return success();
}

LogicalResult TileLowering::lower(TileFinishOp op) {
  if (!wgmma)
    return op.emitOpError("expects sums of gist.tile_start");
  if (failed(checkSums(op, op.getSums())))
    return failure();
  mapSums(op, wgmma->finish(getSums(op.getSums())));
  return success();
}

LogicalResult TileLowering::lower(TileScalesOp op) {
  Value block = numbers.lookup(op.getBlock());
  auto getScale = [&](Value row) { return readScale(row, block); };
  tiles[op] = {wave ? wave->loadScales(getScale) : wgmma->loadScales(getScale),
               Kind::Scales};
  return success();
}

LogicalResult TileLowering::lower(TileScaleOp op) {
  if (!isKind(op.getScales(), Kind::Scales))
    return op.emitOpError("expects scales of gist.tile_scales");
  if (failed(checkSums(op, op.getSums())) ||
      failed(checkSums(op, op.getTotals())))
    return failure();
  Values sums = getSums(op.getSums()), totals = getSums(op.getTotals());
  Values scales = tiles.lookup(op.getScales()).values;
  if (wave &&
      op.getSums().getType().getShape() != op.getTotals().getType().getShape())
    return op.emitOpError("expects sums of all columns");
  mapSums(op, wave ? wave->scale(sums, scales, totals)
                   : wgmma->scale(sums, scales, totals,
                                  static_cast<int64_t>(op.getPart())));
  return success();
}

LogicalResult TileLowering::lower(TileInterleaveOp op) {
  int64_t reads = 0, loads = 0;
  for (Value tile : {op.getTileX(), op.getTileW()})
    reads += static_cast<int64_t>(tiles.lookup(tile).values.size());
  bool isConverted = false;
  for (Value tile : op.getFetched()) {
    loads += static_cast<int64_t>(tiles.lookup(tile).values.size());
    auto fetch = tile.getDefiningOp<TileFetchOp>();
    isConverted |= getLoader(fetch, fetch.getRow())->isDequantized();
  }
  if (isConverted)
    interleaveConversions(b, wave->getInstructions());
  else
    interleaveLoads(b, wave->getInstructions(), reads, loads);
  return success();
}
