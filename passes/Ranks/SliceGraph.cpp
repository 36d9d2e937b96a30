//===- SliceGraph.cpp - Parts of the values of a graph --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each op says which parts of its operands a part of its result needs. What is
// not listed here has no parts.
//
//===----------------------------------------------------------------------===//

#include "passes/Ranks/SliceGraph.h"
#include "dialect/GistRankOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gist;

static RankedTensorType getType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static RankedTensorType withSize(Value value, int64_t axis, int64_t size) {
  SmallVector<int64_t> shape(getType(value).getShape());
  shape[axis] = size;
  return getType(value).clone(shape);
}

FailureOr<Value> GraphSlicer::slice(Value value, int64_t axis, Share range) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.isDynamicDim(axis) || range.size() <= 0)
    return failure();
  if (range == Share{0, type.getDimSize(axis)})
    return value;
  Key key(value.getAsOpaquePointer(), axis, range.begin, range.end);
  if (auto found = known.find(key); found != known.end())
    return found->second;
  FailureOr<Value> part = visit(value, axis, range);
  known.emplace(key, part);
  return part;
}

FailureOr<Value> GraphSlicer::visit(Value value, int64_t axis, Share range) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return visitArgument(argument, axis, range);
  return llvm::TypeSwitch<Operation *, FailureOr<Value>>(value.getDefiningOp())
      .Case<WeightOp, DequantizeOp, tensor::EmptyOp, tensor::ExpandShapeOp,
            tensor::CollapseShapeOp, tensor::ExtractSliceOp,
            tensor::InsertSliceOp, AttentionOp, linalg::LinalgOp>(
          [&](auto op) { return visitOp(op, axis, range); })
      .Default([](Operation *) { return failure(); });
}

Value GraphSlicer::rebuild(Operation *op, ValueRange operands, int64_t axis,
                           Share range) {
  if (!build)
    return op->getResult(0); // Any value of the right type; it is never read.
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  return clone(builder, op, withSize(op->getResult(0), axis, range.size()),
               operands)
      ->getResult(0);
}

/// A cache. All readers have to take the same part.
FailureOr<Value> GraphSlicer::visitArgument(BlockArgument argument,
                                            int64_t axis, Share range) {
  auto [at, isNew] = kept.try_emplace(argument.getArgNumber(), axis, range);
  if (at->second.axis != axis || !(at->second.range == range))
    return failure();
  if (isNew && build)
    argument.setType(withSize(argument, axis, range.size()));
  return Value(argument);
}

FailureOr<Value> GraphSlicer::visitOp(WeightOp op, int64_t axis, Share range) {
  if (axis > 1)
    return failure();
  if (!build)
    return op.getResult();
  OpBuilder builder(op);
  std::string name =
      (op.getName() + (axis == 0 ? "[" : "[:, ") + std::to_string(range.begin) +
       ":" + std::to_string(range.end) + "]")
          .str();
  // Functions of a module read the same parts.
  if (parts.insert(name).second && !module.lookupSymbol(name)) {
    OpBuilder outside = OpBuilder::atBlockBegin(module.getBody());
    WeightPartOp::create(outside, op.getLoc(), name, op.getName(), axis,
                         range.begin, range.size());
  }
  return WeightOp::create(builder, op.getLoc(),
                          withSize(op.getResult(), axis, range.size()),
                          builder.getStringAttr(name), op.getLayerAttr())
      .getResult();
}

FailureOr<Value> GraphSlicer::visitOp(DequantizeOp op, int64_t axis,
                                      Share range) {
  // rows x blocks x bytes, and rows x columns.
  int64_t length = 1;
  if (axis == 1)
    length = getType(op->getResult(0)).getDimSize(1) /
             getType(op.getBlocks()).getDimSize(1);
  if (axis > 1 || range.begin % length != 0 || range.end % length != 0)
    return failure();
  FailureOr<Value> blocks =
      slice(op.getBlocks(), axis, {range.begin / length, range.end / length});
  if (failed(blocks))
    return failure();
  return rebuild(op, *blocks, axis, range);
}

FailureOr<Value> GraphSlicer::visitOp(tensor::EmptyOp op, int64_t axis,
                                      Share range) {
  return rebuild(op, op->getOperands(), axis, range);
}

/// Where dimension `axis` is among the `dims` that are one dimension elsewhere:
/// how many elements one step of it is. None if it is not the outermost.
static std::optional<int64_t> getStep(ArrayRef<int64_t> shape,
                                      ArrayRef<int64_t> dims, int64_t axis) {
  int64_t step = 1;
  for (int64_t dim : dims) {
    if (dim < axis && shape[dim] != 1)
      return std::nullopt;
    if (dim > axis)
      step *= shape[dim]; // Static: only the first dimension is not.
  }
  return step;
}

FailureOr<Value> GraphSlicer::visitOp(tensor::ExpandShapeOp op, int64_t axis,
                                      Share range) {
  for (auto [number, dims] : llvm::enumerate(op.getReassociationIndices())) {
    if (!llvm::is_contained(dims, axis))
      continue;
    std::optional<int64_t> step =
        getStep(op.getResultType().getShape(), dims, axis);
    if (!step)
      return failure();
    FailureOr<Value> source = slice(op.getSrc(), number, range * *step);
    if (failed(source))
      return failure();
    if (!build)
      return op.getResult();
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    SmallVector<OpFoldResult> shape = op.getMixedOutputShape();
    shape[axis] = builder.getIndexAttr(range.size());
    return tensor::ExpandShapeOp::create(
               builder, op.getLoc(),
               withSize(op.getResult(), axis, range.size()), *source,
               op.getReassociationIndices(), shape)
        .getResult();
  }
  return failure();
}

FailureOr<Value> GraphSlicer::visitOp(tensor::CollapseShapeOp op, int64_t axis,
                                      Share range) {
  ReassociationIndices dims = op.getReassociationIndices()[axis];
  ArrayRef<int64_t> shape = op.getSrcType().getShape();
  const auto *outer =
      llvm::find_if(dims, [&](int64_t dim) { return shape[dim] != 1; });
  if (outer == dims.end())
    return failure();
  std::optional<int64_t> step = getStep(shape, dims, *outer);
  if (!step || range.begin % *step != 0 || range.end % *step != 0)
    return failure();
  FailureOr<Value> source =
      slice(op.getSrc(), *outer, {range.begin / *step, range.end / *step});
  if (failed(source))
    return failure();
  return rebuild(op, *source, axis, range);
}

/// The dimension of the larger tensor that is dimension `axis` of a slice.
static int64_t getOuterAxis(const llvm::SmallBitVector &dropped, int64_t axis) {
  for (int64_t outer = 0;; ++outer)
    if (!dropped.test(outer) && axis-- == 0)
      return outer;
}

FailureOr<Value> GraphSlicer::visitOp(tensor::ExtractSliceOp op, int64_t axis,
                                      Share range) {
  int64_t outer = getOuterAxis(op.getDroppedDims(), axis);
  std::optional<int64_t> offset =
      getConstantIntValue(op.getMixedOffsets()[outer]);
  if (!offset || !isConstantIntValue(op.getMixedStrides()[outer], 1))
    return failure();
  FailureOr<Value> source = slice(op.getSource(), outer,
                                  {*offset + range.begin, *offset + range.end});
  if (failed(source))
    return failure();
  if (!build)
    return op.getResult();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  // The part of the source begins where this slice does.
  offsets[outer] = builder.getIndexAttr(0);
  sizes[outer] = builder.getIndexAttr(range.size());
  return tensor::ExtractSliceOp::create(
             builder, op.getLoc(), withSize(op.getResult(), axis, range.size()),
             *source, offsets, sizes, op.getMixedStrides())
      .getResult();
}

/// Only where the slice goes from one end of the dimension to the other.
FailureOr<Value> GraphSlicer::visitOp(tensor::InsertSliceOp op, int64_t axis,
                                      Share range) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  if (dropped.test(axis) ||
      !isConstantIntValue(op.getMixedOffsets()[axis], 0) ||
      !isConstantIntValue(op.getMixedSizes()[axis],
                          op.getDestType().getDimSize(axis)))
    return failure();
  int64_t inner = axis - static_cast<int64_t>(llvm::count_if(
                             llvm::seq<int64_t>(0, axis),
                             [&](int64_t dim) { return dropped.test(dim); }));
  FailureOr<Value> source = slice(op.getSource(), inner, range);
  FailureOr<Value> dest = slice(op.getDest(), axis, range);
  if (failed(source) || failed(dest))
    return failure();
  if (!build)
    return op.getResult();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  sizes[axis] = builder.getIndexAttr(range.size());
  return tensor::InsertSliceOp::create(builder, op.getLoc(), *source, *dest,
                                       op.getMixedOffsets(), sizes,
                                       op.getMixedStrides())
      .getResult();
}

FailureOr<Value> GraphSlicer::visitOp(linalg::LinalgOp op, int64_t axis,
                                      Share range) {
  if (op->getNumResults() != 1)
    return failure();
  auto loop = dyn_cast<AffineDimExpr>(
      op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResult(axis));
  // Which element it is must not matter to what is done with it.
  if (!loop ||
      op.getIteratorTypesArray()[loop.getPosition()] !=
          utils::IteratorType::parallel ||
      op->walk([&](linalg::IndexOp index) {
          return index.getDim() == loop.getPosition() ? WalkResult::interrupt()
                                                      : WalkResult::advance();
        }).wasInterrupted())
    return failure();
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    Value part = operand.get();
    bool isSliced = false;
    // Scalars have no dimensions.
    for (auto [dim, index] :
         llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      if (!index.isFunctionOfDim(loop.getPosition()))
        continue;
      // A second range of one operand would be a part of a part.
      if (index != loop || isSliced)
        return failure();
      isSliced = true;
      FailureOr<Value> sliced =
          slice(operand.get(), static_cast<int64_t>(dim), range);
      if (failed(sliced))
        return failure();
      part = *sliced;
    }
    operands.push_back(part);
  }
  return rebuild(op, operands, axis, range);
}

FailureOr<Value> GraphSlicer::visitOp(AttentionOp op, int64_t axis,
                                      Share range) {
  int64_t heads = getType(op.getQuery()).getDimSize(1);
  int64_t keyHeads = getType(op.getKey()).getDimSize(1);
  if (axis != 1 || heads % keyHeads != 0)
    return failure();
  int64_t group = heads / keyHeads;
  Share keys{range.begin / group, (range.end + group - 1) / group};
  // Whole groups, or a part of one.
  if (keys.size() > 1 && !(keys * group == range))
    return failure();
  FailureOr<Value> query = slice(op.getQuery(), 1, range);
  FailureOr<Value> key = slice(op.getKey(), 1, keys);
  FailureOr<Value> value = slice(op.getValue(), 1, keys);
  if (failed(query) || failed(key) || failed(value))
    return failure();
  SmallVector<Value> operands(op->getOperands());
  operands[0] = *query;
  operands[1] = *key;
  operands[2] = *value;
  return rebuild(op, operands, axis, range);
}
