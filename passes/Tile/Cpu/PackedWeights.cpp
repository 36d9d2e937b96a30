//===- PackedWeights.cpp - Reads packed weights into vectors --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/PackedWeights.h"
#include "dialect/Formats.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace gist;
using Values = TileBuilder::Values;

static constexpr int64_t kBlock = PackingAttr::kBlock;

PackedWeights::PackedWeights(TileBuilder &b, PackingAttr packing, Value weight)
    : b(b), packing(packing), weight(weight), i8(b.getI8Type()),
      f32(b.getF32Type()), columns(packing.getColumns()) {}

/// One f32 per column, stored at `byte` of a block.
Value PackedWeights::readNumbers(Value group, Value block, int64_t byte) {
  int64_t width = packing.getScaleBits() / 8;
  Value bytes = b.read(weight, {group, block, b.index(byte)},
                       b.vectorOf(columns * width, i8));
  if (width == 4)
    return b.bitcast(bytes, f32);
  return arith::ExtFOp::create(b, b.vectorOf(columns, f32),
                               b.bitcast(bytes, b.getF16Type()));
}

ColumnScales PackedWeights::readScales(Value group, Value block, int64_t part) {
  int64_t byte = part * columns * packing.getScaleBits() / 8;
  ColumnScales result{readNumbers(group, block, byte), {}};
  if (packing.getHasMin())
    result.offset = readNumbers(group, block, packing.getMinOffset() + byte);
  // Stored weights are `zero` too large. That is taken back in the offset,
  // which is multiplied with the sum of a row's values.
  if (int64_t zero = packing.getZero()) {
    Value factor = b.splat(columns, f32, -static_cast<double>(zero));
    result.offset = result.offset ? b.fma(result.scale, factor, result.offset)
                                  : b.mul(result.scale, factor);
  }
  // Signed halves of bytes are used where they are, as 16 times their value.
  if (packing.getBits() == 4 && packing.getIsSigned())
    result.scale = b.mul(result.scale, b.splat(columns, f32, 1.0 / 16));
  return result;
}

/// The integers of a block as 8 bits, in vectors of `lanes` bytes; those of a
/// step of `depth` are next to one another.
Values PackedWeights::readSteps(Value group, Value block, int64_t lanes) {
  int64_t stepBytes = columns * packing.getDepth();
  int64_t vectors = stepBytes / lanes;
  int64_t bytes = columns * kBlock * packing.getBits() / 8;
  VectorType type = b.vectorOf(lanes, i8);
  Values loaded;
  for (int64_t at = 0; at < bytes; at += lanes)
    loaded.push_back(b.read(
        weight, {group, block, b.index(packing.getValueOffset() + at)}, type));
  // Bytes are in the order of the steps already.
  if (packing.getBits() == 8)
    return loaded;
  if (packing.getBits() < 4)
    return joinPlanes(loaded, lanes);

  Value four = b.splat(lanes, i8, 4);
  Value low = b.splat(lanes, i8, 15), high = b.splat(lanes, i8, -16);
  Values steps;
  for (size_t first = 0; first < loaded.size(); first += vectors) {
    for (int64_t i = 0; i < vectors; ++i) {
      Value x = loaded[first + i];
      steps.push_back(packing.getIsSigned()
                          ? arith::ShLIOp::create(b, x, four).getResult()
                          : arith::AndIOp::create(b, x, low).getResult());
    }
    for (int64_t i = 0; i < vectors; ++i) {
      Value x = loaded[first + i];
      steps.push_back(packing.getIsSigned()
                          ? arith::AndIOp::create(b, x, high).getResult()
                          : arith::ShRUIOp::create(b, x, four).getResult());
    }
  }
  return steps;
}

/// The integers of a block from a plane of their low bit pairs and, of three
/// bits, one of the bits above.
Values PackedWeights::joinPlanes(ArrayRef<Value> loaded, int64_t lanes) {
  auto [lowPlane, highPlane] = getPackedLayout(packing).planes();
  size_t pairs = lowPlane.lanes / lanes, bits = highPlane.lanes / lanes;
  ArrayRef<Value> low = loaded.take_front(pairs),
                  high = loaded.drop_front(pairs);
  auto getBits = [&](Value bytes, const BitPlane &plane, int64_t part) {
    int64_t from = plane.bits * part, to = plane.position;
    if (from > to)
      bytes = arith::ShRUIOp::create(b, bytes, b.splat(lanes, i8, from - to));
    else if (to > from)
      bytes = arith::ShLIOp::create(b, bytes, b.splat(lanes, i8, to - from));
    // Of the top bits nothing else is left.
    if (from + plane.bits == 8 && to == 0)
      return bytes;
    int64_t mask = static_cast<int64_t>(plane.mask()) << to;
    return arith::AndIOp::create(b, bytes, b.splat(lanes, i8, mask))
        .getResult();
  };
  Values steps;
  for (size_t i = 0; i < lowPlane.perByte() * pairs; ++i) {
    Value value = getBits(low[i % pairs], lowPlane, i / pairs);
    if (!high.empty())
      value = arith::OrIOp::create(
          b, value, getBits(high[i % bits], highPlane, i / bits));
    steps.push_back(value);
  }
  return steps;
}

Value gist::createVpdpbusd(TileBuilder &b, Value sum, Value u, Value x) {
  int64_t lanes = cast<VectorType>(sum.getType()).getNumElements();
  std::string name = "llvm.x86.avx512.vpdpbusd." + std::to_string(lanes * 32);
  return LLVM::CallIntrinsicOp::create(b, sum.getType(), b.getStringAttr(name),
                                       ValueRange{sum, u, x})
      .getResult(0);
}

Value gist::readScaledSums(TileBuilder &b, Value values, Value row, Value block,
                           Value scale, int64_t group, int64_t lanes,
                           function_ref<Value(Value bytes)> addFours) {
  Values sums;
  Value first = b.mul(block, kBlock);
  VectorType bytes = b.vectorOf(4 * lanes, b.getI8Type());
  for (int64_t i = 0; i < group / 4; ++i) {
    Value column = b.add(first, i * 4 * lanes);
    sums.push_back(addFours(b.read(values, {row, column}, bytes)));
  }
  // Neighbours are added until a lane has a group.
  SmallVector<int64_t> even, odd, repeated;
  for (int64_t i = 0; i < lanes; ++i) {
    even.push_back(2 * i);
    odd.push_back(2 * i + 1);
    repeated.push_back(i / (kBlock / group));
  }
  while (sums.size() > 1) {
    Values next;
    for (size_t i = 0; i < sums.size(); i += 2)
      next.push_back(
          arith::AddIOp::create(b, b.shuffle(sums[i], sums[i + 1], even),
                                b.shuffle(sums[i], sums[i + 1], odd)));
    sums = std::move(next);
  }
  Value numbers =
      arith::SIToFPOp::create(b, b.vectorOf(lanes, b.getF32Type()), sums[0]);
  return b.mul(numbers, b.shuffle(scale, scale, repeated));
}
