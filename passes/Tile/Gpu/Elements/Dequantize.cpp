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
  /// The same of a plane whose bytes have the bits of neighbours.
  Value spreadBits(Value byte, Value shift);
  /// u - zero, as floats.
  Value getIntegers();
  /// d and m.
  Value getScale();
  Value getMinimum();
  /// The group's number among those that begin at `first`, of which the rest of
  /// split ones begins at bit `restShift`, as a float.
  Value getSplitScale(int64_t first, uint32_t restShift);
  /// Number `number` of those that lie in planes, less `zero`, as a float.
  Value getPlaneScale(Value number, int32_t zero);

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
    return b.mul(spreadScale(floats, scalar), floats);
  }
  Value addF(Value floats, Value scalar) {
    return b.add(floats, spreadScale(floats, scalar));
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

/// BitPlane::byteOf and shiftOf, for a number that is known at run time alone.
static std::pair<Value, Value> getPlace(GpuBuilder &b, const BitPlane &plane,
                                        uint32_t length, Value i) {
  Value place = plane.lanes < length ? b.rem(i, plane.lanes) : i;
  Value part = b.div(i, plane.lanes);
  if (plane.run() < length) {
    place = b.add(b.mul(b.div(i, plane.run()), plane.lanes), place);
    part = b.rem(part, plane.perByte());
  }
  return {b.add(place, plane.offset),
          plane.bits > 1 ? b.mul(part, plane.bits) : part};
}

Value BlockValues::getPlane(const BitPlane &plane) {
  auto [byte, part] = getPlace(b, plane, format.blockLength, i);
  Value shift = toI32(part);
  if (plane.lanes == 1)
    return spreadBits(getByte(byte), shift);
  return getBits(getWords(byte), shift, static_cast<int32_t>(plane.mask()));
}

/// A product with four ones puts four bits seven places apart, where each is
/// the lowest of a byte but for bits that the mask takes away.
Value BlockValues::spreadBits(Value byte, Value shift) {
  Value bits = arith::ShRUIOp::create(b, byte, shift);
  SmallVector<Value> words;
  int64_t each = width % 4 == 0 ? 4 : 1;
  for (int64_t first = 0; first < width; first += each) {
    Value part = arith::ShRUIOp::create(b, bits, b.i32(first));
    if (each == 4) {
      part = arith::AndIOp::create(b, part, b.i32(15));
      part = arith::MulIOp::create(b, part, b.i32(0x00204081));
    }
    words.push_back(
        arith::AndIOp::create(b, part, b.i32(each == 4 ? 0x01010101 : 1)));
  }
  if (width == 1)
    return words[0];
  return vector::FromElementsOp::create(
      b, b.vectorOf(width / each, b.getI32Type()), words);
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
  if (format.levels) {
    // As one word per byte.
    if (width % 4 == 0)
      result = arith::ExtUIOp::create(
          b, b.vectorOf(width, b.getI32Type()),
          vector::BitCastOp::create(b, b.vectorOf(width, b.getI8Type()),
                                    result));
    Type type = b.getF32Type();
    if (width > 1)
      type = b.vectorOf(width, type);
    return arith::SIToFPOp::create(b, type, createLevel(b, format, result));
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

Value BlockValues::getPlaneScale(Value number, int32_t zero) {
  const PlaneScales &scales = format.planeScales;
  uint32_t count = format.numGroups() * (format.hasMinimum() ? 2 : 1);
  Value result;
  for (size_t p = scales.numPlanes(); p-- > 0;) {
    const BitPlane &plane = scales.planes[p];
    auto [byte, part] = getPlace(b, plane, count, number);
    Value bits = arith::ShRUIOp::create(b, getByte(byte), toI32(part));
    bits = arith::AndIOp::create(b, bits,
                                 b.i32(static_cast<int64_t>(plane.mask())));
    if (plane.position > 0)
      bits = arith::ShLIOp::create(b, bits,
                                   b.i32(static_cast<int64_t>(plane.position)));
    result = result ? arith::OrIOp::create(b, bits, result).getResult() : bits;
  }
  if (zero != 0)
    result = arith::SubIOp::create(b, result, b.i32(zero));
  return toFloat(result);
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
  case GroupScales::Planes:
    return mulF(scale,
                getPlaneScale(b.div(i, format.group), format.planeScales.zero));
  }
  return scale;
}

Value BlockValues::getMinimum() {
  Value minimum = getHalf(format.minimum);
  if (format.groupScales == GroupScales::Planes)
    return mulF(minimum,
                getPlaneScale(b.add(b.div(i, format.group), format.numGroups()),
                              /*zero=*/0));
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
  return b.sub(value, spread(value, getMinimum()));
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
