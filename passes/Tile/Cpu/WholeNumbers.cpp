//===- WholeNumbers.cpp - Rows as whole numbers of 24 bits ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of one row in f32 with a weight in blocks of 4 bits would spend
// most of its time on turning nibbles into floats. Bytes are multiplied as they
// are: six instructions for the 96 products of a block, of 16 each.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/WholeNumbers.h"
#include "mlir/Dialect/ArmNeon/ArmNeonDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <limits>

using namespace mlir;
using namespace gist;
using Values = TileBuilder::Values;

static constexpr int64_t kLength = StoredBlocks::kLength;
static constexpr int64_t kHalf = StoredBlocks::kHalf;
static constexpr int64_t kLanes = 4, kParts = WholeBlock::kParts;
/// The largest whole number: its parts are bytes with a sign.
static constexpr double kMost = 126 * 65536;
/// A block without a larger number is zeros: the quotient would overflow.
static constexpr double kLeast = 1e-30;

WholeNumbers::WholeNumbers(TileBuilder &b, Value x, int64_t depth)
    : b(b), x(x), depth(depth) {
  auto allocate = [&](ArrayRef<int64_t> shape, Type element) -> Value {
    return memref::AllocOp::create(b, MemRefType::get(shape, element));
  };
  bytes = allocate({kParts, depth}, b.getI8Type());
  scales = allocate({depth / kLength}, b.getF32Type());
  totals = allocate({depth / kLength, kLanes}, b.getF32Type());
}

/// The parts of 16 whole numbers: the first, second and third bytes.
static Values split(TileBuilder &b, Value numbers) {
  auto type = cast<VectorType>(numbers.getType());
  VectorType narrow = b.vectorOf(kHalf, b.getI8Type());
  auto constant = [&](VectorType of, int64_t value) -> Value {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(
               of, b.getIntegerAttr(of.getElementType(), value)));
  };
  // With 128 more in each part no part borrows from the next one.
  numbers = arith::AddIOp::create(b, numbers, constant(type, 0x808080));
  // Half of the bits at a time: from 32 to 8 at once is a table of four
  // registers for LLVM.
  VectorType words = b.vectorOf(kHalf, b.getI16Type());
  auto toWords = [&](Value of) -> Value {
    return arith::TruncIOp::create(b, words, of);
  };
  auto toByte = [&](Value of) -> Value {
    return arith::XOrIOp::create(b, arith::TruncIOp::create(b, narrow, of),
                                 constant(narrow, -128));
  };
  Value high = toWords(arith::ShRUIOp::create(b, numbers, constant(type, 16)));
  Value low = toWords(numbers);
  return {toByte(high),
          toByte(arith::ShRUIOp::create(b, low, constant(words, 8))),
          toByte(low)};
}

WholeBlock WholeBlock::read(TileBuilder &b, Value x, Value row, Value block) {
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  };
  auto toBits = [&](double value) -> Value {
    llvm::APFloat number(static_cast<float>(value));
    return arith::ConstantOp::create(
        b, b.getIntegerAttr(i32, number.bitcastToAPInt()));
  };
  Value numbers = b.readF32(x, {row, b.mul(block, kLength)}, kLength);
  // Sizes of floats are in the order of their bits. A NaN is the largest.
  Value withoutSign = arith::ConstantOp::create(
      b, DenseElementsAttr::get(b.vectorOf(kLength, i32),
                                b.getI32IntegerAttr(0x7fffffff)));
  Value bits = vector::ReductionOp::create(
      b, vector::CombiningKind::MAXUI,
      arith::AndIOp::create(b, b.bitcast(numbers, i32), withoutSign));
  Value isUsual = arith::AndIOp::create(
      b,
      arith::CmpIOp::create(b, arith::CmpIPredicate::uge, bits, toBits(kLeast)),
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, bits,
                            toBits(std::numeric_limits<double>::infinity())));
  Value largest = arith::BitcastOp::create(b, f32, bits);
  WholeBlock made;
  made.scale = arith::SelectOp::create(
      b, isUsual, arith::DivFOp::create(b, largest, constant(kMost)),
      arith::SubFOp::create(b, largest, largest));
  made.factor = arith::SelectOp::create(
      b, isUsual, arith::DivFOp::create(b, constant(kMost), largest),
      constant(0));
  Values fours;
  for (int64_t at = 0; at < kLength; at += kLanes)
    fours.push_back(b.slice(numbers, at, kLanes));
  for (size_t half = fours.size() / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i)
      fours[i] = arith::AddFOp::create(b, fours[i], fours[i + half]);
  made.total = fours[0];
  return made;
}

WholeBlock::Halves WholeBlock::readParts(TileBuilder &b, Value x, Value row,
                                         Value block, Value factor) {
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  // A NaN has no integer, so it does not become one.
  Value isUsual =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, factor,
                            arith::ConstantOp::create(b, b.getF32FloatAttr(0)));
  Value mask = b.broadcast(arith::ExtSIOp::create(b, i32, isUsual), kHalf);
  Halves result;
  for (auto [half, parts] : llvm::enumerate(result)) {
    Value k = b.add(b.mul(block, kLength), static_cast<int64_t>(half) * kHalf);
    Value numbers =
        b.bitcast(arith::AndIOp::create(
                      b, b.bitcast(b.readF32(x, {row, k}, kHalf), i32), mask),
                  f32);
    Value scaled =
        arith::MulFOp::create(b, numbers, b.broadcast(factor, kHalf));
    parts = split(b, arith::FPToSIOp::create(
                         b, b.vectorOf(kHalf, i32),
                         math::RoundEvenOp::create(b, scaled).getResult()));
  }
  return result;
}

void WholeNumbers::emit() {
  b.loop(b.index(0), b.index(depth / kLength), 1, {},
         [&](Value block, ValueRange) {
           Value row = b.index(0);
           WholeBlock made = WholeBlock::read(b, x, row, block);
           memref::StoreOp::create(b, made.scale, scales, block);
           vector::StoreOp::create(b, made.total, totals,
                                   ValueRange{block, b.index(0)});
           for (auto [half, parts] : llvm::enumerate(
                    WholeBlock::readParts(b, x, row, block, made.factor)))
             for (auto [part, numbers] : llvm::enumerate(parts))
               vector::StoreOp::create(
                   b, numbers, bytes,
                   ValueRange{b.index(static_cast<int64_t>(part)),
                              b.add(b.mul(block, kLength),
                                    static_cast<int64_t>(half) * kHalf)});
           return Values{};
         });
}

Values WholeNumbers::emitStep(const StoredBlocks &blocks, Value row,
                              Value block, Values sums) {
  VectorType integers = b.vectorOf(kLanes, b.getI32Type());
  VectorType floats = b.vectorOf(kLanes, b.getF32Type());
  std::array<Value, 2> weights = blocks.readBytes(b, row, block);
  auto multiply = [&](int64_t part, Value sum) {
    for (int64_t half = 0; half < 2; ++half) {
      Value at = b.add(b.mul(block, kLength), half * kHalf);
      Value numbers =
          vector::LoadOp::create(b, b.vectorOf(kHalf, b.getI8Type()), bytes,
                                 ValueRange{b.index(part), at});
      sum = arm_neon::SdotOp::create(b, integers, sum, weights[half], numbers);
    }
    return sum;
  };
  auto splat = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(integers, b.getI32IntegerAttr(value)));
  };
  // A lane has eight products of bytes: 17 bits, and 25 with the second part.
  // The third would not fit with weights of 8 bits.
  Value high = arith::ShLIOp::create(b, multiply(0, splat(0)), splat(8));
  high = multiply(1, high);
  Value low = multiply(2, splat(0));
  Value product = b.fma(arith::SIToFPOp::create(b, floats, high),
                        b.splat(kLanes, b.getF32Type(), 256),
                        arith::SIToFPOp::create(b, floats, low));
  Value scale = arith::MulFOp::create(
      b, blocks.readScale(b, row, block),
      memref::LoadOp::create(b, scales, ValueRange{block}).getResult());
  sums[0] = b.fma(product, b.broadcast(scale, kLanes), sums[0]);
  Value minimum = blocks.readMinimum(b, row, block);
  if (!minimum)
    return sums;
  Value total =
      vector::LoadOp::create(b, floats, totals, ValueRange{block, b.index(0)});
  sums[1] = b.fma(total, b.broadcast(minimum, kLanes), sums[1]);
  return sums;
}

Values WholeNumbers::emitProducts(const StoredBlocks &blocks, Value row,
                                  int64_t count) {
  Values zeros(2 * count, b.splat(kLanes, b.getF32Type(), 0));
  Values sums = b.loop(b.index(0), b.index(depth / kLength), 1, zeros,
                       [&](Value block, ValueRange carried) {
                         Values next;
                         for (int64_t i = 0; i < count; ++i)
                           llvm::append_range(
                               next, emitStep(blocks, b.add(row, i), block,
                                              Values(carried.slice(2 * i, 2))));
                         return next;
                       });
  Values results;
  for (int64_t i = 0; i < count; ++i)
    results.push_back(arith::AddFOp::create(b, sums[2 * i], sums[2 * i + 1]));
  return results;
}
