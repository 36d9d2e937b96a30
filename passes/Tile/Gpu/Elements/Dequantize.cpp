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

#include "passes/Tile/Gpu/Elements/Dequantize.h"
#include "dialect/Formats.h"
#include "passes/Tile/Gpu/Core/Registers.h"
#include "passes/Tile/Gpu/Elements/ElementEmitter.h"

using namespace mlir;
using namespace gist;

namespace {
/// Reads values of one block, `width` neighbours from `i` on.
class BlockValues {
public:
  using ReadBytes = function_ref<Value(Value, int64_t)>;

  BlockValues(GpuBuilder &b, const FormatInfo &format, Value i, int64_t width,
              ReadBytes readBytes, bool hasPairs)
      : b(b), format(format), i(i), width(width), readBytes(readBytes),
        hasPairs(hasPairs) {}

  Value get();

private:
  /// The bits that a plane has of the values.
  Value getPlane(const BitPlane &plane);
  /// u - zero, as floats.
  Value getIntegers();
  /// d and m.
  Value getScale();
  Value getMinimum();
  /// The group's number among those that begin at `first`, of which the rest of
  /// split ones begins at bit `restShift`, as a float.
  Value getSplitScale(int64_t first, uint32_t restShift);

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
    // One mask for four bytes, or one word for each byte.
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
  Value toI32(Value index) {
    return b.createOrFold<arith::IndexCastUIOp>(b.getI32Type(), index);
  }
  /// The same for a scale.
  Value spreadScale(Value like, Value scale) {
    auto type = dyn_cast<VectorType>(like.getType());
    if (!hasPairs || !type || type.getNumElements() < 2)
      return spread(like, scale);
    Value pair = keepWhole(b, b.broadcast(scale, 2));
    SmallVector<int64_t> lanes;
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      lanes.push_back(i % 2);
    return b.shuffle(pair, pair, lanes);
  }
  Value mulF(Value scalar, Value floats) {
    return arith::MulFOp::create(b, spreadScale(floats, scalar), floats);
  }
  Value addF(Value floats, Value scalar) {
    return arith::AddFOp::create(b, floats, spreadScale(floats, scalar));
  }
  Value toFloat(Value i32) {
    return arith::SIToFPOp::create(b, b.getF32Type(), i32);
  }
  GpuBuilder &b;
  const FormatInfo &format;
  Value i;
  int64_t width;
  ReadBytes readBytes;
  bool hasPairs; ///< see dequantizeAhead()
  Value rest;    ///< the byte of split scales, once it is read
};
} // namespace

Value BlockValues::getPlane(const BitPlane &plane) {
  // As BitPlane::byteOf and shiftOf, for an `i` that is known at run time
  // alone.
  Value place = plane.lanes < format.blockLength ? b.rem(i, plane.lanes) : i;
  Value part = b.div(i, plane.lanes);
  if (plane.run() < format.blockLength) {
    place = b.add(b.mul(b.div(i, plane.run()), plane.lanes), place);
    part = b.rem(part, plane.perByte());
  }
  Value words = getWords(b.add(place, plane.offset));
  Value shift = toI32(plane.bits > 1 ? b.mul(part, plane.bits) : part);
  return getBits(words, shift, static_cast<int32_t>(plane.mask()));
}

Value BlockValues::getIntegers() {
  if (format.isSigned) {
    Type type = b.getF32Type();
    if (width > 1)
      type = b.vectorOf(width, type);
    Value bytes = readBytes(b.add(i, format.planes[0].offset), width);
    return arith::SIToFPOp::create(b, type, bytes);
  }
  Value result;
  // Planes hold disjoint bits of a value, so that OR joins them.
  for (size_t p = format.numPlanes(); p-- > 0;) {
    const BitPlane &plane = format.planes[p];
    Value bits = getPlane(plane);
    if (plane.position > 0)
      bits = arith::ShLIOp::create(
          b, bits, spread(bits, b.i32(static_cast<int64_t>(plane.position))));
    result = result ? arith::OrIOp::create(b, bits, result).getResult() : bits;
  }
  result = toFloats(result);
  return format.zero != 0 ? addF(result, b.f32(-format.zero)) : result;
}

Value BlockValues::getSplitScale(int64_t first, uint32_t restShift) {
  const SplitScales &split = format.split;
  Value group = b.div(i, format.group), place = b.rem(group, split.whole);
  auto bits = [&](Value byte, uint32_t shift, uint32_t count) -> Value {
    Value shifted = arith::ShRUIOp::create(b, byte, b.i32(shift));
    return arith::AndIOp::create(b, shifted, b.i32((1 << count) - 1));
  };
  Value byte = getByte(b.add(place, first));
  if (!rest)
    rest = getByte(b.add(place, split.rest));
  // As in dialect/DecomposeProjection.cpp, which says what the bits are.
  Value high = arith::ShLIOp::create(
      b, bits(byte, split.bits, split.highBits()), b.i32(split.lowBits));
  Value joined =
      arith::OrIOp::create(b, bits(rest, restShift, split.lowBits), high);
  return toFloat(b.select(b.isLess(group, split.whole),
                          bits(byte, 0, split.bits), joined));
}

Value BlockValues::getScale() {
  Value scale = getHalf(format.scale);
  switch (format.groupScales) {
  case GroupScales::None:
    break;
  case GroupScales::Bytes: {
    Value place = b.add(b.div(i, format.group), format.groupScaleBytes);
    Value number =
        arith::SIToFPOp::create(b, b.getF32Type(), readBytes(place, 1));
    return mulF(scale, number);
  }
  case GroupScales::Split:
    return mulF(scale, getSplitScale(format.split.scales, 0));
  }
  return scale;
}

Value BlockValues::getMinimum() {
  Value minimum = getHalf(format.minimum);
  if (format.groupScales != GroupScales::Split)
    return minimum;
  return mulF(minimum,
              getSplitScale(format.split.minima, format.split.lowBits));
}

Value BlockValues::get() {
  Value scale = getScale();
  Value value = mulF(scale, getIntegers());
  if (!format.hasMinimum())
    return value;
  if (!format.subtractsMinimum)
    return addF(value, getMinimum());
  return arith::SubFOp::create(b, value, spread(value, getMinimum()));
}

int64_t gist::getBlockRun(BlockFormat format) {
  // The widest load has sixteen bytes.
  return std::min<int64_t>(16, getFormatInfo(format).neighbours());
}

Value gist::dequantize(GpuBuilder &b, BlockFormat format, Value i,
                       int64_t width,
                       function_ref<Value(Value, int64_t)> readBytes) {
  return BlockValues(b, getFormatInfo(format), i, width, readBytes,
                     /*hasPairs=*/false)
      .get();
}

Value gist::dequantizeAhead(GpuBuilder &b, BlockFormat format, Value i,
                            int64_t width,
                            function_ref<Value(Value, int64_t)> readBytes) {
  return BlockValues(b, getFormatInfo(format), i, width, readBytes,
                     /*hasPairs=*/true)
      .get();
}

Value ElementEmitter::getDequantized(DequantizeOp op, ValueRange indices,
                                     int64_t width) {
  // A run must not cross a block, and may only begin at a multiple of its
  // length.
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
