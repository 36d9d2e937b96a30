//===- Tiling.cpp - The ops' TilingInterface and result shapes ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What can be tiled: queries and KV heads of attention, rows and blocks of
// dequantize. Selections are values of their own type and are not tiled; they,
// attend and gated_projection have kernels that cut the work themselves.
//
//===----------------------------------------------------------------------===//

#include "dialect/Tiling.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace gist;
using utils::IteratorType;

using SizeVector = SmallVector<OpFoldResult>;

Range gist::getRange(OpBuilder &builder, Location location, Value value,
                     int64_t dim) {
  return {builder.getIndexAttr(0),
          tensor::getMixedSize(builder, location, value, dim),
          builder.getIndexAttr(1)};
}

/// The part of `value` at `offsets` of `sizes`.
static Value createSlice(OpBuilder &builder, Location location, Value value,
                         const SizeVector &offsets, const SizeVector &sizes) {
  SizeVector strides(offsets.size(), builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, location, value, offsets,
                                        sizes, strides);
}

/// An affine function of values that may be constants.
static OpFoldResult apply(OpBuilder &builder, Location location,
                          AffineExpr expr, ArrayRef<OpFoldResult> operands) {
  return affine::makeComposedFoldedAffineApply(builder, location, expr,
                                               operands);
}

/// What an op whose tile is the op `tiled` hands to the tiling driver.
static TilingResult finish(Operation *tiled) {
  return {{tiled}, SmallVector<Value>(tiled->getResults()), {}};
}

//===----------------------------------------------------------------------===//
// attention: queries and KV heads; in ragged batches KV heads alone
//===----------------------------------------------------------------------===//

/// Query heads per KV head, where both are static.
/// (C2) of the op has refused KV heads that do not divide the query heads.
static FailureOr<int64_t> getGroupSize(Value query, Value key) {
  int64_t heads = cast<RankedTensorType>(query.getType()).getDimSize(1);
  int64_t kvHeads = cast<RankedTensorType>(key.getType()).getDimSize(1);
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(kvHeads))
    return failure();
  return heads / kvHeads;
}

static void reifyOutput(OpBuilder &builder, Location location, Value query,
                        Value value, ReifiedRankedShapedTypeDims &shapes) {
  shapes.assign({{tensor::getMixedSize(builder, location, query, 0),
                  tensor::getMixedSize(builder, location, query, 1),
                  tensor::getMixedSize(builder, location, value, 2)}});
}

LogicalResult
AttentionOp::reifyResultShapes(OpBuilder &builder,
                               ReifiedRankedShapedTypeDims &shapes) {
  reifyOutput(builder, getLoc(), getQuery(), getValue(), shapes);
  return success();
}

/// In a ragged batch the queries are not cut: a tile could span sequences.
SmallVector<IteratorType> AttentionOp::getLoopIteratorTypes() {
  return SmallVector<IteratorType>(getOffsets() ? 1 : 2,
                                   IteratorType::parallel);
}

SmallVector<Range> AttentionOp::getIterationDomain(OpBuilder &builder) {
  Range kvHeads = getRange(builder, getLoc(), getKey(), 1);
  if (getOffsets())
    return {kvHeads};
  return {getRange(builder, getLoc(), getQuery(), 0), kvHeads};
}

/// The query heads of the KV heads [offset, offset + size).
static void getQueryHeads(OpBuilder &builder, Location location, int64_t group,
                          OpFoldResult offset, OpFoldResult size,
                          OpFoldResult &queryOffset, OpFoldResult &querySize) {
  AffineExpr a = builder.getAffineDimExpr(0);
  queryOffset = apply(builder, location, a * group, {offset});
  querySize = apply(builder, location, a * group, {size});
}

FailureOr<TilingResult>
AttentionOp::getTiledImplementation(OpBuilder &builder,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes) {
  Location location = getLoc();
  FailureOr<int64_t> group = getGroupSize(getQuery(), getKey());
  if (failed(group))
    return emitOpError("cannot be tiled with a dynamic number of heads");
  OpFoldResult zero = builder.getIndexAttr(0);
  OpFoldResult headOffset, headSize;
  getQueryHeads(builder, location, *group, offsets.back(), sizes.back(),
                headOffset, headSize);
  OpFoldResult firstQuery = zero;
  OpFoldResult queries = tensor::getMixedSize(builder, location, getQuery(), 0);
  OpFoldResult keys = tensor::getMixedSize(builder, location, getKey(), 0);
  if (!getOffsets()) {
    if (getCausal()) {
      // Queries are the last of the keys: cutting the keys after the tile's
      // last query keeps that true and skips keys that no query sees.
      // k - q tokens were before the call; the tile ends at offset + size of
      // it.
      AffineExpr offset, size, q, k;
      bindDims(getContext(), offset, size, q, k);
      keys = apply(builder, location, offset + size + k - q,
                   {offsets[0], sizes[0], queries, keys});
    }
    firstQuery = offsets[0];
    queries = sizes[0];
  }

  auto sizeOfHead = [&](Value value) {
    return tensor::getMixedSize(builder, location, value, 2);
  };
  Value query =
      createSlice(builder, location, getQuery(), {firstQuery, headOffset, zero},
                  {queries, headSize, sizeOfHead(getQuery())});
  Value key =
      createSlice(builder, location, getKey(), {zero, offsets.back(), zero},
                  {keys, sizes.back(), sizeOfHead(getKey())});
  Value value =
      createSlice(builder, location, getValue(), {zero, offsets.back(), zero},
                  {keys, sizes.back(), sizeOfHead(getValue())});
  Value mask = getMask();
  if (mask)
    mask = createSlice(builder, location, mask, {firstQuery, zero},
                       {queries, keys});
  return finish(AttentionOp::create(
      builder, location, query, key, value, mask, getOffsets(), getKeyOffsets(),
      getCausalAttr(), getScaleAttr(), getWindowAttr(), getSinksAttr()));
}

LogicalResult AttentionOp::getResultTilePosition(
    OpBuilder &builder, unsigned, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  FailureOr<int64_t> group = getGroupSize(getQuery(), getKey());
  if (failed(group))
    return failure();
  OpFoldResult headOffset, headSize, zero = builder.getIndexAttr(0);
  getQueryHeads(builder, getLoc(), *group, offsets.back(), sizes.back(),
                headOffset, headSize);
  bool isRagged = static_cast<bool>(getOffsets());
  resultOffsets.assign({isRagged ? zero : offsets[0], headOffset, zero});
  resultSizes.assign(
      {isRagged ? tensor::getMixedSize(builder, getLoc(), getQuery(), 0)
                : sizes[0],
       headSize, tensor::getMixedSize(builder, getLoc(), getValue(), 2)});
  return success();
}

/// The groups of `group` elements that make up [offset, offset + size), when
/// these are whole groups known at compile time: KV heads behind query heads,
/// blocks behind values.
static LogicalResult getGroups(OpBuilder &builder, int64_t group,
                               OpFoldResult offset, OpFoldResult size,
                               OpFoldResult &groupOffset,
                               OpFoldResult &groupSize) {
  std::optional<int64_t> first = getConstantIntValue(offset);
  std::optional<int64_t> count = getConstantIntValue(size);
  // A consumer may ask for any part of the result. One that cuts a group in
  // two is not fused.
  if (!first || !count || *first % group != 0 || *count % group != 0)
    return failure();
  groupOffset = builder.getIndexAttr(*first / group);
  groupSize = builder.getIndexAttr(*count / group);
  return success();
}

FailureOr<TilingResult>
AttentionOp::generateResultTileValue(OpBuilder &builder, unsigned,
                                     ArrayRef<OpFoldResult> offsets,
                                     ArrayRef<OpFoldResult> sizes) {
  FailureOr<int64_t> group = getGroupSize(getQuery(), getKey());
  OpFoldResult kvOffset, kvSize;
  if (failed(group) || failed(getGroups(builder, *group, offsets[1], sizes[1],
                                        kvOffset, kvSize)))
    return failure();
  if (getOffsets())
    return getTiledImplementation(builder, {kvOffset}, {kvSize});
  return getTiledImplementation(builder, {offsets[0], kvOffset},
                                {sizes[0], kvSize});
}

//===----------------------------------------------------------------------===//
// attend, gated_projection: result shapes alone
//===----------------------------------------------------------------------===//

LogicalResult AttendOp::reifyResultShapes(OpBuilder &builder,
                                          ReifiedRankedShapedTypeDims &shapes) {
  reifyOutput(builder, getLoc(), getQuery(), getValue(), shapes);
  return success();
}

// Each projection, then the level.
LogicalResult
GatedProjectionOp::reifyResultShapes(OpBuilder &builder,
                                     ReifiedRankedShapedTypeDims &shapes) {
  OpFoldResult tokens = tensor::getMixedSize(builder, getLoc(), getInput(), 0);
  shapes.clear();
  for (Value weight : getWeights())
    shapes.push_back(
        {tokens, tensor::getMixedSize(builder, getLoc(), weight, 0)});
  shapes.push_back({tokens});
  return success();
}

//===----------------------------------------------------------------------===//
// dequantize: rows and blocks
//===----------------------------------------------------------------------===//

LogicalResult
DequantizeOp::reifyResultShapes(OpBuilder &builder,
                                ReifiedRankedShapedTypeDims &shapes) {
  auto type = cast<RankedTensorType>(getResult().getType());
  shapes.assign({{tensor::getMixedSize(builder, getLoc(), getBlocks(), 0),
                  builder.getIndexAttr(type.getDimSize(1))}});
  return success();
}

SmallVector<IteratorType> DequantizeOp::getLoopIteratorTypes() {
  return {IteratorType::parallel, IteratorType::parallel};
}

SmallVector<Range> DequantizeOp::getIterationDomain(OpBuilder &builder) {
  return {getRange(builder, getLoc(), getBlocks(), 0),
          getRange(builder, getLoc(), getBlocks(), 1)};
}

FailureOr<TilingResult>
DequantizeOp::getTiledImplementation(OpBuilder &builder,
                                     ArrayRef<OpFoldResult> offsets,
                                     ArrayRef<OpFoldResult> sizes) {
  // The type of the result has a static number of columns.
  if (!getConstantIntValue(sizes[1]))
    return emitOpError("needs tiles that divide its blocks");
  Value blocks =
      createSlice(builder, getLoc(), getBlocks(),
                  {offsets[0], offsets[1], builder.getIndexAttr(0)},
                  {sizes[0], sizes[1],
                   builder.getIndexAttr(getBlockLayout(getFormat()).bytes)});
  return finish(
      DequantizeOp::create(builder, getLoc(), blocks, getFormatAttr()));
}

LogicalResult DequantizeOp::getResultTilePosition(
    OpBuilder &builder, unsigned, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  AffineExpr a = builder.getAffineDimExpr(0);
  int64_t values = getBlockLayout(getFormat()).values;
  resultOffsets.assign(
      {offsets[0], apply(builder, getLoc(), a * values, {offsets[1]})});
  resultSizes.assign(
      {sizes[0], apply(builder, getLoc(), a * values, {sizes[1]})});
  return success();
}

/// Whole blocks only: part of a block cannot be dequantised by itself.
FailureOr<TilingResult>
DequantizeOp::generateResultTileValue(OpBuilder &builder, unsigned,
                                      ArrayRef<OpFoldResult> offsets,
                                      ArrayRef<OpFoldResult> sizes) {
  int64_t values = getBlockLayout(getFormat()).values;
  OpFoldResult blockOffset, blockSize;
  if (failed(getGroups(builder, values, offsets[1], sizes[1], blockOffset,
                       blockSize)))
    return failure();
  return getTiledImplementation(builder, {offsets[0], blockOffset},
                                {sizes[0], blockSize});
}
