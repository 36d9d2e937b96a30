//===- ClusterOps.cpp - A KV cache of clusters ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gist.cluster_update and gist.cluster_attention: verifiers, and how attention
// is tiled. GistClusterOps.td has the definitions and the numbered constraints.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistClusterOps.h"
#include "dialect/Verify.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

#include <cmath>

using namespace mlir;
using namespace gist;

#define GET_OP_CLASSES
#include "dialect/GistClusterOps.cpp.inc"

/// What both ops ask of the table of heads and the counts.
/// kNumHeadFields and the meaning of each: runtime/format/HeadTable.h.
static LogicalResult verifyTable(Operation *op, RankedTensorType heads,
                                 RankedTensorType counts) {
  if (heads.getDimSize(2) != kNumHeadFields)
    return op->emitOpError("expects heads of layers x KV heads x ")
           << kNumHeadFields << ", got " << heads;
  if (!heads.hasStaticShape() ||
      counts.getShape() != heads.getShape().drop_back())
    return op->emitOpError("expects one count for each layer and KV head of ")
           << heads << ", got " << counts;
  return success();
}

/// A hash of the token's number, the finaliser of MurmurHash3: tokens that
/// follow each other get numbers that have nothing to do with each other, the
/// same on every device.
Value gist::createLikeness(ImplicitLocOpBuilder &b, Value cosine, Value t,
                           Value theta) {
  auto constant = [&](uint32_t bits) -> Value {
    return arith::ConstantIntOp::create(b, static_cast<int32_t>(bits), 32);
  };
  Value hash = arith::IndexCastOp::create(b, b.getI32Type(), t);
  auto fold = [&](uint32_t bits) {
    hash = arith::XOrIOp::create(
        b, hash, arith::ShRUIOp::create(b, hash, constant(bits)));
  };
  fold(16);
  hash = arith::MulIOp::create(b, hash, constant(0x85ebca6b));
  fold(13);
  hash = arith::MulIOp::create(b, hash, constant(0xc2b2ae35));
  fold(16);
  // The lower 22 bits of a float count from 2 up to 3.
  // 0x40000000 is 2.0 as an f32.
  Value bits = arith::OrIOp::create(
      b, arith::ShRUIOp::create(b, hash, constant(10)), constant(0x40000000));
  Value drawn = arith::BitcastOp::create(b, b.getF32Type(), bits);
  Value two =
      arith::ConstantOp::create(b, b.getF32FloatAttr(kFirstRandomTheta));
  // A theta from 2 on is random, which no cosine reaches. The head then keeps a
  // share of the tokens, as a baseline.
  Value isDrawn =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, theta, two);
  return arith::SelectOp::create(b, isDrawn, drawn, cosine);
}

static LogicalResult verifyBlock(Operation *op, int64_t block) {
  if (block < 1)
    return op->emitOpError("expects a positive block, got ") << block;
  return success();
}

/// Numbers in brackets are the constraints of the op's description.
LogicalResult ClusterUpdateOp::verify() {
  RankedTensorType key = getKey().getType(), value = getValue().getType();
  for (auto [rows, cache, name] :
       {std::tuple(key, getKeys().getType(), "keys"),
        std::tuple(value, getValues().getType(), "values")})
    if (rows.getDimSize(2) != cache.getDimSize(1) ||
        rows.getElementType() != cache.getElementType()) // (C1)
      return emitOpError("expects ")
             << name << " of the head size and element type of their cache, "
             << cache << ", got " << rows;
  // A dynamic size may turn out to be anything, so only sizes that are known
  // are compared.
  if (!canBeEqual(key.getDimSize(0), value.getDimSize(0)) ||
      key.getDimSize(1) != value.getDimSize(1)) // (C1)
    return emitOpError("expects as many keys as values, got ")
           << key << " and " << value;
  if (failed(verifyTable(*this, getHeads().getType(),
                         getCounts().getType()))) // (C2)
    return failure();
  if (key.getDimSize(1) != getHeads().getType().getDimSize(1)) // (C2)
    return emitOpError("expects ")
           << getHeads().getType().getDimSize(1) << " KV heads, got " << key;
  RankedTensorType units = getUnits().getType();
  if (units.getDimSize(1) != key.getDimSize(2) ||
      units.getDimSize(0) != getWeights().getType().getDimSize(0)) // (C3)
    return emitOpError("expects one unit of the key's size for each weight, "
                       "got ")
           << units << " and " << getWeights().getType();
  return verifyBlock(*this, getBlock()); // (C4)
}

LogicalResult ClusterAbsorbOp::verify() {
  if (failed(verifyTable(*this, getHeads().getType(),
                         getCounts().getType()))) // (C1)
    return failure();
  RankedTensorType keys = getKeys().getType(), units = getUnits().getType();
  if (units.getDimSize(1) != keys.getDimSize(1) ||
      units.getDimSize(0) != getWeights().getType().getDimSize(0)) // (C2)
    return emitOpError("expects one unit of the key's size for each weight, "
                       "got ")
           << units << " and " << getWeights().getType();
  if (keys.getElementType() != units.getElementType() ||
      keys.getElementType() != getValues().getType().getElementType()) // (C4)
    return emitOpError("expects keys, values and units of one element type, "
                       "got ")
           << keys << ", " << getValues().getType() << " and " << units;
  int64_t layers = getHeads().getType().getDimSize(0);
  if (getBegin() < 0 || getBegin() >= getEnd() || getEnd() > layers) // (C5)
    return emitOpError("expects some of ")
           << layers << " layers, got " << getBegin() << " to " << getEnd();
  return verifyBlock(*this, getBlock()); // (C3)
}

/// What (C6) asks of the call's own keys and values.
static LogicalResult verifyOwn(ClusterAttentionOp op) {
  if (op.getOwn().empty())
    return success();
  if (op.getOwn().size() != 2)
    return op.emitOpError("expects keys and values of the call or neither, "
                          "got ")
           << op.getOwn().size() << " tensors";
  RankedTensorType query = op.getQuery().getType();
  for (auto [own, cache] :
       llvm::zip_equal(op.getOwn(), ValueRange{op.getKeys(), op.getValues()})) {
    auto type = cast<RankedTensorType>(own.getType());
    auto rows = cast<RankedTensorType>(cache.getType());
    if (!canBeEqual(type.getDimSize(0), query.getDimSize(0)) ||
        type.getDimSize(1) != op.getHeads().getType().getDimSize(1) ||
        type.getDimSize(2) != rows.getDimSize(1) ||
        type.getElementType() != rows.getElementType())
      return op.emitOpError("expects own rows for each query and KV head as "
                            "the cache has them, ")
             << rows << ", got " << type;
  }
  return success();
}

LogicalResult ClusterAttentionOp::verify() {
  RankedTensorType query = getQuery().getType(), keys = getKeys().getType();
  if (query.getDimSize(2) != keys.getDimSize(1) ||
      query.getElementType() != keys.getElementType()) // (C1)
    return emitOpError("expects queries of the head size and element type of "
                       "the cache, ")
           << keys << ", got " << query;
  if (failed(verifyTable(*this, getHeads().getType(),
                         getCounts().getType()))) // (C2)
    return failure();
  int64_t kvHeads = getHeads().getType().getDimSize(1);
  if (kvHeads <= 0 || query.isDynamicDim(1) ||
      query.getDimSize(1) % kvHeads != 0) // (C2)
    return emitOpError("expects a multiple of ")
           << kvHeads << " query heads, got " << query;
  if (keys != getValues().getType()) // (C5)
    return emitOpError("expects keys and values of one type, got ")
           << keys << " and " << getValues().getType();
  if (failed(verifyOwn(*this))) // (C6)
    return failure();
  if (failed(verifyScale(*this, getScale()))) // (C3)
    return failure();
  if (std::optional<int64_t> window = getWindow();
      window && (*window < 1 || !getOwn().empty())) // (C7)
    return emitOpError("expects a positive window, without rows of its own, "
                       "got ")
           << *window << (getOwn().empty() ? "" : " with own rows");
  return verifyBlock(*this, getBlock()); // (C4)
}

LogicalResult
ClusterAttentionOp::reifyResultShapes(OpBuilder &builder,
                                      ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getQuery()));
  return success();
}

double ClusterAttentionOp::getEffectiveScale() {
  if (std::optional<APFloat> scale = getScale())
    return toDouble(*scale);
  return 1.0 /
         std::sqrt(static_cast<double>(getQuery().getType().getDimSize(2)));
}

//===----------------------------------------------------------------------===//
// Tiling: queries and KV heads
//===----------------------------------------------------------------------===//

/// Query heads for each KV head.
static int64_t getGroup(ClusterAttentionOp op) {
  return op.getQuery().getType().getDimSize(1) /
         op.getHeads().getType().getDimSize(1);
}

/// Each tile is some queries of some KV heads; the keys of a head are not cut.
SmallVector<utils::IteratorType> ClusterAttentionOp::getLoopIteratorTypes() {
  return SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel);
}

SmallVector<Range> ClusterAttentionOp::getIterationDomain(OpBuilder &builder) {
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  return {
      {zero, tensor::getMixedSize(builder, getLoc(), getQuery(), 0), one},
      {zero, builder.getIndexAttr(getHeads().getType().getDimSize(1)), one}};
}

/// The result has query heads, the loops have KV heads.
LogicalResult ClusterAttentionOp::getResultTilePosition(
    OpBuilder &builder, unsigned, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  // The query heads of a KV head lie side by side.
  AffineExpr heads = builder.getAffineDimExpr(0) * getGroup(*this);
  auto scale = [&](OpFoldResult value) {
    return affine::makeComposedFoldedAffineApply(builder, getLoc(), heads,
                                                 {value});
  };
  resultOffsets.assign(
      {offsets[0], scale(offsets[1]), builder.getIndexAttr(0)});
  resultSizes.assign({sizes[0], scale(sizes[1]),
                      tensor::getMixedSize(builder, getLoc(), getQuery(), 2)});
  return success();
}

FailureOr<TilingResult>
ClusterAttentionOp::getTiledImplementation(OpBuilder &builder,
                                           ArrayRef<OpFoldResult> offsets,
                                           ArrayRef<OpFoldResult> sizes) {
  Location location = getLoc();
  // The tiled op's table of heads must have a static shape.
  if (!getConstantIntValue(sizes[1]))
    return emitOpError("cannot be tiled by a dynamic number of KV heads");
  if (!getOwn().empty())
    return emitOpError("is not tiled with rows of its own: let the update "
                       "come first");
  auto slice = [&](Value value, ArrayRef<OpFoldResult> offsets,
                   ArrayRef<OpFoldResult> sizes) -> Value {
    SmallVector<OpFoldResult> strides(offsets.size(), builder.getIndexAttr(1));
    return tensor::ExtractSliceOp::create(builder, location, value, offsets,
                                          sizes, strides);
  };
  OpFoldResult zero = builder.getIndexAttr(0);
  OpFoldResult layers =
      builder.getIndexAttr(getHeads().getType().getDimSize(0));
  SmallVector<OpFoldResult> queryOffsets, querySizes;
  if (failed(getResultTilePosition(builder, 0, offsets, sizes, queryOffsets,
                                   querySizes)))
    return failure();
  Value query = slice(getQuery(), queryOffsets, querySizes);
  Value heads = slice(getHeads(), {zero, offsets[1], zero},
                      {layers, sizes[1], builder.getIndexAttr(kNumHeadFields)});
  // All layers: which one is meant, `layer` says when the code runs.
  Value counts = slice(getCounts(), {zero, offsets[1]}, {layers, sizes[1]});
  // A call stays within a block, so a later first token sees no less.
  AffineExpr a, b;
  bindDims(getContext(), a, b);
  Value past = getValueOrCreateConstantIndexOp(
      builder, location,
      affine::makeComposedFoldedAffineApply(
          builder, location, a + b, {OpFoldResult(getPast()), offsets[0]}));
  // The cache is passed whole: heads find their rows by the table.
  auto tiled = ClusterAttentionOp::create(
      builder, location, query.getType(), query, heads, past, getLayer(),
      getKeys(), getValues(), getWeights(), counts, ValueRange(),
      getBlockAttr(), getScaleAttr(), getWindowAttr());
  return TilingResult{{tiled}, SmallVector<Value>(tiled->getResults()), {}};
}
