//===- WholeNumbers.cpp - A row as whole numbers of 24 bits ---------------===//
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
using arith::CmpFPredicate;
using Values = TileBuilder::Values;

static constexpr int64_t kLength = StoredBlocks::kLength;
static constexpr int64_t kHalf = StoredBlocks::kHalf;
static constexpr int64_t kLanes = 4, kParts = 3;
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
  VectorType narrow = b.vectorOf(kHalf, b.getI8Type());
  Value eight = arith::ConstantOp::create(
      b, DenseElementsAttr::get(cast<VectorType>(numbers.getType()),
                                b.getI32IntegerAttr(8)));
  Values parts(kParts);
  for (int64_t part = kParts - 1; part >= 0; --part) {
    parts[part] = arith::TruncIOp::create(b, narrow, numbers);
    Value rest = arith::SubIOp::create(
        b, numbers, arith::ExtSIOp::create(b, numbers.getType(), parts[part]));
    numbers = arith::ShRSIOp::create(b, rest, eight);
  }
  return parts;
}

void WholeNumbers::emit() {
  Type f32 = b.getF32Type();
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  };
  b.loop(
      b.index(0), b.index(depth / kLength), 1, {},
      [&](Value block, ValueRange) {
        Value k = b.mul(block, kLength);
        Value halves[] = {b.readF32(x, {b.index(0), k}, kHalf),
                          b.readF32(x, {b.index(0), b.add(k, kHalf)}, kHalf)};
        Value largest = vector::ReductionOp::create(
            b, vector::CombiningKind::MAXIMUMF,
            arith::MaximumFOp::create(b, math::AbsFOp::create(b, halves[0]),
                                      math::AbsFOp::create(b, halves[1])));
        // False for a NaN and an infinity, which make the scale a NaN.
        Value isUsual = arith::AndIOp::create(
            b,
            arith::CmpFOp::create(b, CmpFPredicate::OGE, largest,
                                  constant(kLeast)),
            arith::CmpFOp::create(
                b, CmpFPredicate::OLT, largest,
                constant(std::numeric_limits<float>::infinity())));
        Value factor = arith::DivFOp::create(b, constant(kMost), largest);
        Value scale = arith::SelectOp::create(
            b, isUsual, arith::DivFOp::create(b, largest, constant(kMost)),
            arith::SubFOp::create(b, largest, largest));
        memref::StoreOp::create(b, scale, scales, block);
        Value total = arith::AddFOp::create(b, halves[0], halves[1]);
        Values fours;
        for (int64_t at = 0; at < kHalf; at += kLanes)
          fours.push_back(b.slice(total, at, kLanes));
        vector::StoreOp::create(
            b,
            arith::AddFOp::create(b,
                                  arith::AddFOp::create(b, fours[0], fours[1]),
                                  arith::AddFOp::create(b, fours[2], fours[3])),
            totals, ValueRange{block, b.index(0)});
        for (auto [number, half] : llvm::enumerate(halves)) {
          Value scaled =
              arith::MulFOp::create(b, half, b.broadcast(factor, kHalf));
          scaled = arith::SelectOp::create(b, isUsual, scaled,
                                           b.splat(kHalf, f32, 0));
          Value whole = arith::FPToSIOp::create(
              b, b.vectorOf(kHalf, b.getI32Type()),
              math::RoundEvenOp::create(b, scaled).getResult());
          Value at = b.add(k, static_cast<int64_t>(number) * kHalf);
          for (auto [part, byte] : llvm::enumerate(split(b, whole)))
            vector::StoreOp::create(
                b, byte, bytes,
                ValueRange{b.index(static_cast<int64_t>(part)), at});
        }
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
