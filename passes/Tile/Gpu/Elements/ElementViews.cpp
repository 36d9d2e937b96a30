//===- ElementViews.cpp - Elements of views, and where results go ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/Tile/Gpu/Elements/ElementEmitter.h"

using namespace mlir;
using namespace gist;

using Values = ElementEmitter::Values;

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Where in the whole the element at `indices` of a slice is.
Values ElementEmitter::getSliceIndices(OffsetSizeAndStrideOpInterface op,
                                       const llvm::SmallBitVector &dropped,
                                       ValueRange indices) {
  Values at;
  unsigned next = 0;
  for (auto [dim, offset, stride] :
       llvm::enumerate(op.getMixedOffsets(), op.getMixedStrides())) {
    Value first = number(offset);
    if (!dropped.test(dim))
      first = b.add(first, b.mul(indices[next++], number(stride)));
    at.push_back(first);
  }
  return at;
}

Value ElementEmitter::getSlice(tensor::ExtractSliceOp op, ValueRange indices,
                               int64_t width) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  Values at = getSliceIndices(op, dropped, indices);
  if (width == 1)
    return get(op.getSource(), at, 1);
  std::optional<int64_t> stride =
      getConstantIntValue(op.getMixedStrides().back());
  std::optional<int64_t> offset =
      getConstantIntValue(op.getMixedOffsets().back());
  RankedTensorType source = op.getSourceType();
  // Neighbours in the slice are neighbours in the source only along a dimension
  // that the slice has.
  bool keepsLast = !dropped.test(source.getRank() - 1);
  if (keepsLast && stride == 1)
    return get(op.getSource(), at, width);
  // Every n-th of a run that is all there.
  int64_t size = op.getType().getShape().back();
  int64_t whole = source.getShape().back();
  // Up to four times as much is read: still fewer loads than one for each.
  if (keepsLast && stride && *stride > 0 && *stride <= 4 && offset &&
      *offset < *stride && !ShapedType::isDynamic(size) &&
      !ShapedType::isDynamic(whole) && size * *stride <= whole) {
    at.back() = b.mul(indices.back(), *stride);
    Value run = get(op.getSource(), at, width * *stride);
    SmallVector<int64_t> lanes;
    for (int64_t i = 0; i < width; ++i)
      lanes.push_back(i * *stride + *offset);
    return b.shuffle(run, run, lanes);
  }
  return getInPieces(op.getResult(), indices, width, 1);
}

/// `width` neighbours of which every second is of the slice.
Value ElementEmitter::getInterleaved(tensor::InsertSliceOp op,
                                     ValueRange indices, int64_t width) {
  RankedTensorType type = op.getType();
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  SmallVector<OpFoldResult> strides = op.getMixedStrides();
  int64_t last = type.getRank() - 1, size = type.getDimSize(last);
  std::optional<int64_t> offset = getConstantIntValue(offsets[last]);
  if (width % 2 || op.getSourceType().getRank() != type.getRank() || !offset ||
      *offset > 1 || !isConstantIntValue(strides[last], 2) ||
      ShapedType::isDynamic(size) ||
      !isConstantIntValue(sizes[last], size / 2) || size % 2 ||
      GpuBuilder::getDivisor(indices.back()) < 2)
    return {};
  for (int64_t dim = 0; dim < last; ++dim) {
    bool isWhole = isConstantIntValue(offsets[dim], 0) &&
                   isConstantIntValue(strides[dim], 1) &&
                   areSame(number(sizes[dim]), this->size(op.getDest(), dim));
    if (!isWhole)
      return {};
  }
  Values at(indices);
  at.back() = b.div(indices.back(), 2);
  Value inside = get(op.getSource(), at, width / 2);
  Value outside = get(op.getDest(), indices, width);
  if (width == 2)
    return b.concat(*offset ? Values{b.extract(outside, 0), inside}
                            : Values{inside, b.extract(outside, 1)});
  SmallVector<int64_t> lanes;
  for (int64_t i = 0; i < width; ++i)
    lanes.push_back(i % 2 == *offset ? width + i / 2 : i);
  // Both operands of a shuffle may differ in length.
  return b.shuffle(outside, inside, lanes);
}

Value ElementEmitter::getInserted(tensor::InsertSliceOp op, ValueRange indices,
                                  int64_t width) {
  if (width > 1)
    if (Value value = getInterleaved(op, indices, width))
      return value;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  SmallVector<OpFoldResult> strides = op.getMixedStrides();

  // A vector is inside or outside as a whole if both ends of the slice are at
  // multiples of its length, as it is.
  int64_t last = op.getType().getRank() - 1;
  if (width > 1) {
    int64_t piece = GpuBuilder::getDivisor(indices.back());
    auto limit = [&](OpFoldResult bound) {
      std::optional<int64_t> constant = getConstantIntValue(bound);
      piece = constant
                  ? std::min(piece, GpuBuilder::getDivisor(b.index(*constant)))
                  : 1;
    };
    bool isWhole =
        isConstantIntValue(offsets[last], 0) &&
        getConstantIntValue(sizes[last]) == op.getType().getDimSize(last);
    if (!isWhole) {
      limit(offsets[last]);
      limit(sizes[last]);
    }
    if (dropped.test(last) || !isConstantIntValue(strides[last], 1))
      piece = 1;
    else if (isWhole)
      piece = width;
    if (piece < width)
      return getInPieces(op.getResult(), indices, width, piece);
  }

  Value isInside =
      arith::ConstantIntOp::create(b, b.getI1Type(), 1).getResult();
  Values at;
  for (int64_t dim = 0; dim <= last; ++dim) {
    Value offset = number(offsets[dim]), count = number(sizes[dim]);
    Value stride = number(strides[dim]);
    Value distance = b.sub(indices[dim], offset);
    Value i = b.div(distance, stride);
    if (!dropped.test(dim))
      at.push_back(i);
    bool isWhole = isConstantIntValue(offset, 0) &&
                   isConstantIntValue(stride, 1) &&
                   areSame(count, size(op.getDest(), dim));
    if (isWhole)
      continue;
    Value isPast = b.compare(arith::CmpIPredicate::sge, distance, b.index(0));
    isInside = b.both(isInside, isPast);
    isInside = b.both(isInside, b.isLess(i, count));
    if (!isConstantIntValue(stride, 1))
      isInside = b.both(isInside, b.isEqual(b.rem(distance, stride), 0));
  }
  // A branch and not a selection: the other side may be out of bounds.
  return b.ifElse(
      isInside, [&] { return get(op.getSource(), at, width); },
      [&] { return get(op.getDest(), indices, width); });
}

Value ElementEmitter::getPadded(tensor::PadOp op, ValueRange indices,
                                int64_t width) {
  Value padding = op.getConstantPaddingValue();
  if (!padding) {
    op->emitOpError("pads with a value that is not a constant");
    return fail(op.getResult(), width);
  }
  int64_t last = op.getType().getRank() - 1;
  bool isWhole = isConstantIntValue(op.getMixedLowPad()[last], 0) &&
                 isConstantIntValue(op.getMixedHighPad()[last], 0);
  if (width > 1 && !isWhole)
    return getInPieces(op.getResult(), indices, width, 1);
  Value isInside =
      arith::ConstantIntOp::create(b, b.getI1Type(), 1).getResult();
  Values at;
  for (auto [dim, low, high] :
       llvm::enumerate(op.getMixedLowPad(), op.getMixedHighPad())) {
    Value i = b.sub(indices[dim], number(low));
    at.push_back(i);
    if (!isConstantIntValue(low, 0))
      isInside =
          b.both(isInside, b.compare(arith::CmpIPredicate::sge, i, b.index(0)));
    if (!isConstantIntValue(high, 0))
      isInside = b.both(isInside, b.isLess(i, size(op.getSource(), dim)));
  }
  return b.ifElse(
      isInside, [&] { return get(op.getSource(), at, width); },
      [&] { return b.broadcast(number(padding), width); });
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Indices of `tensor`, of which groups of dimensions are one dimension each.
static Values expandIndices(ElementEmitter &emitter, Value tensor,
                            ArrayRef<ReassociationIndices> groups,
                            ValueRange indices) {
  Values at;
  if (groups.empty()) // All sizes are one.
    return Values(cast<RankedTensorType>(tensor.getType()).getRank(),
                  emitter.getBuilder().index(0));
  for (auto [group, i] : llvm::zip_equal(groups, indices)) {
    if (group.size() == 1) {
      at.push_back(i);
      continue;
    }
    Values sizes;
    for (int64_t dim : group)
      sizes.push_back(emitter.size(tensor, dim));
    llvm::append_range(at, emitter.getBuilder().delinearize(i, sizes));
  }
  return at;
}

/// The indices of the dimensions that groups of `tensor`'s are.
static Values collapseIndices(ElementEmitter &emitter, Value tensor,
                              ArrayRef<ReassociationIndices> groups,
                              ValueRange indices) {
  Values at;
  for (const ReassociationIndices &group : groups) {
    Values sizes, inside;
    for (int64_t dim : group) {
      sizes.push_back(emitter.size(tensor, dim));
      inside.push_back(indices[dim]);
    }
    at.push_back(emitter.getBuilder().linearize(inside, sizes));
  }
  return at;
}

Value ElementEmitter::getCollapsed(tensor::CollapseShapeOp op,
                                   ValueRange indices, int64_t width) {
  auto groups = op.getReassociationIndices();
  if (width > 1 && groups.back().size() > 1) {
    // A vector must not leave the innermost of the dimensions.
    int64_t size = op.getSrcType().getShape().back();
    int64_t piece =
        ShapedType::isDynamic(size)
            ? 1
            : std::min(GpuBuilder::getDivisor(indices.back()), size & -size);
    if (piece < width && size != op.getType().getShape().back())
      return getInPieces(op.getResult(), indices, width, piece);
  }
  return get(op.getSrc(), expandIndices(*this, op.getSrc(), groups, indices),
             width);
}

Value ElementEmitter::getExpanded(tensor::ExpandShapeOp op, ValueRange indices,
                                  int64_t width) {
  return get(op.getSrc(),
             collapseIndices(*this, op.getResult(),
                             op.getReassociationIndices(), indices),
             width);
}

//===----------------------------------------------------------------------===//
// Views of memory
//===----------------------------------------------------------------------===//

/// Row-major strides; kDynamic in front of a dynamic size.
static SmallVector<int64_t> getStrides(ArrayRef<int64_t> shape,
                                       int64_t innermost = 1) {
  SmallVector<int64_t> strides(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = innermost;
    innermost =
        ShapedType::isDynamic(innermost) || ShapedType::isDynamic(shape[i])
            ? ShapedType::kDynamic
            : innermost * shape[i];
  }
  return strides;
}

std::optional<MemoryAccess> ElementEmitter::asMemory(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (bound.contains(tensor))
    return std::nullopt;
  if (isa<BlockArgument>(tensor))
    return MemoryAccess{arguments.lookup(tensor), getStrides(type.getShape()),
                        [](ValueRange indices) { return Values(indices); }};
  Operation *op = tensor.getDefiningOp();
  if (!isa<tensor::CastOp, tensor::ExtractSliceOp, tensor::ExpandShapeOp,
           tensor::CollapseShapeOp>(op))
    return std::nullopt;
  std::optional<MemoryAccess> source = asMemory(op->getOperand(0));
  if (!source || isa<tensor::CastOp>(op))
    return source;
  MemoryAccess access = {source->buffer, {}, {}};
  auto of = source->at;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (auto [dim, step] : llvm::enumerate(slice.getMixedStrides())) {
      if (dropped.test(dim))
        continue;
      std::optional<int64_t> constant = getConstantIntValue(step);
      bool isKnown = constant && !ShapedType::isDynamic(source->strides[dim]);
      access.strides.push_back(isKnown ? source->strides[dim] * *constant
                                       : ShapedType::kDynamic);
    }
    access.at = [this, slice, dropped, of](ValueRange indices) {
      return of(getSliceIndices(slice, dropped, indices));
    };
    return access;
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    auto groups = expand.getReassociationIndices();
    for (auto [group, stride] : llvm::zip_equal(groups, source->strides)) {
      SmallVector<int64_t> shape;
      for (int64_t dim : group)
        shape.push_back(type.getDimSize(dim));
      llvm::append_range(access.strides, getStrides(shape, stride));
    }
    access.at = [this, tensor, groups, of](ValueRange indices) {
      return of(collapseIndices(*this, tensor, groups, indices));
    };
    return access;
  }
  auto collapse = cast<tensor::CollapseShapeOp>(op);
  auto groups = collapse.getReassociationIndices();
  for (const ReassociationIndices &group : groups) {
    for (auto [outer, inner] : llvm::zip(group, ArrayRef(group).drop_front())) {
      int64_t size = collapse.getSrcType().getDimSize(inner);
      // Dimensions are one only where they lie behind each other without a gap.
      if (ShapedType::isDynamic(size) ||
          ShapedType::isDynamic(source->strides[inner]) ||
          source->strides[outer] != source->strides[inner] * size)
        return std::nullopt;
    }
    access.strides.push_back(source->strides[group.back()]);
  }
  Value whole = collapse.getSrc();
  access.at = [this, whole, groups, of](ValueRange indices) {
    return of(expandIndices(*this, whole, groups, indices));
  };
  return access;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static BlockArgument getDestination(func::FuncOp kernel, unsigned result) {
  // Destinations are the last arguments of a kernel.
  unsigned first = kernel.getNumArguments() - kernel.getNumResults();
  return kernel.getArgument(first + result);
}

/// The op that replaces a part of the destination of a result, or null.
static tensor::InsertSliceOp getUpdate(func::FuncOp kernel, unsigned result) {
  auto end = cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
  auto insert = end.getOperand(result).getDefiningOp<tensor::InsertSliceOp>();
  return insert && insert.getDest() == getDestination(kernel, result)
             ? insert
             : tensor::InsertSliceOp();
}

Value gist::getWrittenTensor(func::FuncOp kernel, unsigned result) {
  if (auto update = getUpdate(kernel, result))
    return update.getSource();
  return kernel.getBody().front().getTerminator()->getOperand(result);
}

SmallVector<OpFoldResult> ElementEmitter::getWrittenSizes(unsigned result) {
  SmallVector<OpFoldResult> sizes;
  if (auto update = getUpdate(kernel, result)) {
    llvm::SmallBitVector dropped = update.getDroppedDims();
    for (auto [dim, size] : llvm::enumerate(update.getMixedSizes()))
      if (!dropped.test(dim))
        sizes.push_back(size);
    return sizes;
  }
  // The destination's own sizes are the kernel's numbers.
  BlockArgument destination = getDestination(kernel, result);
  OpBuilder source = OpBuilder::atBlockBegin(&kernel.getBody().front());
  return tensor::getMixedSizes(source, kernel.getLoc(), destination);
}

void ElementEmitter::store(unsigned result, ValueRange indices, Value value) {
  Value destination = arguments.lookup(getDestination(kernel, result));
  Type element = cast<MemRefType>(destination.getType()).getElementType();
  // Bodies compute in f32; integers have their type already.
  if (isa<FloatType>(element))
    value = b.convert(value, element);
  Values at(indices);
  if (auto update = getUpdate(kernel, result)) {
    at = getSliceIndices(update, update.getDroppedDims(), indices);
    auto type = dyn_cast<VectorType>(value.getType());
    bool isContiguous =
        isConstantIntValue(update.getMixedStrides().back(), 1) &&
        !update.getDroppedDims().test(update.getType().getRank() - 1);
    if (type && !isContiguous) {
      for (int64_t i = 0; i < type.getNumElements(); ++i) {
        Values lane(indices);
        lane.back() = b.add(indices.back(), i);
        b.write(b.extract(value, i), destination,
                getSliceIndices(update, update.getDroppedDims(), lane));
      }
      return;
    }
  }
  b.write(value, destination, at);
}
