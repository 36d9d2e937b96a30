//===- StoredBlocks.cpp - Floats from blocks as files store them ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/StoredBlocks.h"
#include "dialect/Formats.h"
#include "dialect/GistOps.h"

using namespace mlir;
using namespace gist;

/// True for 32 values with one scale, of bytes with a sign, or of nibbles: the
/// low ones first, then the high ones.
static bool isSimple(const FormatInfo &format) {
  const BitPlane &plane = format.planes[0];
  if (format.blockLength != StoredBlocks::kLength ||
      format.group != StoredBlocks::kLength || format.numPlanes() != 1 ||
      format.groupScales != GroupScales::None || format.levels ||
      format.subtractsMinimum)
    return false;
  return format.isSigned
             ? plane.bits == 8 && plane.lanes == StoredBlocks::kLength
             : plane.bits == 4 && plane.lanes == StoredBlocks::kHalf;
}

std::optional<StoredBlocks> StoredBlocks::find(Value weight) {
  auto op = weight.getDefiningOp<DequantizeOp>();
  if (!op)
    return std::nullopt;
  const FormatInfo &format = getFormatInfo(op.getFormat());
  if (!isSimple(format))
    return std::nullopt;
  return StoredBlocks(op.getBlocks(), format);
}

/// The f16 number at `offset`, in f32.
Value StoredBlocks::readHalf(TileBuilder &b, Value row, Value block,
                             int64_t offset) const {
  Value bytes = b.read(blocks, {row, block, b.index(offset)},
                       b.vectorOf(2, b.getI8Type()));
  Value half = vector::ExtractOp::create(b, b.bitcast(bytes, b.getF16Type()),
                                         ArrayRef<int64_t>{0});
  return arith::ExtFOp::create(b, b.getF32Type(), half);
}

Value StoredBlocks::readScale(TileBuilder &b, Value row, Value block) const {
  return readHalf(b, row, block, format->scale);
}

Value StoredBlocks::readMinimum(TileBuilder &b, Value row, Value block) const {
  return format->hasMinimum() ? readHalf(b, row, block, format->minimum)
                              : Value();
}

std::optional<int64_t> StoredBlocks::getMiddle() const {
  constexpr int64_t kMiddle = 8;
  if (format->isSigned)
    return std::nullopt;
  return kMiddle - static_cast<int64_t>(format->zero);
}

std::array<Value, 2> StoredBlocks::readBytes(TileBuilder &b, Value row,
                                             Value block) const {
  VectorType bytes = b.vectorOf(kHalf, b.getI8Type());
  int64_t offset = format->planes[0].offset;
  auto read = [&](int64_t at) {
    return b.read(blocks, {row, block, b.index(at)}, bytes);
  };
  if (format->isSigned)
    return {read(offset), read(offset + kHalf)};
  auto splat = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(
               bytes, b.getI8IntegerAttr(static_cast<int8_t>(value))));
  };
  Value both = read(offset), zero = splat(format->zero);
  Value low = arith::AndIOp::create(b, both, splat(15));
  Value high = arith::ShRUIOp::create(b, both, splat(4));
  return {arith::SubIOp::create(b, low, zero),
          arith::SubIOp::create(b, high, zero)};
}

std::array<Value, 2> StoredBlocks::read(TileBuilder &b, Value row,
                                        Value block) const {
  Value scale = b.broadcast(readScale(b, row, block), kHalf);
  Value minimum = readMinimum(b, row, block);
  if (minimum)
    minimum = b.broadcast(minimum, kHalf);
  std::array<Value, 2> result = readBytes(b, row, block);
  // The product has at most 19 bits and is exact: one rounding, as for the two
  // operations of the definition.
  for (Value &half : result) {
    half = arith::SIToFPOp::create(b, b.vectorOf(kHalf, b.getF32Type()), half);
    half = minimum ? b.fma(half, scale, minimum)
                   : arith::MulFOp::create(b, half, scale).getResult();
  }
  return result;
}
