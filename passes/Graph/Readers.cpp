//===- Readers.cpp - What ops need of the tensors that they read ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/Readers.h"
#include "dialect/GistIntegerOps.h"
#include "dialect/GistLaunchNames.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "passes/Kernel/Kernels.h"

using namespace mlir;
using namespace gist;

bool gist::isView(Operation *op) {
  return isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::ExtractSliceOp>(op);
}

Value gist::getSource(Value value) {
  for (Operation *op = value.getDefiningOp(); op && isView(op);
       op = value.getDefiningOp())
    value = op->getOperand(0);
  return value;
}

/// The tensor that products of 8 bits have the rows of `tensor` from.
static Value getRowsOrigin(Value tensor) {
  for (;;) {
    if (auto product = tensor.getDefiningOp<ScaledMatmulOp>())
      tensor = product.getValues();
    else if (auto rows = tensor.getDefiningOp<QuantizeBlocksOp>())
      tensor = rows.getInput();
    else
      return tensor;
  }
}

bool gist::keepsRows(Operation *view) {
  if (isa<tensor::CastOp>(view))
    return true;
  // Heads are cut out of columns, which leaves the first dimension alone.
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(view))
    return expand.getReassociationIndices().front().size() == 1;
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(view))
    return collapse.getReassociationIndices().front().size() == 1;
  auto slice = cast<tensor::ExtractSliceOp>(view);
  if (slice.getDroppedDims().test(0) ||
      !isConstantIntValue(slice.getMixedOffsets()[0], 0) ||
      !isConstantIntValue(slice.getMixedStrides()[0], 1))
    return false;
  // The number of tokens is dynamic: two values can be the same size without
  // being the same value.
  FailureOr<bool> isWhole = ValueBoundsConstraintSet::areEqual(
      ValueBoundsConstraintSet::Variable(getRowsOrigin(slice.getSource()), 0),
      ValueBoundsConstraintSet::Variable(slice.getMixedSizes()[0]));
  return succeeded(isWhole) && *isWhole;
}

void gist::collectReaders(Value value, bool sameRows,
                          SmallVectorImpl<Reader> &readers) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<tensor::DimOp>(user))
      continue; // Sizes are known on the host.
    // Another operand of a view is an offset or a size, which is read as such.
    if (isView(user) && use.getOperandNumber() == 0)
      collectReaders(user->getResult(0), sameRows && keepsRows(user), readers);
    else
      readers.push_back({&use, sameRows});
  }
}

Operation *gist::getOwner(const OpOperand &operand, Block *block) {
  return block->findAncestorOpInBlock(*operand.getOwner());
}

bool gist::readsOwnRow(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (isa<DequantizeOp, QuantizeRowsOp, QuantizeBlocksOp>(op))
    return true;
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    // Rows that go into the cache stay whole, at another index.
    if (getUpdatedArgument(insert.getDest()))
      return &operand == &insert.getSourceMutable();
    FailureOr<bool> isWhole = ValueBoundsConstraintSet::areEqual(
        ValueBoundsConstraintSet::Variable(insert.getDest(), 0),
        ValueBoundsConstraintSet::Variable(insert.getMixedSizes()[0]));
    return insert.getSourceType().getRank() == insert.getDestType().getRank() &&
           isConstantIntValue(insert.getMixedOffsets()[0], 0) &&
           isConstantIntValue(insert.getMixedStrides()[0], 1) &&
           succeeded(isWhole) && *isWhole;
  }
  // Tensors side by side keep their rows; one below the other they do not.
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return concat.getDim() != 0;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  // With several results there would be several rows to compare with.
  if (!structured || op->getNumResults() != 1)
    return false;
  AffineMap result =
      structured.getMatchingIndexingMap(structured.getDpsInitOperand(0));
  AffineMap read = structured.getMatchingIndexingMap(&operand);
  if (result.getNumResults() == 0 || read.getNumResults() == 0)
    return false;
  // The row of the result is one loop, and the operand is read at that loop in
  // its first dimension and nowhere else.
  auto row = dyn_cast<AffineDimExpr>(result.getResult(0));
  if (!row || read.getResult(0) != row)
    return false;
  for (AffineExpr other : read.getResults().drop_front())
    if (other.isFunctionOfDim(row.getPosition()))
      return false;
  return true;
}

bool gist::readsOwnElement(OpOperand &operand) {
  auto structured = dyn_cast<linalg::LinalgOp>(operand.getOwner());
  return structured && structured->getNumResults() == 1 &&
         structured.getNumLoops() == structured.getNumParallelLoops() &&
         structured.isDpsInput(&operand) &&
         structured.getMatchingIndexingMap(&operand).isIdentity() &&
         structured.getMatchingIndexingMap(structured.getDpsInitOperand(0))
             .isIdentity();
}

bool gist::isConversion(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 1 ||
      !readsOwnElement(generic->getOpOperand(0)))
    return false;
  return llvm::all_of(generic.getBody()->without_terminator(),
                      llvm::IsaPred<arith::ExtFOp, arith::TruncFOp>);
}

/// The only op that reads `value`, if it is elementwise, else null.
/// Reads of a size do not count: the host knows sizes.
static Operation *getElementwiseReader(Value value) {
  OpOperand *reader = nullptr;
  for (OpOperand &use : value.getUses()) {
    if (isa<tensor::DimOp>(use.getOwner()))
      continue;
    if (reader)
      return nullptr;
    reader = &use;
  }
  return reader && readsOwnElement(*reader) ? reader->getOwner() : nullptr;
}

SmallVector<Operation *> gist::findMeeting(Value a, Value b) {
  SmallVector<Operation *> ops;
  for (;;) {
    Operation *readerA = getElementwiseReader(a);
    Operation *readerB = getElementwiseReader(b);
    if (readerA && readerA == readerB) {
      ops.push_back(readerA);
      return ops;
    }
    // The one that is first in the block cannot need the other.
    bool isA = readerA && (!readerB || readerA->isBeforeInBlock(readerB));
    Operation *next = isA ? readerA : readerB;
    if (!next)
      return {};
    ops.push_back(next);
    (isA ? a : b) = next->getResult(0);
  }
}

/// Up to this many rows of x a product is not tiled, and every workgroup reads
/// all of x.
static constexpr int64_t kFewRows = 8;
/// With more rows: numbers of x that every workgroup can reduce in less time
/// than a launch takes.
static constexpr int64_t kFewNumbers = 16384;

/// The most rows that `x` can have; a dynamic number of rows is that of the
/// tokens.
static int64_t getMostRows(Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  if (!type.isDynamicDim(0))
    return type.getDimSize(0);
  Operation *entry = x.getParentRegion()->getParentOp();
  auto most = entry->getAttrOfType<IntegerAttr>(kMaxTokensAttr);
  return most ? most.getInt() : ShapedType::kDynamic;
}

bool gist::isFewRows(OpOperand &operand) {
  auto product = dyn_cast<linalg::MatmulOp>(operand.getOwner());
  if (!product || operand.getOperandNumber() != 0 ||
      !isTransposedMatmul(product) ||
      !product.getDpsInits()[0].getDefiningOp<linalg::FillOp>() ||
      !isa<FloatType>(getElementTypeOrSelf(product.getDpsInputs()[1])))
    return false;
  auto type = cast<RankedTensorType>(operand.get().getType());
  int64_t rows = getMostRows(operand.get());
  if (ShapedType::isDynamic(rows))
    return false;
  return rows <= kFewRows || (type.isDynamicDim(0) && !type.isDynamicDim(1) &&
                              rows * type.getDimSize(1) <= kFewNumbers);
}

bool gist::isRowPrologue(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || structured->getNumResults() != 1)
    return false;
  AffineMap result =
      structured.getMatchingIndexingMap(structured.getDpsInitOperand(0));
  // Two loops of which one gives a number for each row: a norm's sum.
  return structured.getNumReductionLoops() == 0 ||
         (structured.getNumLoops() == 2 && result.getNumResults() == 1);
}

bool gist::isPointwise(Operation *op) {
  if (isa<tensor::InsertSliceOp>(op))
    return true;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && structured.getNumReductionLoops() == 0;
}
