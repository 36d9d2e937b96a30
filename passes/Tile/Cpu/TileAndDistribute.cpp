//===- TileAndDistribute.cpp - The pass -gist-tile-and-distribute ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products and attention are tiled from the last op of the kernel, and what it
// reads is computed tile by tile with it. Kernels on whole rows need no tiling
// interface: their body runs on slices of the arguments instead.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "passes/Passes.h"
#include "passes/Tile/Cpu/ClusterCache.h"
#include "passes/Tile/Cpu/LowerTiles.h"
#include "passes/Tile/Cpu/Selection.h"

namespace gist {
#define GEN_PASS_DEF_TILEANDDISTRIBUTEPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

static func::ReturnOp getReturn(func::FuncOp kernel) {
  return cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
}

/// The destination that result `number` is tied to.
static BlockArgument getDestination(func::FuncOp kernel, unsigned number) {
  unsigned first = kernel.getNumArguments() - kernel.getNumResults();
  return kernel.getArgument(first + number);
}

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

/// Writes the grid of a kernel whose work is `forall`. Its last dimension is
/// the slowest: neighbouring workgroups share columns of a weight.
static LogicalResult setGrid(func::FuncOp kernel, scf::ForallOp forall) {
  SmallVector<AffineExpr> grid;
  if (forall)
    for (auto [lower, upper, step] :
         llvm::zip_equal(forall.getMixedLowerBound(),
                         forall.getMixedUpperBound(), forall.getMixedStep())) {
      FailureOr<AffineExpr> expr = getSizeExpr(kernel, upper);
      std::optional<int64_t> tile = getConstantIntValue(step);
      if (failed(expr) || !tile || !isConstantIntValue(lower, 0))
        return kernel.emitError("has a grid that its arguments do not give");
      // Canonicalisation drops a dimension of one workgroup from the loop.
      if (expr->ceilDiv(*tile) == 1)
        continue;
      grid.push_back(expr->ceilDiv(*tile));
    }
  kernel->setAttr(kGridAttr, getGridAttr(kernel, grid));
  return success();
}

//===----------------------------------------------------------------------===//
// Products and attention
//===----------------------------------------------------------------------===//

/// Lets every loop result that leaves the kernel be written into its
/// destination.
static void useDestinations(func::FuncOp kernel) {
  for (auto [number, operand] :
       llvm::enumerate(getReturn(kernel)->getOperands())) {
    auto forall = operand.getDefiningOp<scf::ForallOp>();
    if (!forall)
      continue;
    OpOperand &init =
        forall.getOutputsMutable()[cast<OpResult>(operand).getResultNumber()];
    if (init.get().getDefiningOp<tensor::EmptyOp>())
      init.set(getDestination(kernel, number));
  }
}

/// Takes sizes of results from operands, where the op has no destination to
/// ask: a grid follows from arguments, and no untiled op is kept for its size
/// alone.
static void resolveSizes(RewriterBase &rewriter, func::FuncOp kernel) {
  kernel.walk([&](tensor::DimOp dim) {
    auto op = dim.getSource().getDefiningOp<ReifyRankedShapedTypeOpInterface>();
    if (!op || isa<DestinationStyleOpInterface>(op.getOperation()) ||
        !dim.getConstantIndex())
      return;
    rewriter.setInsertionPoint(dim);
    ReifiedRankedShapedTypeDims shapes;
    if (failed(reifyResultShapes(rewriter, op, shapes)))
      return;
    unsigned number = cast<OpResult>(dim.getSource()).getResultNumber();
    OpFoldResult size = shapes[number][*dim.getConstantIndex()];
    rewriter.replaceOp(
        dim, getValueOrCreateConstantIndexOp(rewriter, dim.getLoc(), size));
  });
}

static FailureOr<scf::ForallOp> tileTail(RewriterBase &rewriter,
                                         func::FuncOp kernel, TileAttr tile,
                                         TilingInterface tail) {
  SmallVector<OpFoldResult> sizes;
  size_t loops = tail.getLoopIteratorTypes().size();
  for (size_t i = 0; i < loops; ++i)
    sizes.push_back(rewriter.getIndexAttr(
        i < tile.getWorkgroup().size() ? tile.getWorkgroup()[i] : 0));
  // Behind another op, attention is cut by queries alone: which heads a tile
  // needs is not known when it is fused.
  if (isa<AttentionOp>(getAnchor(kernel)) && !isa<AttentionOp>(tail))
    for (size_t i = 1; i < loops; ++i)
      sizes[i] = rewriter.getIndexAttr(0);

  scf::SCFTileAndFuseOptions options;
  options.tilingOptions.setTileSizes(sizes);
  options.tilingOptions.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  rewriter.setInsertionPoint(tail);
  FailureOr<scf::SCFTileAndFuseResult> result =
      scf::tileConsumerAndFuseProducersUsingSCF(rewriter, tail, options);
  if (failed(result) || result->loops.size() != 1)
    return tail->emitOpError("cannot be tiled");
  for (auto [old, replacement] : result->replacements)
    rewriter.replaceAllUsesWith(old, replacement);
  resolveSizes(rewriter, kernel);
  return cast<scf::ForallOp>(result->loops.front());
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static bool hasRows(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0 && type.isDynamicDim(0);
}

/// The loop of `op` that runs over rows of its result, if one does.
static std::optional<unsigned> getRowLoop(linalg::LinalgOp op) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (map.getNumResults() == 0 || !hasRows(op->getResult(0)))
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(map.getResult(0));
  return dim ? std::optional(dim.getPosition()) : std::nullopt;
}

/// True if row i of everything in the kernel depends on row i of the arguments
/// that have rows, and on no other row.
static bool worksOnRows(func::FuncOp kernel) {
  auto readsOwnRow = [](linalg::LinalgOp op) {
    std::optional<unsigned> row = getRowLoop(op);
    if (!row)
      return false;
    AffineExpr own = getAffineDimExpr(*row, op.getContext());
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (hasRows(operand.get()) && map.getResult(0) != own)
        return false;
    }
    return true;
  };
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (structured && !readsOwnRow(structured))
      return false;
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      if (hasRows(slice.getSource()) &&
          (!isConstantIntValue(slice.getMixedOffsets()[0], 0) ||
           slice.getDroppedDims().test(0)))
        return false;
  }
  Value result = getReturn(kernel)->getOperand(0);
  if (auto insert = result.getDefiningOp<tensor::InsertSliceOp>())
    return hasRows(insert.getSource());
  return hasRows(result);
}

/// The first dimension that a slice keeps.
static int64_t getFirstKept(const llvm::SmallBitVector &dropped) {
  int dim = dropped.find_first_unset();
  return std::max(dim, 0);
}

/// The rows [first, first + count) of a slice of a table, whose rows are those
/// of the tokens: rotary embeddings by position.
static Value shiftTable(RewriterBase &rewriter, tensor::ExtractSliceOp slice,
                        Value first, Value count) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(slice);
  int64_t dim = getFirstKept(slice.getDroppedDims());
  SmallVector<OpFoldResult> offsets = slice.getMixedOffsets();
  SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
  AffineExpr d0, d1;
  bindDims(slice.getContext(), d0, d1);
  offsets[dim] = affine::makeComposedFoldedAffineApply(
      rewriter, slice.getLoc(), d0 + d1, {offsets[dim], OpFoldResult(first)});
  sizes[dim] = count;
  return tensor::ExtractSliceOp::create(
      rewriter, slice.getLoc(), slice.getType(), slice.getSource(), offsets,
      sizes, slice.getMixedStrides());
}

/// Gives the copy of an op the rows of a tile, where the original was told
/// which rows there are. Returns what takes the place of the copy's result.
static Value setRows(RewriterBase &rewriter, Operation *op, Value first,
                     Value count) {
  if (op->getNumResults() != 1 || !hasRows(op->getResult(0)))
    return {};
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    empty.getDynamicSizesMutable()[0].set(count);
  else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    expand.getOutputShapeMutable()[0].set(count);
  else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    insert.getSizesMutable()[0].set(count);
  else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (!hasRows(slice.getSource()))
      return shiftTable(rewriter, slice, first, count);
    slice.getSizesMutable()[0].set(count);
  }
  return {};
}

/// Runs the body on `tile` rows at a time.
static FailureOr<scf::ForallOp>
distributeRows(RewriterBase &rewriter, func::FuncOp kernel, int64_t tile) {
  Block &body = kernel.getBody().front();
  func::ReturnOp end = getReturn(kernel);
  Location location = end.getLoc();
  auto cache = end->getOperand(0).getDefiningOp<tensor::InsertSliceOp>();
  if (cache && hasRows(cache.getResult()))
    cache = {}; // Part of a row, not the rows of a cache.

  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);
  rewriter.setInsertionPoint(end);
  Value whole = cache ? cache.getSource() : end->getOperand(0);
  // The size of an argument, where there is one, gives the grid directly.
  OpFoldResult rows = tensor::getMixedSize(
      rewriter, location, cache ? whole : Value(getDestination(kernel, 0)), 0);

  SmallVector<Value> outputs;
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    outputs.push_back(getDestination(kernel, i));
  auto forall = scf::ForallOp::create(
      rewriter, location, SmallVector<OpFoldResult>{rewriter.getIndexAttr(0)},
      SmallVector<OpFoldResult>{rows},
      SmallVector<OpFoldResult>{rewriter.getIndexAttr(tile)}, outputs,
      std::nullopt);

  rewriter.setInsertionPointToStart(forall.getBody());
  Value first = forall.getInductionVar(0);
  AffineExpr d0, d1;
  bindDims(kernel.getContext(), d0, d1);
  OpFoldResult count = affine::makeComposedFoldedAffineMin(
      rewriter, location,
      AffineMap::get(2, 0, {rewriter.getAffineConstantExpr(tile), d1 - d0},
                     kernel.getContext()),
      {OpFoldResult(first), rows});

  Value countValue = getValueOrCreateConstantIndexOp(rewriter, location, count);
  auto getSlice = [&](Value value) -> Value {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, location, value);
    SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(sizes.size(), rewriter.getIndexAttr(1));
    offsets[0] = first;
    sizes[0] = count;
    return tensor::ExtractSliceOp::create(rewriter, location, value, offsets,
                                          sizes, strides);
  };
  IRMapping mapping;
  unsigned inputs = kernel.getNumArguments() - kernel.getNumResults();
  for (BlockArgument argument : kernel.getArguments()) {
    Value inside = argument;
    if (argument.getArgNumber() >= inputs)
      inside = forall.getRegionIterArgs()[argument.getArgNumber() - inputs];
    mapping.map(argument, hasRows(argument) ? getSlice(inside) : inside);
  }
  for (Operation *op : ops) {
    if (op == cache)
      continue;
    Operation *copy = rewriter.clone(*op, mapping);
    if (Value shifted = setRows(rewriter, copy, first, countValue)) {
      mapping.map(op->getResult(0), shifted);
      rewriter.eraseOp(copy);
      continue;
    }
    auto structured = dyn_cast<linalg::LinalgOp>(copy);
    std::optional<unsigned> row =
        structured ? getRowLoop(structured) : std::nullopt;
    if (!row)
      continue;
    // Rows keep their numbers.
    copy->walk([&](linalg::IndexOp index) {
      if (index.getDim() != *row)
        return;
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointAfter(index);
      auto shifted =
          arith::AddIOp::create(rewriter, index.getLoc(), index, first);
      rewriter.replaceAllUsesExcept(index, shifted.getResult(), shifted);
    });
  }

  rewriter.setInsertionPointToEnd(forall.getTerminator().getBody());
  for (auto [number, operand] : llvm::enumerate(end->getOperands())) {
    Value destination = forall.getRegionIterArgs()[number];
    Value source = mapping.lookupOrDefault(cache ? whole : operand);
    SmallVector<OpFoldResult> offsets, sizes, strides;
    rewriter.setInsertionPoint(forall.getTerminator());
    if (cache) {
      offsets = cache.getMixedOffsets();
      sizes = cache.getMixedSizes();
      strides = cache.getMixedStrides();
      for (auto *list : {&offsets, &sizes, &strides})
        for (OpFoldResult &entry : *list)
          if (auto value = dyn_cast<Value>(entry))
            entry = mapping.lookupOrDefault(value);
      int64_t dim = getFirstKept(cache.getDroppedDims());
      offsets[dim] = affine::makeComposedFoldedAffineApply(
          rewriter, location, d0 + d1, {offsets[dim], OpFoldResult(first)});
      sizes[dim] = count;
    } else {
      sizes = tensor::getMixedSizes(rewriter, location,
                                    getDestination(kernel, number));
      offsets.assign(sizes.size(), rewriter.getIndexAttr(0));
      strides.assign(sizes.size(), rewriter.getIndexAttr(1));
      offsets[0] = first;
      sizes[0] = count;
    }
    rewriter.setInsertionPointToEnd(forall.getTerminator().getBody());
    tensor::ParallelInsertSliceOp::create(rewriter, location, source,
                                          destination, offsets, sizes, strides);
  }
  rewriter.modifyOpInPlace(end, [&] { end->setOperands(forall.getResults()); });
  return forall;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static LogicalResult distribute(func::FuncOp kernel) {
  auto tile = kernel->getAttrOfType<TileAttr>(kTileAttr);
  if (!tile)
    return kernel.emitError("has no tile configuration");
  IRRewriter rewriter(kernel.getContext());
  FailureOr<scf::ForallOp> forall = scf::ForallOp();
  auto updates = llvm::to_vector(kernel.getOps<ClusterUpdateOp>());
  if (!updates.empty()) {
    forall = distributeClusterUpdate(rewriter, updates.front());
  } else if (Operation *selection = findSelection(kernel)) {
    forall = distributeSelection(rewriter, selection);
  } else if (AttendOp attend = findAttend(kernel)) {
    forall = distributeAttend(rewriter, attend);
  } else if (getAnchor(kernel)) {
    auto tail =
        getReturn(kernel)->getOperand(0).getDefiningOp<TilingInterface>();
    if (!tail)
      return kernel.emitError("does not end in an op that can be tiled");
    forall = tileTail(rewriter, kernel, tile, tail);
    useDestinations(kernel);
  } else if (worksOnRows(kernel)) {
    forall = distributeRows(rewriter, kernel, tile.getWorkgroup()[0]);
  }
  if (failed(forall))
    return failure();
  // Only destinations are written: others may read the inputs after us.
  unsigned inputs = kernel.getNumArguments() - kernel.getNumResults();
  for (unsigned i = 0; i < inputs; ++i)
    if (isa<TensorType>(kernel.getArgument(i).getType()))
      kernel.setArgAttr(i, "bufferization.writable",
                        rewriter.getBoolAttr(false));
  return setGrid(kernel, *forall);
}

namespace {
struct TileAndDistributePass final
    : gist::impl::TileAndDistributePassBase<TileAndDistributePass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (isKernel(kernel) && failed(distribute(kernel)))
        return signalPassFailure();
  }
};
} // namespace
