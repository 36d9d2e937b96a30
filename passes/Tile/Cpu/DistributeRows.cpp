//===- DistributeRows.cpp - Kernels on whole rows, some at a time ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Tile/Cpu/CpuKernel.h"

using namespace mlir;
using namespace gist;

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
      // Tensors without dynamic rows, such as weights, may be read anywhere.
      if (hasRows(operand.get()) && map.getResult(0) != own)
        return false;
      // The tokens may be another dimension than the first, which is not cut.
      if (!hasRows(operand.get()) && map.isFunctionOfDim(*row))
        return false;
    }
    return true;
  };
  // Rows that are not first any more would be cut in the wrong dimension.
  auto hidesRows = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && !type.hasStaticShape() && !hasRows(value);
  };
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (!isa<tensor::InsertSliceOp>(op) &&
        llvm::any_of(op.getResults(), hidesRows))
      return false;
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (structured && !readsOwnRow(structured))
      return false;
    // A gather reads rows that data decides.
    bool gathers = op.walk([](tensor::ExtractOp extract) {
                       return hasRows(extract.getTensor())
                                  ? WalkResult::interrupt()
                                  : WalkResult::advance();
                     }).wasInterrupted();
    if (gathers)
      return false;
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      if (hasRows(slice.getSource()) &&
          (!isConstantIntValue(slice.getMixedOffsets()[0], 0) ||
           slice.getDroppedDims().test(0)))
        return false;
  }
  return llvm::all_of(getReturn(kernel)->getOperands(), [](Value result) {
    if (auto insert = result.getDefiningOp<tensor::InsertSliceOp>())
      return hasRows(insert.getSource());
    return hasRows(result);
  });
}

/// The op that puts rows into the cache that `result` is; null where it is the
/// rows.
static tensor::InsertSliceOp findUpdate(Value result) {
  auto insert = result.getDefiningOp<tensor::InsertSliceOp>();
  // Part of a row, not the rows of a cache.
  return insert && !hasRows(result) ? insert : tensor::InsertSliceOp();
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

/// Gives the copy of an op the rows of a tile, where the original has the range
/// of rows as operands. Returns what takes the place of the copy's result.
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
static scf::ForallOp cutRows(RewriterBase &rewriter, func::FuncOp kernel,
                             int64_t tile) {
  Block &body = kernel.getBody().front();
  func::ReturnOp end = getReturn(kernel);
  Location location = end.getLoc();
  tensor::InsertSliceOp cache = findUpdate(end->getOperand(0));

  // The originals stay behind. They have no uses once the return is changed.
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);
  rewriter.setInsertionPoint(end);
  // The size of an argument gives the grid directly. A cache is told how many
  // rows it gets; asking them would keep the whole of what makes them.
  OpFoldResult rows =
      cache ? cache.getMixedSizes()[getFirstKept(cache.getDroppedDims())]
            : tensor::getMixedSize(rewriter, location,
                                   getDestination(kernel, 0), 0);

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
    if (llvm::any_of(end->getOperands(), [&](Value result) {
          tensor::InsertSliceOp update = findUpdate(result);
          return update && op == update;
        }))
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
    tensor::InsertSliceOp cache = findUpdate(operand);
    Value source = mapping.lookupOrDefault(cache ? cache.getSource() : operand);
    SmallVector<OpFoldResult> offsets, sizes, strides;
    // Offsets are computed in front of the terminator, whose region takes
    // nothing but insertions.
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

FailureOr<scf::ForallOp> gist::distributeRows(RewriterBase &rewriter,
                                              func::FuncOp kernel) {
  // Without a loop the kernel is one workgroup.
  if (!worksOnRows(kernel))
    return scf::ForallOp();
  auto tile = cast<CpuRowsAttr>(kernel->getAttr(kTileAttr));
  return cutRows(rewriter, kernel, tile.getRows());
}
