//===- Dequantize.cpp - Values of block formats in a thread ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What dialect/DecomposeProjection.cpp defines value by value, for neighbours
// at once. Four bytes are shifted and masked as one word, and come out of it as
// floats: GPUs convert a byte of a register in one instruction. Sums and
// products of floats are in the order of the definition, so results are equal
// to it bit by bit.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Elements/ElementEmitter.h"

using namespace mlir;
using namespace gist;

namespace {
/// Reads values of one block, `width` neighbours from `i` on.
class BlockValues {
public:
  using ReadBytes = function_ref<Value(Value, int64_t)>;

  BlockValues(GpuBuilder &b, Value i, int64_t width, ReadBytes readBytes)
      : b(b), i(i), width(width), readBytes(readBytes) {}

  Value get(BlockFormat format);

private:
  Value getQ4K();
  Value getQ6K();

  /// The f16 at a constant offset, as an f32.
  Value getHalf(int64_t offset) {
    Value bytes = readBytes(b.index(offset), 2);
    Value half =
        vector::BitCastOp::create(b, b.vectorOf(1, b.getF16Type()), bytes);
    return b.toF32(b.extract(half, 0));
  }
  /// One byte, as an i32.
  Value getByte(Value offset) {
    return arith::ExtUIOp::create(b, b.getI32Type(), readBytes(offset, 1));
  }
  /// `width` bytes as words, or as one word per byte if they fill none.
  Value getWords(Value offset) {
    Value bytes = readBytes(offset, width);
    Type i32 = b.getI32Type();
    if (width % 4 == 0)
      return vector::BitCastOp::create(b, b.vectorOf(width / 4, i32), bytes);
    Type type = width == 1 ? i32 : Type(b.vectorOf(width, i32));
    return arith::ExtUIOp::create(b, type, bytes);
  }
  /// The bytes of words, which are less than 128, as floats.
  Value toFloats(Value words) {
    Type type = b.getF32Type();
    if (width > 1)
      type = b.vectorOf(width, type);
    if (width % 4 == 0)
      words =
          vector::BitCastOp::create(b, b.vectorOf(width, b.getI8Type()), words);
    return arith::UIToFPOp::create(b, type, words);
  }
  /// The same constant in every byte of words.
  Value maskBytes(Value words, int32_t mask) {
    int64_t word = width % 4 == 0 ? mask * 0x01010101 : mask;
    return arith::AndIOp::create(b, words, b.constant(words.getType(), word));
  }
  /// The bits of every byte from number `shift`, an i32, on.
  Value getBits(Value words, Value shift, int32_t mask) {
    return maskBytes(arith::ShRUIOp::create(b, words, spread(words, shift)),
                     mask);
  }
  Value spread(Value like, Value scalar) {
    auto type = dyn_cast<VectorType>(like.getType());
    return type ? vector::BroadcastOp::create(b, type, scalar).getResult()
                : scalar;
  }
  Value times4(Value index) { return toI32(b.mul(index, 4)); }
  Value toI32(Value index) {
    return b.createOrFold<arith::IndexCastUIOp>(b.getI32Type(), index);
  }
  Value mulF(Value scalar, Value floats) {
    return arith::MulFOp::create(b, spread(floats, scalar), floats);
  }
  Value addF(Value floats, Value scalar) {
    return arith::AddFOp::create(b, floats, spread(floats, scalar));
  }
  Value toFloat(Value i32) {
    return arith::SIToFPOp::create(b, b.getF32Type(), i32);
  }
  /// Nibbles of the 32 in sixteen bytes at `first`: low ones, then high ones.
  Value getNibbles(int64_t first) {
    Value words = getWords(b.add(b.rem(i, 16), first));
    return toFloats(getBits(words, times4(b.div(i, 16)), 0x0f));
  }

  /// Bit pairs of four in each of eight bytes at `first`.
  Value getBitPairs(int64_t first) {
    Value words = getWords(b.add(b.rem(i, 8), first));
    return getBits(words, toI32(b.mul(b.div(i, 8), 2)), 0x03);
  }
  /// Bit pairs, and the bits above them in four bytes after those.
  Value getThreeBits(int64_t first) {
    Value high = getBits(getWords(b.add(b.rem(i, 4), first + 8)),
                         toI32(b.div(i, 4)), 0x01);
    high = arith::ShLIOp::create(b, high, spread(high, b.i32(2)));
    return arith::OrIOp::create(b, getBitPairs(first), high);
  }

  GpuBuilder &b;
  Value i;
  int64_t width;
  ReadBytes readBytes;
};
} // namespace

Value BlockValues::getQ4K() {
  Value group = b.div(i, 32), four = b.rem(group, 4);
  Value scaleByte = getByte(b.add(four, 4));
  Value minimumByte = getByte(b.add(four, 8));
  Value splitByte = getByte(b.add(four, 12));
  auto bits = [&](Value byte, int64_t shift, int64_t count) -> Value {
    Value shifted = arith::ShRUIOp::create(b, byte, b.i32(shift));
    return arith::AndIOp::create(b, shifted, b.i32((1 << count) - 1));
  };
  Value isWhole = b.isLess(group, 4);
  auto join = [&](Value byte, int64_t shift) -> Value {
    Value high = arith::ShLIOp::create(b, bits(byte, 6, 2), b.i32(4));
    Value split = arith::OrIOp::create(b, bits(splitByte, shift, 4), high);
    return toFloat(b.select(isWhole, bits(byte, 0, 6), split));
  };
  Value scale = mulF(getHalf(0), join(scaleByte, 0));
  Value minimum = mulF(getHalf(2), join(minimumByte, 4));

  Value offset = b.add(b.mul(b.div(group, 2), 32), b.rem(i, 32));
  Value words = getWords(b.add(offset, 16));
  Value q = toFloats(getBits(words, times4(b.rem(group, 2)), 0x0f));
  Value value = mulF(scale, q);
  return arith::SubFOp::create(b, value, spread(value, minimum));
}

Value BlockValues::getQ6K() {
  Value half = b.div(i, 128), lane = b.rem(i, 32);
  Value quarter = b.rem(b.div(i, 32), 4);
  Value run = b.add(b.mul(half, 2), b.rem(quarter, 2));
  Value low = getBits(getWords(b.add(b.mul(run, 32), lane)),
                      times4(b.div(quarter, 2)), 0x0f);
  Value high = getBits(getWords(b.add(b.add(b.mul(half, 32), lane), 128)),
                       toI32(b.mul(quarter, 2)), 0x03);
  high = arith::ShLIOp::create(b, high, spread(high, b.i32(4)));
  Value q = addF(toFloats(arith::OrIOp::create(b, low, high)), b.f32(-32));
  Value scale = arith::SIToFPOp::create(b, b.getF32Type(),
                                        readBytes(b.add(b.div(i, 16), 192), 1));
  return mulF(mulF(getHalf(208), scale), q);
}

Value BlockValues::get(BlockFormat format) {
  switch (format) {
  case BlockFormat::Q4_0:
    return mulF(getHalf(0), addF(getNibbles(2), b.f32(-8)));
  case BlockFormat::Q4_1:
    return addF(mulF(getHalf(0), getNibbles(4)), getHalf(2));
  case BlockFormat::Q3_1:
    return addF(mulF(getHalf(0), toFloats(getThreeBits(4))), getHalf(2));
  case BlockFormat::Q2_1:
    return addF(mulF(getHalf(0), toFloats(getBitPairs(4))), getHalf(2));
  case BlockFormat::Q8_0: {
    Type type = b.getF32Type();
    if (width > 1)
      type = b.vectorOf(width, type);
    Value bytes = readBytes(b.add(i, 2), width);
    return mulF(getHalf(0), arith::SIToFPOp::create(b, type, bytes));
  }
  case BlockFormat::Q4_K:
    return getQ4K();
  case BlockFormat::Q6_K:
    return getQ6K();
  }
  llvm_unreachable("all formats are listed");
}

int64_t gist::getBlockRun(BlockFormat format) {
  switch (format) {
  case BlockFormat::Q3_1:
    return 4;
  case BlockFormat::Q2_1:
    return 8;
  default:
    return 16;
  }
}

Value gist::dequantize(GpuBuilder &b, BlockFormat format, Value i,
                       int64_t width,
                       function_ref<Value(Value, int64_t)> readBytes) {
  return BlockValues(b, i, width, readBytes).get(format);
}

Value ElementEmitter::getDequantized(DequantizeOp op, ValueRange indices,
                                     int64_t width) {
  int64_t piece = std::min(
      {width, getBlockRun(op.getFormat()), GpuBuilder::getDivisor(indices[1])});
  if (piece < width)
    return getInPieces(op.getResult(), indices, width, piece);

  int64_t values = getBlockLayout(op.getFormat()).values;
  Value block = b.div(indices[1], values), i = b.rem(indices[1], values);
  return dequantize(
      b, op.getFormat(), i, width, [&](Value offset, int64_t count) {
        return get(op.getBlocks(), {indices[0], block, offset}, count);
      });
}
