//===- QuantOps.cpp - Linear layers in 8 bits -----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows in 8 bits and their products with block-quantised weights: verifiers,
// shapes and tiling. dialect/DecomposeQuant.cpp has what they compute.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "dialect/Tiling.h"
#include "dialect/Verify.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace gist;
using utils::IteratorType;

static constexpr int64_t kBlock = PackingAttr::kBlock;

//===----------------------------------------------------------------------===//
// Helpers for tiling
//===----------------------------------------------------------------------===//

/// `value` cut to `size` at `offset` along dimension 0.
/// Rows are what tiles are made of here: blocks along a row are never cut.
static Value createRowSlice(OpBuilder &builder, Location location, Value value,
                            OpFoldResult offset, OpFoldResult size) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, location, value);
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  offsets[0] = offset;
  sizes[0] = size;
  return tensor::ExtractSliceOp::create(builder, location, value, offsets,
                                        sizes, strides);
}

//===----------------------------------------------------------------------===//
// quantize_rows: tiles are rows
//===----------------------------------------------------------------------===//

LogicalResult QuantizeRowsOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  RankedTensorType input =
      getTensorType(location, adaptor.getInput(), 2, 2, "input");
  if (!input)
    return failure();
  int64_t length = input.getDimSize(1);
  // A scale belongs to a whole block, so rows are whole blocks of a known
  // number.
  if (ShapedType::isDynamic(length) || length % kBlock != 0) // (C1)
    return emitOptionalError(location, "expects rows of a multiple of ", kBlock,
                             " values, got ", printSize(length));
  types.push_back(
      RankedTensorType::get(input.getShape(), IntegerType::get(context, 8)));
  types.push_back(RankedTensorType::get({input.getDimSize(0), length / kBlock},
                                        Float32Type::get(context)));
  return success();
}

LogicalResult
QuantizeRowsOp::reifyResultShapes(OpBuilder &builder,
                                  ReifiedRankedShapedTypeDims &shapes) {
  OpFoldResult rows = tensor::getMixedSize(builder, getLoc(), getInput(), 0);
  for (Value result : getResults())
    shapes.push_back(
        {rows, builder.getIndexAttr(
                   cast<ShapedType>(result.getType()).getDimSize(1))});
  return success();
}

SmallVector<IteratorType> QuantizeRowsOp::getLoopIteratorTypes() {
  return {IteratorType::parallel};
}

SmallVector<Range> QuantizeRowsOp::getIterationDomain(OpBuilder &builder) {
  return {getRange(builder, getLoc(), getInput(), 0)};
}

FailureOr<TilingResult>
QuantizeRowsOp::getTiledImplementation(OpBuilder &builder,
                                       ArrayRef<OpFoldResult> offsets,
                                       ArrayRef<OpFoldResult> sizes) {
  Value input =
      createRowSlice(builder, getLoc(), getInput(), offsets[0], sizes[0]);
  auto tiled = QuantizeRowsOp::create(builder, getLoc(), input);
  return TilingResult{{tiled},
                      SmallVector<Value>(tiled->getResults()),
                      {input.getDefiningOp()}};
}

LogicalResult QuantizeRowsOp::getResultTilePosition(
    OpBuilder &builder, unsigned number, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  // Tiles have whole rows of both results: values and scales.
  auto type = cast<ShapedType>(getResult(number).getType());
  resultOffsets.assign({offsets[0], builder.getIndexAttr(0)});
  resultSizes.assign({sizes[0], builder.getIndexAttr(type.getDimSize(1))});
  return success();
}

// Two results share one loop: the tile of one gives the tile of the other.
FailureOr<TilingResult>
QuantizeRowsOp::generateResultTileValue(OpBuilder &builder, unsigned number,
                                        ArrayRef<OpFoldResult> offsets,
                                        ArrayRef<OpFoldResult> sizes) {
  FailureOr<TilingResult> result =
      getTiledImplementation(builder, {offsets[0]}, {sizes[0]});
  if (succeeded(result))
    result->tiledValues = {result->tiledValues[number]};
  return result;
}

//===----------------------------------------------------------------------===//
// guarded_matmul: tiles are rows x columns
//===----------------------------------------------------------------------===//

/// Always f32: products are summed in it.
LogicalResult GuardedMatmulOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  RankedTensorType input =
      getTensorType(location, adaptor.getInput(), 2, 2, "input");
  RankedTensorType weight =
      getTensorType(location, adaptor.getWeight(), 2, 2, "weight");
  RankedTensorType guard =
      getTensorType(location, adaptor.getGuard(), 1, 1, "guard");
  if (!input || !weight || !guard)
    return failure();
  if (!canBeEqual(input.getDimSize(1), weight.getDimSize(1))) // (C1)
    return emitOptionalError(location,
                             "expects a weight with as many columns "
                             "as the input, got ",
                             weight, " and ", input);
  if (!canBeEqual(input.getDimSize(0), guard.getDimSize(0))) // (C2)
    return emitOptionalError(location, "expects one guard per row, got ", guard,
                             " for ", input);
  types.push_back(RankedTensorType::get(
      {input.getDimSize(0), weight.getDimSize(0)}, Float32Type::get(context)));
  return success();
}

LogicalResult
GuardedMatmulOp::reifyResultShapes(OpBuilder &builder,
                                   ReifiedRankedShapedTypeDims &shapes) {
  shapes.assign({{tensor::getMixedSize(builder, getLoc(), getInput(), 0),
                  tensor::getMixedSize(builder, getLoc(), getWeight(), 0)}});
  return success();
}

SmallVector<IteratorType> GuardedMatmulOp::getLoopIteratorTypes() {
  return {IteratorType::parallel, IteratorType::parallel};
}

SmallVector<Range> GuardedMatmulOp::getIterationDomain(OpBuilder &builder) {
  return {getRange(builder, getLoc(), getInput(), 0),
          getRange(builder, getLoc(), getWeight(), 0)};
}

FailureOr<TilingResult>
GuardedMatmulOp::getTiledImplementation(OpBuilder &builder,
                                        ArrayRef<OpFoldResult> offsets,
                                        ArrayRef<OpFoldResult> sizes) {
  // Input and guard are cut by rows, the weight by its rows, which are columns
  // of the result.
  auto cut = [&](Value value, unsigned dim) {
    return createRowSlice(builder, getLoc(), value, offsets[dim], sizes[dim]);
  };
  Value input = cut(getInput(), 0), weight = cut(getWeight(), 1);
  Value guard = cut(getGuard(), 0);
  auto tiled = GuardedMatmulOp::create(builder, getLoc(), input, weight, guard);
  return TilingResult{
      {tiled},
      {tiled.getResult()},
      {input.getDefiningOp(), weight.getDefiningOp(), guard.getDefiningOp()}};
}

LogicalResult GuardedMatmulOp::getResultTilePosition(
    OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  resultOffsets.assign(offsets.begin(), offsets.end());
  resultSizes.assign(sizes.begin(), sizes.end());
  return success();
}

FailureOr<TilingResult>
GuardedMatmulOp::generateResultTileValue(OpBuilder &builder, unsigned,
                                         ArrayRef<OpFoldResult> offsets,
                                         ArrayRef<OpFoldResult> sizes) {
  return getTiledImplementation(builder, offsets, sizes);
}

//===----------------------------------------------------------------------===//
// quantized_matmul: tiles are rows x columns
//===----------------------------------------------------------------------===//

LogicalResult QuantizedMatmulOp::verify() {
  RankedTensorType values = getValues().getType();
  RankedTensorType scales = getScales().getType();
  RankedTensorType weight = getWeight().getType();
  RankedTensorType result = getResult().getType();
  int64_t length = values.getDimSize(1);
  if (ShapedType::isDynamic(length) || length % kBlock != 0 ||
      !canBeEqual(scales.getDimSize(1), length / kBlock) ||
      !canBeEqual(scales.getDimSize(0), values.getDimSize(0))) // (C1)
    return emitOpError("expects values of T x K and scales of T x K / ")
           << kBlock << ", got " << values << " and " << scales;
  int64_t columns = result.getDimSize(1);
  // Packed weights are tiles x blocks x bytes. The number of tiles is open
  // where the columns are.
  if (PackingAttr packing = getPackedAttr()) {
    SmallVector<int64_t, 3> shape = packing.getPackedShape(columns, length);
    if (ShapedType::isDynamic(columns))
      shape[0] = ShapedType::kDynamic;
    if (!canBeEqual(weight.getDimSize(0), shape[0]) ||
        weight.getDimSize(1) != shape[1] ||
        weight.getDimSize(2) != shape[2]) // (C3)
      return emitOpError("expects a packed weight of ")
             << printSize(shape[0]) << " x " << shape[1] << " x " << shape[2]
             << " bytes, got " << weight;
  } else {
    BlockLayout layout = getBlockLayout(getFormat());
    // Divided, for the number of blocks may be open or have no product.
    if (!canBeEqual(weight.getDimSize(0), columns) ||
        length % layout.values != 0 ||
        weight.getDimSize(1) != length / layout.values ||
        weight.getDimSize(2) != layout.bytes) // (C2)
      return emitOpError("expects a weight of ")
             << printSize(columns) << " x " << length << " values in blocks of "
             << stringifyBlockFormat(getFormat()) << ", got " << weight;
  }
  if (!canBeEqual(result.getDimSize(0), values.getDimSize(0))) // (C4)
    return emitOpError("expects as many rows in the result as in the values, "
                       "got ")
           << result << " and " << values;
  // A packed weight is padded to whole tiles, so its shape does not tell how
  // many columns there are.
  if (ShapedType::isDynamic(columns) != static_cast<bool>(getColumns())) // (C4)
    return emitOpError("expects columns to be given iff the result has a "
                       "dynamic number of them, got ")
           << result;
  if (getGuard() && !canBeEqual(getGuard().getType().getDimSize(0),
                                values.getDimSize(0))) // (C5)
    return emitOpError("expects one guard per row, got ")
           << getGuard().getType() << " for " << values;
  return success();
}

LogicalResult
QuantizedMatmulOp::reifyResultShapes(OpBuilder &builder,
                                     ReifiedRankedShapedTypeDims &shapes) {
  OpFoldResult columns =
      getColumns()
          ? OpFoldResult(getColumns())
          : OpFoldResult(builder.getIndexAttr(getType().getDimSize(1)));
  shapes.assign(
      {{tensor::getMixedSize(builder, getLoc(), getValues(), 0), columns}});
  return success();
}

SmallVector<IteratorType> QuantizedMatmulOp::getLoopIteratorTypes() {
  return {IteratorType::parallel, IteratorType::parallel};
}

/// From the result's shape: a packed weight does not have the number of columns
/// as a dimension.
SmallVector<Range> QuantizedMatmulOp::getIterationDomain(OpBuilder &builder) {
  ReifiedRankedShapedTypeDims shapes;
  (void)reifyResultShapes(builder, shapes);
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  return {{zero, shapes[0][0], one}, {zero, shapes[0][1], one}};
}

FailureOr<TilingResult>
QuantizedMatmulOp::getTiledImplementation(OpBuilder &builder,
                                          ArrayRef<OpFoldResult> offsets,
                                          ArrayRef<OpFoldResult> sizes) {
  Location location = getLoc();
  OpFoldResult firstRow = offsets[1], rows = sizes[1];
  if (PackingAttr packing = getPackedAttr()) {
    // Tiles begin at whole groups of columns; the tiling sizes see to that.
    AffineExpr size = builder.getAffineDimExpr(0);
    int64_t columns = packing.getColumns();
    firstRow = affine::makeComposedFoldedAffineApply(
        builder, location, size.floorDiv(columns), {firstRow});
    // The last tile may be part full.
    rows = affine::makeComposedFoldedAffineApply(builder, location,
                                                 size.ceilDiv(columns), {rows});
  }
  Value values =
      createRowSlice(builder, location, getValues(), offsets[0], sizes[0]);
  Value scales =
      createRowSlice(builder, location, getScales(), offsets[0], sizes[0]);
  Value weight = createRowSlice(builder, location, getWeight(), firstRow, rows);
  // Sizes that are constants go into the type, the others become operands.
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(sizes, dynamic, shape);
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  SmallVector<Operation *> slices = {
      values.getDefiningOp(), scales.getDefiningOp(), weight.getDefiningOp()};
  Value guard;
  if (getGuard()) {
    guard = createRowSlice(builder, location, getGuard(), offsets[0], sizes[0]);
    slices.push_back(guard.getDefiningOp());
  }
  auto tiled = QuantizedMatmulOp::create(
      builder, location, type, values, scales, weight, getFormatAttr(),
      getPackedAttr(), dyn_cast<Value>(sizes[1]), guard);
  return TilingResult{{tiled}, {tiled.getResult()}, slices};
}

LogicalResult QuantizedMatmulOp::getResultTilePosition(
    OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  resultOffsets.assign(offsets.begin(), offsets.end());
  resultSizes.assign(sizes.begin(), sizes.end());
  return success();
}

FailureOr<TilingResult>
QuantizedMatmulOp::generateResultTileValue(OpBuilder &builder, unsigned,
                                           ArrayRef<OpFoldResult> offsets,
                                           ArrayRef<OpFoldResult> sizes) {
  return getTiledImplementation(builder, offsets, sizes);
}
