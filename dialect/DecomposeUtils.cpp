//===- DecomposeUtils.cpp - The vocabulary of the definitions -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Words in which the definitions of ops are written: slices, loops and ragged
// batches.
//
//===----------------------------------------------------------------------===//

#include "dialect/DecomposeUtils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace gist;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// A constant where the size is static, so that types stay static.
OpFoldResult gist::getSize(ImplicitLocOpBuilder &b, Value tensor, int64_t dim) {
  return tensor::getMixedSize(b, b.getLoc(), tensor, dim);
}

Value gist::getSizeValue(ImplicitLocOpBuilder &b, Value tensor, int64_t dim) {
  return getValueOrCreateConstantIndexOp(b, b.getLoc(),
                                         getSize(b, tensor, dim));
}

Value gist::createEmpty(ImplicitLocOpBuilder &b, Sizes sizes, Type element) {
  return tensor::EmptyOp::create(b, sizes, element);
}

Value gist::createEmptyLike(ImplicitLocOpBuilder &b, Value tensor,
                            Type element) {
  return createEmpty(b, tensor::getMixedSizes(b, b.getLoc(), tensor), element);
}

Value gist::createFilled(ImplicitLocOpBuilder &b, Sizes sizes, Value scalar) {
  Value empty = createEmpty(b, sizes, scalar.getType());
  return linalg::FillOp::create(b, scalar, empty).getResult(0);
}

Value gist::load(ImplicitLocOpBuilder &b, Value tensor, ValueRange indices) {
  return tensor::ExtractOp::create(b, tensor, indices);
}

Value gist::store(ImplicitLocOpBuilder &b, Value scalar, Value tensor,
                  ValueRange indices) {
  return tensor::InsertOp::create(b, scalar, tensor, indices);
}

namespace {
/// Where the slice at one index of one dimension lies.
struct SliceRange {
  SmallVector<OpFoldResult> offsets, sizes, strides;

  SliceRange(ImplicitLocOpBuilder &b, Value tensor, int64_t dim, Value index) {
    sizes = tensor::getMixedSizes(b, b.getLoc(), tensor);
    offsets.assign(sizes.size(), b.getIndexAttr(0));
    strides.assign(sizes.size(), b.getIndexAttr(1));
    sizes[dim] = b.getIndexAttr(1);
    offsets[dim] = index;
  }
};
} // namespace

Value gist::takeSlice(ImplicitLocOpBuilder &b, Value tensor, int64_t dim,
                      Value index) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto shape = llvm::to_vector(type.getShape());
  shape.erase(shape.begin() + dim);
  // MLIR refuses offset 0 of a dimension that is known to be empty.
  if (llvm::is_contained(shape, 0)) {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(b, b.getLoc(), tensor);
    sizes.erase(sizes.begin() + dim);
    return createEmpty(b, sizes, type.getElementType());
  }
  SliceRange range(b, tensor, dim, index);
  return tensor::ExtractSliceOp::create(
      b, type.clone(shape), tensor, range.offsets, range.sizes, range.strides);
}

Value gist::putSlice(ImplicitLocOpBuilder &b, Value slice, Value tensor,
                     int64_t dim, Value index) {
  // takeSlice gives a new empty tensor there, and there is nothing to put.
  if (llvm::is_contained(cast<RankedTensorType>(slice.getType()).getShape(), 0))
    return tensor;
  SliceRange range(b, tensor, dim, index);
  return tensor::InsertSliceOp::create(b, slice, tensor, range.offsets,
                                       range.sizes, range.strides);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// "tv,t->tv": letters are dimensions. Those of the result are parallel loops,
/// the others are reductions, by `body`.
SmallVector<Value> gist::createLoops(ImplicitLocOpBuilder &b, StringRef dims,
                                     ValueRange inputs, ValueRange inits,
                                     ValuesBody body) {
  auto [inputDims, resultDims] = dims.split("->");
  // Loops are numbered in the order of their letters here.
  std::string loops = resultDims.str();
  for (char letter : inputDims)
    if (letter != ',' && !StringRef(loops).contains(letter))
      loops.push_back(letter);

  SmallVector<AffineMap> maps;
  auto addMap = [&](StringRef letters) {
    SmallVector<AffineExpr> results;
    for (char letter : letters)
      results.push_back(b.getAffineDimExpr(StringRef(loops).find(letter)));
    maps.push_back(AffineMap::get(loops.size(), 0, results, b.getContext()));
  };
  SmallVector<StringRef> operands;
  if (!inputs.empty())
    inputDims.split(operands, ',');
  // Splitting an empty text would give one empty group.
  assert(operands.size() == inputs.size() && "one group of letters per input");
  llvm::for_each(operands, addMap);
  for (size_t i = 0; i < inits.size(); ++i)
    addMap(resultDims);

  // Letters of the result come first in `loops`, so the parallel ones do too.
  SmallVector<utils::IteratorType> kinds(loops.size(),
                                         utils::IteratorType::reduction);
  std::fill_n(kinds.begin(), resultDims.size(), utils::IteratorType::parallel);
  auto build = [&](OpBuilder &nested, Location location, ValueRange args) {
    ValueBuilder inner(location, nested);
    linalg::YieldOp::create(inner, body(inner, args));
  };
  return llvm::to_vector_of<Value>(
      linalg::GenericOp::create(b, TypeRange(inits), inputs, inits, maps, kinds,
                                build)
          .getResults());
}

Value gist::createLoops(ImplicitLocOpBuilder &b, StringRef dims,
                        ValueRange inputs, Value init, ValueBody body) {
  auto one = [&](ValueBuilder &nested, ValueRange args) {
    return SmallVector<Value>{body(nested, args)};
  };
  return createLoops(b, dims, inputs, ValueRange(init), one).front();
}

Value gist::getLoopIndex(ImplicitLocOpBuilder &b, int64_t dim) {
  return linalg::IndexOp::create(b, dim);
}

/// Sums in f32 whatever the element type is.
Value gist::createProduct(ValueBuilder &b, StringRef dims, Value lhs, Value rhs,
                          Sizes sizes) {
  Value zeros = createFilled(b, sizes, b.f32(0));
  return createLoops(b, dims, {lhs, rhs}, zeros,
                     [](ValueBuilder &b, ValueRange args) -> Value {
                       Value product =
                           b.mul(b.toF32(args[0]), b.toF32(args[1]));
                       return b.add(args[2], product);
                     });
}

Value gist::createSquares(ValueBuilder &b, Value rows) {
  Value zeros = createFilled(b, getSize(b, rows, 0), b.f32(0));
  return createLoops(b, "td->t", rows, zeros,
                     [](ValueBuilder &b, ValueRange args) -> Value {
                       Value x = b.toF32(args[0]);
                       Value square = b.mul(x, x);
                       return b.add(args[1], square);
                     });
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

Value gist::multiplyBatches(ValueBuilder &b, Value lhs, Value rhs,
                            bool byRows) {
  SmallVector<OpFoldResult> sizes = {getSize(b, lhs, 0), getSize(b, lhs, 1),
                                     getSize(b, rhs, byRows ? 1 : 2)};
  Value zeros = createFilled(b, sizes, b.f32(0));
  AffineExpr batch, row, column, sum;
  bindDims(b.getContext(), batch, row, column, sum);
  auto map = [&](AffineExpr first, AffineExpr second) {
    return AffineMap::get(4, 0, {batch, first, second}, b.getContext());
  };
  SmallVector<AffineMap> maps = {map(row, sum),
                                 byRows ? map(column, sum) : map(sum, column),
                                 map(row, column)};
  auto product = linalg::BatchMatmulOp::create(
      b, zeros.getType(), ValueRange{lhs, rhs}, zeros,
      b.getNamedAttr("indexing_maps", b.getAffineMapArrayAttr(maps)));
  return product.getResult(0);
}

Value gist::transpose(ValueBuilder &b, Value x, ArrayRef<int64_t> order) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : order)
    sizes.push_back(getSize(b, x, dim));
  Type element = cast<RankedTensorType>(x.getType()).getElementType();
  Value empty = createEmpty(b, sizes, element);
  return linalg::TransposeOp::create(b, x, empty, order).getResult()[0];
}

Value gist::convert(ValueBuilder &b, Value x, Type element) {
  auto type = cast<RankedTensorType>(x.getType());
  if (type.getElementType() == element)
    return x;
  return createLoops(b, "abc->abc", x, createEmptyLike(b, x, element),
                     [&](ValueBuilder &b, ValueRange args) -> Value {
                       return element.isF32() ? b.toF32(args[0])
                                              : b.convert(args[0], element);
                     });
}

Value gist::splitHeads(ValueBuilder &b, Value rows) {
  return transpose(b, convert(b, rows, b.getF32Type()), {1, 0, 2});
}

//===----------------------------------------------------------------------===//
// Ragged batches
//===----------------------------------------------------------------------===//

Sequences::Sequences(ValueBuilder &b, Value offsets, OpFoldResult size)
    : offsets(offsets), size(size) {
  if (!offsets)
    return;
  // The sequence of a row is the last one that begins at or before it: their
  // number less one. Empty sequences share their beginning with the next.
  Value none = createFilled(b, size, b.i32(-1));
  numbers = createLoops(
      b, "n->i", offsets, none, [&](ValueBuilder &b, ValueRange args) -> Value {
        Value row = getLoopIndex(b, 0);
        Value begins =
            b.compare(arith::CmpIPredicate::sle, args[0], b.toI32(row));
        Value one = arith::ExtUIOp::create(b, b.getI32Type(), begins);
        return b.add(args[1], one);
      });
}

Bounds Sequences::getBoundsIn(ValueBuilder &b, Value otherOffsets,
                              Value i) const {
  Value number = b.toIndex(load(b, numbers, i));
  // Rows outside all sequences go with the first or last one, so that nothing
  // is read out of bounds; their results are undefined.
  Value last = b.sub(getSizeValue(b, offsets, 0), b.index(2));
  number = b.min(number, last);
  number = b.max(number, b.index(0));
  Value next = b.add(number, b.index(1));
  return {b.toIndex(load(b, otherOffsets, number)),
          b.toIndex(load(b, otherOffsets, next))};
}

/// Without offsets all rows are one sequence.
Bounds Sequences::getBounds(ValueBuilder &b, Value i) const {
  if (isRagged())
    return getBoundsIn(b, offsets, i);
  return {b.index(0), getValueOrCreateConstantIndexOp(b, b.getLoc(), size)};
}

Value Sequences::contains(ValueBuilder &b, Value i, Value s) const {
  if (!isRagged())
    return b.boolean(true);
  Bounds bounds = getBounds(b, i);
  return b.allOf({b.compare(arith::CmpIPredicate::sge, s, bounds.begin),
                  b.compare(arith::CmpIPredicate::slt, s, bounds.end)});
}
