//===- PackedWeights.cpp - Reads packed weights into vectors --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/PackedWeights.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace gist;
using Values = TileBuilder::Values;

static constexpr int64_t kBlock = PackingAttr::kBlock;

PackedWeights::PackedWeights(TileBuilder &b, QuantizedMatmulOp product,
                             Instruction instruction)
    : b(b), format(getFormatInfo(product.getFormat())),
      instruction(instruction), packing(product.getPackedAttr()),
      layout(getPackedLayout(packing)), weight(product.getWeight()),
      i8(b.getI8Type()), f32(b.getF32Type()), columns(packing.getColumns()) {}

Values PackedWeights::getPlace(Value group, Value block, int64_t byte) {
  int64_t sharing = layout.sharingBlocks();
  if (sharing == 1)
    return {group, block, b.index(byte)};
  Value superblock = b.floorDiv(block, sharing);
  Value inside = b.add(block, b.mul(superblock, -sharing));
  return {
      group, superblock,
      b.add(b.mul(inside, layout.blockBytes()), layout.sharedBytes() + byte)};
}

/// One f16 per column, as f32.
Value PackedWeights::readHalves(ValueRange place) {
  Value bytes = b.read(weight, place, b.vectorOf(columns * 2, i8));
  return arith::ExtFOp::create(b, b.vectorOf(columns, f32),
                               b.bitcast(bytes, b.getF16Type()));
}

/// One f32 per column, stored at `byte` of a block. A whole number there
/// multiplies an f16 that several blocks share; that is exact.
Value PackedWeights::readNumbers(Value group, Value block, int64_t byte,
                                 int64_t sharedByte) {
  Values place = getPlace(group, block, byte);
  if (layout.sharingBlocks() == 1)
    return readHalves(place);
  Value bytes = b.read(weight, place, b.vectorOf(columns, i8));
  Value numbers = arith::SIToFPOp::create(
      b, b.vectorOf(columns, f32),
      arith::ExtSIOp::create(b, b.vectorOf(columns, b.getI32Type()), bytes));
  return b.mul(numbers, readHalves({group, place[1], b.index(sharedByte)}));
}

ColumnScales PackedWeights::readScales(Value group, Value block, int64_t part) {
  int64_t byte = layout.scaleOffset(/*column=*/0, part);
  ColumnScales result{readNumbers(group, block, byte, 0), {}};
  if (packing.getHasMin())
    result.offset = readNumbers(group, block, layout.minOffset() + byte,
                                layout.sharedBytes() / 2);
  // Stored weights are `zero` too large. That is taken back in the offset,
  // which is multiplied with the sum of a row's values.
  if (int64_t zero = packing.getZero()) {
    Value factor = b.splat(columns, f32, -static_cast<double>(zero));
    result.offset = result.offset ? b.fma(result.scale, factor, result.offset)
                                  : b.mul(result.scale, factor);
  }
  if (areSignedHalves())
    result.scale = b.mul(result.scale, b.splat(columns, f32, 1.0 / 16));
  return result;
}

/// The bits of a plane that begin at `shift` of `bytes`, at their place in the
/// values and with the sign where they are the highest. Signed halves without
/// another plane stay at the top, as 16 times their value (readScales).
Value PackedWeights::readBits(Value bytes, const BitPlane &plane,
                              int64_t shift) {
  if (plane.bits == 8)
    return bytes;
  int64_t lanes = cast<VectorType>(bytes.getType()).getNumElements();
  int64_t bits = plane.bits, to = plane.position;
  auto constant = [&](int64_t value) { return b.splat(lanes, i8, value); };
  auto keep = [&](int64_t mask) -> Value {
    return arith::AndIOp::create(b, bytes, constant(mask));
  };
  auto moveUp = [&](int64_t by) -> Value {
    return arith::ShLIOp::create(b, bytes, constant(by));
  };
  bool isSigned =
      packing.getIsSigned() && !format.levels && to + bits == packing.getBits();
  if (isSigned && to == 0)
    to = 8 - bits;
  else if (isSigned) {
    if (bits == 1) { // One comparison is less than two shifts.
      bytes = keep(1 << shift);
      bytes = arith::ExtSIOp::create(
          b, bytes.getType(),
          b.compare(arith::CmpIPredicate::ne, bytes, constant(0)));
    } else {
      bytes = moveUp(8 - bits - shift);
      bytes = arith::ShRSIOp::create(b, bytes, constant(8 - bits - to));
    }
    return keep(-1 << to);
  }
  if (shift > to)
    bytes = arith::ShRUIOp::create(b, bytes, constant(shift - to));
  else if (to > shift)
    bytes = moveUp(to - shift);
  // The other bits of the bytes are gone if these come from one end and go to
  // the other, or stay at both.
  bool isAlone = std::min(shift, to) == 0 && std::max(shift, to) + bits == 8;
  return isAlone ? bytes : keep(static_cast<int64_t>(plane.mask()) << to);
}

/// The integers of a block as 8 bits, in vectors of `lanes` bytes; those of a
/// step of `depth` are next to one another.
Values PackedWeights::readSteps(Value group, Value block, int64_t lanes) {
  auto planes = layout.planes();
  VectorType type = b.vectorOf(lanes, i8);
  llvm::SmallDenseMap<uint32_t, Value> loaded;
  auto load = [&](uint32_t byte) {
    Value &bytes = loaded[byte];
    if (!bytes)
      bytes = b.read(weight, getPlace(group, block, byte), type);
    return bytes;
  };
  Values steps;
  for (int64_t number = 0; number < columns * kBlock; number += lanes) {
    Value value;
    for (const BitPlane &plane :
         ArrayRef(planes).take_front(layout.numPlanes())) {
      Value bits =
          readBits(load(plane.byteOf(number)), plane, plane.shiftOf(number));
      value = value ? arith::OrIOp::create(b, value, bits).getResult() : bits;
    }
    steps.push_back(format.levels ? lookUp(value) : value);
  }
  return steps;
}

/// The instruction that takes bytes of a table of sixteen by their numbers, for
/// vectors of `bytes`; none where there may be none.
static StringRef getLookUp(Instruction instruction, int64_t bytes) {
  switch (instruction) {
  case Instruction::Smmla:
  case Instruction::Sdot:
    return bytes == 16 ? "llvm.aarch64.neon.tbl1.v16i8" : "";
  case Instruction::Vpdpbusd:
  case Instruction::Vpmaddubsw:
  case Instruction::Tdpbsud:
    return bytes == 64   ? "llvm.x86.avx512.pshuf.b.512"
           : bytes == 32 ? "llvm.x86.avx2.pshuf.b"
                         : "";
  default:
    return "";
  }
}

Value PackedWeights::lookUp(Value numbers) {
  auto type = cast<VectorType>(numbers.getType());
  int64_t bytes = type.getNumElements();
  constexpr int64_t kLevels = 16;
  assert(format.bits == 4 && "not a table of sixteen");
  auto level = [&](int64_t number) {
    return static_cast<int8_t>(format.levels[number] + packing.getZero());
  };
  if (StringRef name = getLookUp(instruction, bytes); !name.empty()) {
    // x86 looks up in each sixteen bytes of a vector on its own.
    SmallVector<int8_t> table;
    for (int64_t i = 0; i < bytes; ++i)
      table.push_back(level(i % kLevels));
    Value levels = arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, ArrayRef(table)));
    return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name),
                                         ValueRange{levels, numbers})
        .getResult(0);
  }
  // Halves of the table, then quarters and so on, by the bits of numbers.
  Values left;
  for (int64_t i = 0; i < kLevels; ++i)
    left.push_back(b.splat(bytes, i8, level(i)));
  for (int64_t bit = 1; bit < kLevels; bit *= 2) {
    Value isSet =
        b.compare(arith::CmpIPredicate::ne,
                  arith::AndIOp::create(b, numbers, b.splat(bytes, i8, bit)),
                  b.splat(bytes, i8, 0));
    Values next;
    for (size_t i = 0; i < left.size(); i += 2)
      next.push_back(arith::SelectOp::create(b, isSet, left[i + 1], left[i]));
    left = std::move(next);
  }
  return left[0];
}

Value gist::createVpdpbusd(TileBuilder &b, Value sum, Value u, Value x) {
  int64_t lanes = cast<VectorType>(sum.getType()).getNumElements();
  std::string name = "llvm.x86.avx512.vpdpbusd." + std::to_string(lanes * 32);
  return LLVM::CallIntrinsicOp::create(b, sum.getType(), b.getStringAttr(name),
                                       ValueRange{sum, u, x})
      .getResult(0);
}

Value gist::readRowSums(TileBuilder &b, PackingAttr packing, Value values,
                        Value row, Value block, Value scale, int64_t lanes,
                        function_ref<Value(Value bytes)> addFours) {
  Values sums;
  Value first = b.mul(block, kBlock);
  int64_t group = packing.getGroup();
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
  if (int64_t zero = packing.getZero())
    return arith::MulIOp::create(b, sums[0],
                                 b.splat(lanes, b.getI32Type(), -zero));
  Value numbers =
      arith::SIToFPOp::create(b, b.vectorOf(lanes, b.getF32Type()), sums[0]);
  return b.mul(numbers, b.shuffle(scale, scale, repeated));
}
