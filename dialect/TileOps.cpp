//===- TileOps.cpp - Products of a workgroup ------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistIntegerOps.h"
#include "dialect/GistTileOps.h"
#include "dialect/Verify.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#define GET_OP_CLASSES
#include "dialect/GistTileOps.cpp.inc"

using namespace mlir;
using namespace gist;

//===----------------------------------------------------------------------===//
// What several ops ask for
//===----------------------------------------------------------------------===//

/// An operand's numbers are of type `element`, as many in each row as is known.
static LogicalResult verifySource(Operation *op, Value source, Type element) {
  auto type = cast<RankedTensorType>(source.getType());
  if (type.isDynamicDim(1))
    return op->emitOpError("expects an operand with a static K, got ") << type;
  if (type.getElementType() != element)
    return op->emitOpError("expects an operand of ")
           << element << ", got " << type;
  return success();
}

/// Sizes are fixed when a kernel is compiled, and rows lie side by side.
static LogicalResult verifyBuffer(Operation *op, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(type.getMemorySpace());
  bool isShared = space && space.getValue() == gpu::AddressSpace::Workgroup &&
                  type.hasStaticShape() && type.getLayout().isIdentity();
  if (!isShared)
    return op->emitOpError("expects a buffer of static sizes in workgroup "
                           "memory, got ")
           << type;
  return success();
}

/// What a stage of a buffer is in registers.
/// The first dimension of a buffer counts its stages.
static VectorType getStageType(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return VectorType::get(type.getShape().drop_front(), type.getElementType());
}

/// `sums` are those of rows of `x` by rows of `w`.
static LogicalResult verifySums(Operation *op, VectorType x, VectorType w,
                                Type sums) {
  MLIRContext *context = op->getContext();
  Type number = x.getElementType().isInteger()
                    ? Type(IntegerType::get(context, 32))
                    : Type(Float32Type::get(context));
  auto expected = VectorType::get({x.getDimSize(0), w.getDimSize(0)}, number);
  if (x.getElementType() != w.getElementType() ||
      x.getDimSize(1) != w.getDimSize(1))
    return op->emitOpError("expects tiles of one depth and type, got ")
           << x << " and " << w;
  if (sums != expected)
    return op->emitOpError("expects sums of ") << expected << ", got " << sums;
  return success();
}

/// Whether `columns` cut `all` into parts, and there is one of that number.
static bool isPartOf(int64_t columns, uint64_t part, int64_t all) {
  return all % columns == 0 && part < static_cast<uint64_t>(all / columns);
}

//===----------------------------------------------------------------------===//
// tile_product
//===----------------------------------------------------------------------===//

LogicalResult TileProductOp::verify() {
  RankedTensorType x = getX().getType(), w = getW().getType();
  if (x.isDynamicDim(1) || x.getDimSize(1) != w.getDimSize(1) ||
      w.isDynamicDim(0)) // (C1)
    return emitOpError("expects operands of M x K and N x K with static K and "
                       "N, got ")
           << x << " and " << w;
  RankedTensorType init = getInit().getType();
  if (init.getDimSize(1) != w.getDimSize(0) ||
      !canBeEqual(init.getDimSize(0), x.getDimSize(0))) // (C2)
    return emitOpError("expects a destination of ")
           << printSize(x.getDimSize(0)) << " x " << w.getDimSize(0) << ", got "
           << init;
  ArrayRef<int64_t> workgroup = getWorkgroup(), waves = getWaves();
  auto isPair = [](ArrayRef<int64_t> sizes) {
    return sizes.size() == 2 && sizes[0] > 0 && sizes[1] > 0;
  };
  if (!isPair(workgroup) || !isPair(waves) || workgroup[0] % waves[0] != 0 ||
      workgroup[1] % waves[1] != 0) // (C3)
    return emitOpError("expects two sizes of a workgroup's tile, and two "
                       "numbers of waves that divide them; got [")
           << workgroup << "] and [" << waves << "]";
  if (getPaired() && w.getDimSize(0) % 2 != 0) // (C6)
    return emitOpError("is paired and expects an even number of columns, got ")
           << w.getDimSize(0);
  bool areSmall = isSmallNumber(x.getElementType());
  if (areSmall != isSmallNumber(w.getElementType()) ||
      areSmall != static_cast<bool>(getScales())) // (C7)
    return emitOpError("expects scales where both operands are of 8 bits, and "
                       "only there; got ")
           << x << " and " << w;
  return success();
}

/// The place that an op of the body reads, or null.
static std::pair<Value, Value> getSource(Operation *op) {
  if (auto fetch = dyn_cast<TileFetchOp>(op))
    return {fetch.getSource(), fetch.getRow()};
  if (auto stage = dyn_cast<TileStageOp>(op))
    return {stage.getSource(), stage.getRow()};
  if (auto copy = dyn_cast<TileCopyOp>(op))
    return {copy.getSource(), copy.getRow()};
  if (auto scales = dyn_cast<TileScalesOp>(op))
    return {scales.getSource(), scales.getRow()};
  return {};
}

LogicalResult TileProductOp::verifyRegions() {
  Block &block = getBody().front();
  if ((block.getNumArguments() != 2 && block.getNumArguments() != 4) ||
      llvm::any_of(block.getArgumentTypes(),
                   [](Type type) { return !type.isIndex(); })) // (C4)
    return emitOpError("expects a body with two index arguments: the first row "
                       "and column of the workgroup's tile; and two more where "
                       "workgroups share k: the first step and the number of "
                       "steps");
  auto yield = dyn_cast<TileYieldOp>(block.getTerminator());
  auto expected =
      VectorType::get(getWorkgroup(), Float32Type::get(getContext()));
  if (!yield || yield.getSums().getType() != expected)
    return emitOpError("expects a body that yields the workgroup's tile, ")
           << expected;
  WalkResult result = getBody().walk([&](Operation *op) {
    auto [source, row] = getSource(op);
    if (!source ||
        ((source == getX() || source == getScales()) && row == getRow()) ||
        (source == getW() && row == getColumn()))
      return WalkResult::advance();
    op->emitOpError("expects to read the operand x or its scales from the "
                    "product's first row on, or w from its first column "
                    "on"); // (C5)
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Ops of its body
//===----------------------------------------------------------------------===//

LogicalResult TileFetchOp::verify() {
  return verifySource(*this, getSource(), // (C1)
                      getResult().getType().getElementType());
}

LogicalResult TileStageOp::verify() {
  if (failed(verifySource(*this, getSource(), // (C1)
                          getTile().getType().getElementType())) ||
      failed(verifyBuffer(*this, getBuffer()))) // (C2)
    return failure();
  VectorType stage = getStageType(getBuffer());
  if (stage.getShape() != getTile().getType().getShape())
    return emitOpError("expects a tile of the shape of a stage, ")
           << stage << ", got " << getTile().getType();
  return success();
}

LogicalResult TileCopyOp::verify() {
  if (failed(verifyBuffer(*this, getBuffer()))) // (C2)
    return failure();
  return verifySource(*this, getSource(), // (C1)
                      getBuffer().getType().getElementType());
}

LogicalResult TileLoadOp::verify() {
  for (auto [buffer, tile] : {std::pair<Value, Value>{getX(), getTileX()},
                              {getW(), getTileW()}}) { // (C1)
    if (failed(verifyBuffer(*this, buffer)))
      return failure();
    if (tile.getType() != getStageType(buffer))
      return emitOpError("expects to load a stage, ")
             << getStageType(buffer) << ", got " << tile.getType();
  }
  return success();
}

LogicalResult TileMultiplyOp::verify() {
  if (failed(verifySums(*this, getX().getType(), getW().getType(),
                        getSums().getType()))) // (C1)
    return failure();
  switch (getInstruction()) {
  case Instruction::Mfma32x32x8:
  case Instruction::Mfma16x16x16:
  case Instruction::Mma16x8x16:
    return success();
  default: // (C2)
    return emitOpError("expects a matrix instruction of one wave, got ")
           << stringifyInstruction(getInstruction());
  }
}

LogicalResult TileStartOp::verify() {
  constexpr int64_t kRowBits = 128 * 8;   // The swizzle that wgmma reads.
  for (Value buffer : {getX(), getW()}) { // (C1)
    if (failed(verifyBuffer(*this, buffer)))
      return failure();
    VectorType stage = getStageType(buffer);
    int64_t depth = kRowBits / stage.getElementTypeBitWidth();
    if (stage.getDimSize(1) != depth)
      return emitOpError("expects rows of ")
             << depth << " numbers, got " << buffer.getType();
  }
  VectorType x = getStageType(getX()), w = getStageType(getW());
  int64_t columns = getSums().getType().getDimSize(1);
  if (isSmallNumber(w.getElementType()) || getPart() != 0) {
    if (!isPartOf(columns, getPart(), w.getDimSize(0)))
      return emitOpError("expects sums of a part of the ")
             << w.getDimSize(0) << " columns, got part " << getPart() << " of "
             << columns;
    w = VectorType::get({columns, w.getDimSize(1)}, w.getElementType());
  }
  if (failed(verifySums(*this, x, w, getSums().getType()))) // (C2)
    return failure();
  if (getInstruction() != Instruction::Wgmma64x128x16) // (C3)
    return emitOpError("expects a matrix instruction of four warps, got ")
           << stringifyInstruction(getInstruction());
  return success();
}

LogicalResult TileScaleOp::verify() {
  ArrayRef<int64_t> totals = getTotals().getType().getShape();
  ArrayRef<int64_t> sums = getSums().getType().getShape();
  if (sums[0] != totals[0] || getScales().getType().getDimSize(0) != sums[0] ||
      !isPartOf(sums[1], getPart(), totals[1])) // (C1)
    return emitOpError("expects sums of a part of the totals, and a scale for "
                       "each row; got part ")
           << getPart() << " of " << getSums().getType() << ", "
           << getScales().getType() << " and " << getTotals().getType();
  return success();
}

LogicalResult TileInterleaveOp::verify() {
  bool isKnown = getSums().getDefiningOp<TileMultiplyOp>() &&
                 llvm::all_of(getFetched(), [](Value tile) {
                   return tile.getDefiningOp<TileFetchOp>() != nullptr;
                 });
  if (!isKnown) // (C1)
    return emitOpError("expects sums of gist.tile_multiply and tiles of "
                       "gist.tile_fetch");
  return success();
}
