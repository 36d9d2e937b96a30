//===- DecomposeProjection.cpp - What linear layers and weights mean ------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/Decompose.h"
#include "dialect/DecomposeUtils.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"

#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// gated_projection
//===----------------------------------------------------------------------===//

/// x - V g per row, in f32.
static Value createResidual(ImplicitLocOpBuilder &b, Value input, Value basis,
                            Value g) {
  SmallVector<OpFoldResult> sizes = {getSize(b, input, 0),
                                     getSize(b, input, 1)};
  Value image = createProduct(b, "tk,dk->td", g, basis, sizes);
  auto subtract = [](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
    return arith::SubFOp::create(b, toF32(b, args[0]), args[1]);
  };
  return createLoops(b, "td,td->td", {input, image},
                     createEmpty(b, sizes, b.getF32Type()), subtract);
}

/// rho = |res| / |x| per row, 0 for x = 0. Where a norm leaves the range of f32
/// rho is NaN, 0 / 0 or infinity / infinity, and the gate opens: an open gate
/// is exact.
static Value createRatio(ImplicitLocOpBuilder &b, Value input, Value residual) {
  OpFoldResult tokens = getSize(b, input, 0);
  auto findNonZero = [](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
    Value isNonZero =
        compare(b, CmpFPredicate::UNE, toF32(b, args[0]), createF32(b, 0));
    return arith::OrIOp::create(b, args[1], isNonZero);
  };
  Value isNonZero =
      createLoops(b, "td->t", input,
                  createFilled(b, tokens, createBool(b, false)), findNonZero);
  auto divide = [](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
    Value ratio =
        arith::DivFOp::create(b, math::SqrtOp::create(b, args[0]).getResult(),
                              math::SqrtOp::create(b, args[1]).getResult());
    return arith::SelectOp::create(b, args[2], ratio, createF32(b, 0));
  };
  return createLoops(
      b, "t,t,t->t",
      {createSquares(b, residual), createSquares(b, input), isNonZero},
      createEmpty(b, tokens, b.getF32Type()), divide);
}

/// How many of the thresholds, ascending, rho does not stay within. A NaN
/// stays within none.
static Value createLevel(ImplicitLocOpBuilder &b, Value ratio,
                         ArrayRef<float> thresholds) {
  auto count = [&](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
    Value level = arith::ConstantOp::create(b, b.getI8IntegerAttr(0));
    for (float threshold : thresholds) {
      Value isAbove =
          compare(b, CmpFPredicate::UGT, args[0], createF32(b, threshold));
      Value one = arith::ExtUIOp::create(b, b.getI8Type(), isAbove);
      level = arith::AddIOp::create(b, level, one);
    }
    return level;
  };
  return createLoops(b, "t->t", ratio,
                     createEmpty(b, getSize(b, ratio, 0), b.getI8Type()),
                     count);
}

Value gist::createGateLevels(ImplicitLocOpBuilder &b, GatedProjectionOp op,
                             Value residual) {
  SmallVector<float> thresholds;
  if (op.getEpsilonLow())
    thresholds.push_back(op.getEpsilonLow()->convertToFloat());
  thresholds.push_back(op.getEpsilon().convertToFloat());
  return createLevel(b, createRatio(b, op.getInput(), residual), thresholds);
}

namespace {
/// What the projections of one op share.
struct Subspace {
  Value g, residual, level;
};
} // namespace

/// Projection `number` of the op: by level M g, that and the residual times the
/// low weight, if there is one, or the weight times the input; and the bias.
static Value createProjection(ImplicitLocOpBuilder &b, GatedProjectionOp op,
                              unsigned number, const Subspace &subspace) {
  Type element = cast<RankedTensorType>(op.getOutputs()[number].getType())
                     .getElementType();
  Value weight = op.getWeights()[number];
  SmallVector<OpFoldResult> sizes = {getSize(b, op.getInput(), 0),
                                     getSize(b, weight, 0)};
  // The product of level i is input 1 + i of the sum.
  SmallVector<Value> inputs = {
      createProduct(b, "tk,mk->tm", subspace.g, op.getImages()[number], sizes),
      subspace.level};
  std::string dims = "tm,t";
  auto addInput = [&](Value rows, Value matrix) {
    inputs.push_back(createProduct(b, "td,md->tm", rows, matrix, sizes));
    dims += ",tm";
  };
  if (!op.getLow().empty())
    addInput(subspace.residual, op.getLow()[number]);
  addInput(op.getInput(), weight);
  if (!op.getBiases().empty()) {
    inputs.push_back(op.getBiases()[number]);
    dims += ",m";
  }

  unsigned levels = op.getLow().empty() ? 1 : 2;
  auto sum = [&](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
    Value result = args[0];
    for (unsigned level = 1; level <= levels; ++level) {
      Value constant = arith::ConstantOp::create(b, b.getI8IntegerAttr(level));
      Value isLevel = compare(b, CmpIPredicate::eq, args[1], constant);
      Value other = args[1 + level];
      if (level < levels)
        other = arith::AddFOp::create(b, args[0], other);
      result = arith::SelectOp::create(b, isLevel, other, result);
    }
    if (!op.getBiases().empty())
      result = arith::AddFOp::create(b, result, toF32(b, args[2 + levels]));
    return roundTo(b, result, element);
  };
  return createLoops(b, dims + "->tm", inputs, createEmpty(b, sizes, element),
                     sum);
}

namespace {
struct DecomposeGatedProjection final : OpRewritePattern<GatedProjectionOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(GatedProjectionOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value input = op.getInput(), basis = op.getBasis();
    Subspace subspace;
    subspace.g = createProduct(b, "td,dk->tk", input, basis,
                               {getSize(b, input, 0), getSize(b, basis, 1)});
    subspace.residual = createResidual(b, input, basis, subspace.g);
    subspace.level = createGateLevels(b, op, subspace.residual);
    SmallVector<Value> results;
    for (unsigned i = 0; i < op.getWeights().size(); ++i)
      results.push_back(createProjection(b, op, i, subspace));
    results.push_back(subspace.level);
    rewriter.replaceOp(op, results);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// dequantize
//===----------------------------------------------------------------------===//

namespace {
/// Reads one block of bytes.
class BlockReader {
public:
  BlockReader(ImplicitLocOpBuilder &b, Value blocks, Value row, Value block)
      : b(b), blocks(blocks), row(row), block(block) {}

  /// The byte at `first` + `offset`, unsigned, as an i32.
  Value getByte(int64_t first, Value offset) {
    return arith::ExtUIOp::create(b, b.getI32Type(), getRaw(first, offset));
  }
  /// The same, signed.
  Value getSignedByte(int64_t first, Value offset) {
    return arith::ExtSIOp::create(b, b.getI32Type(), getRaw(first, offset));
  }
  /// The f16 at `first`, little endian, as an f32.
  Value getHalf(int64_t first) {
    Value zero = createIndex(b, 0);
    Type i16 = b.getI16Type();
    Value low = arith::ExtUIOp::create(b, i16, getRaw(first, zero));
    Value high = arith::ExtUIOp::create(b, i16, getRaw(first + 1, zero));
    Value eight = arith::ConstantOp::create(b, b.getI16IntegerAttr(8));
    high = arith::ShLIOp::create(b, high, eight);
    Value bits = arith::OrIOp::create(b, low, high);
    return toF32(b, arith::BitcastOp::create(b, b.getF16Type(), bits));
  }

private:
  Value getRaw(int64_t first, Value offset) {
    Value at = arith::AddIOp::create(b, createIndex(b, first), offset);
    return load(b, blocks, {row, block, at});
  }

  ImplicitLocOpBuilder &b;
  Value blocks, row, block;
};
} // namespace

static Value divide(ImplicitLocOpBuilder &b, Value value, int64_t by) {
  return arith::DivUIOp::create(b, value, createIndex(b, by));
}

static Value modulo(ImplicitLocOpBuilder &b, Value value, int64_t by) {
  return arith::RemUIOp::create(b, value, createIndex(b, by));
}

/// `value` * `factor` + `addend`, of indices.
static Value scaleAndAdd(ImplicitLocOpBuilder &b, Value value, int64_t factor,
                         Value addend) {
  Value product = arith::MulIOp::create(b, value, createIndex(b, factor));
  return arith::AddIOp::create(b, product, addend);
}

/// The `count` bits of `bits` from number `shift` on.
static Value getBits(ImplicitLocOpBuilder &b, Value bits, Value shift,
                     int32_t count) {
  Value shifted = arith::ShRUIOp::create(b, bits, shift);
  return arith::AndIOp::create(b, shifted, createI32(b, (1 << count) - 1));
}

/// `low` with `high` above its four bits.
static Value addHighBits(ImplicitLocOpBuilder &b, Value low, Value high) {
  Value shifted = arith::ShLIOp::create(b, high, createI32(b, 4));
  return arith::OrIOp::create(b, low, shifted);
}

static Value multiply(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return arith::MulFOp::create(b, toF32(b, lhs), toF32(b, rhs));
}

/// Nibble i of the 32 in sixteen bytes at `first`: low ones, then high ones.
static Value getNibble(ImplicitLocOpBuilder &b, BlockReader &reader,
                       int64_t first, Value i) {
  Value byte = reader.getByte(first, modulo(b, i, 16));
  Value shift =
      arith::MulIOp::create(b, toI32(b, divide(b, i, 16)), createI32(b, 4));
  return getBits(b, byte, shift, 4);
}

/// Bits 2n and 2n + 1 of byte i % 8 after `first`, with n = i / 8.
static Value getBitPair(ImplicitLocOpBuilder &b, BlockReader &reader,
                        int64_t first, Value i) {
  Value shift =
      arith::MulIOp::create(b, toI32(b, divide(b, i, 8)), createI32(b, 2));
  return getBits(b, reader.getByte(first, modulo(b, i, 8)), shift, 2);
}

/// A bit pair, and bit i / 4 of byte i % 4 after the pairs above it.
static Value getThreeBits(ImplicitLocOpBuilder &b, BlockReader &reader,
                          int64_t first, Value i) {
  Value byte = reader.getByte(first + 8, modulo(b, i, 4));
  Value high = getBits(b, byte, toI32(b, divide(b, i, 4)), 1);
  return arith::OrIOp::create(b, getBitPair(b, reader, first, i),
                              arith::ShLIOp::create(b, high, createI32(b, 2)));
}

/// d, dmin, twelve bytes of scales and minima, 128 bytes of nibbles. Groups of
/// 32: 2n has the low and 2n + 1 the high nibbles of one run of 32 bytes. Scale
/// and minimum have six bits; those of groups 4 to 7 are split into four, in
/// the last four bytes, and two at the top of the bytes of groups 0 to 3.
static Value getQ4K(ImplicitLocOpBuilder &b, BlockReader &reader, Value i) {
  Value group = divide(b, i, 32), four = modulo(b, group, 4);
  Value scaleByte = reader.getByte(4, four);
  Value minimumByte = reader.getByte(8, four);
  Value splitByte = reader.getByte(12, four);
  Value none = createI32(b, 0), half = createI32(b, 4), top = createI32(b, 6);
  Value isSplit = compare(b, CmpIPredicate::uge, group, createIndex(b, 4));
  Value scale =
      arith::SelectOp::create(b, isSplit,
                              addHighBits(b, getBits(b, splitByte, none, 4),
                                          getBits(b, scaleByte, top, 2)),
                              getBits(b, scaleByte, none, 6));
  Value minimum =
      arith::SelectOp::create(b, isSplit,
                              addHighBits(b, getBits(b, splitByte, half, 4),
                                          getBits(b, minimumByte, top, 2)),
                              getBits(b, minimumByte, none, 6));

  Value run = divide(b, group, 2);
  Value byte = reader.getByte(16, scaleAndAdd(b, run, 32, modulo(b, i, 32)));
  Value shift = arith::MulIOp::create(b, toI32(b, modulo(b, group, 2)), half);
  Value value = multiply(b, multiply(b, reader.getHalf(0), scale),
                         getBits(b, byte, shift, 4));
  return arith::SubFOp::create(b, value,
                               multiply(b, reader.getHalf(2), minimum));
}

/// 128 bytes of low nibbles, 64 of pairs of high bits, sixteen signed scales,
/// d. Each half of the block has 64 bytes of nibbles and 32 of pairs; of its
/// quarters of 32 values the first two have the low nibbles, the others the
/// high ones, and quarter n has the pair n of each byte.
static Value getQ6K(ImplicitLocOpBuilder &b, BlockReader &reader, Value i) {
  Value half = divide(b, i, 128), lane = modulo(b, i, 32);
  Value quarter = modulo(b, divide(b, i, 32), 4);
  Value run = scaleAndAdd(b, half, 2, modulo(b, quarter, 2));
  Value lowByte = reader.getByte(0, scaleAndAdd(b, run, 32, lane));
  Value lowShift = arith::MulIOp::create(b, toI32(b, divide(b, quarter, 2)),
                                         createI32(b, 4));
  Value highByte = reader.getByte(128, scaleAndAdd(b, half, 32, lane));
  Value highShift =
      arith::MulIOp::create(b, toI32(b, quarter), createI32(b, 2));
  Value q = addHighBits(b, getBits(b, lowByte, lowShift, 4),
                        getBits(b, highByte, highShift, 2));
  q = arith::SubIOp::create(b, q, createI32(b, 32));
  Value scale = reader.getSignedByte(192, divide(b, i, 16));
  return multiply(b, multiply(b, reader.getHalf(208), scale), q);
}

/// d * q + m, the two halves at the start of a block.
static Value scaleAndShift(ImplicitLocOpBuilder &b, BlockReader &reader,
                           Value q) {
  return arith::AddFOp::create(b, multiply(b, reader.getHalf(0), q),
                               reader.getHalf(2));
}

/// Value i of a block. The order of operations is that of GGUF's reference, so
/// that results are equal bit by bit.
static Value getBlockValue(ImplicitLocOpBuilder &b, BlockReader &reader,
                           BlockFormat format, Value i) {
  switch (format) {
  case BlockFormat::Q4_0: {
    Value q =
        arith::SubIOp::create(b, getNibble(b, reader, 2, i), createI32(b, 8));
    return multiply(b, reader.getHalf(0), q);
  }
  case BlockFormat::Q4_1:
    return scaleAndShift(b, reader, getNibble(b, reader, 4, i));
  case BlockFormat::Q3_1:
    return scaleAndShift(b, reader, getThreeBits(b, reader, 4, i));
  case BlockFormat::Q2_1:
    return scaleAndShift(b, reader, getBitPair(b, reader, 4, i));
  case BlockFormat::Q8_0:
    return multiply(b, reader.getHalf(0), reader.getSignedByte(2, i));
  case BlockFormat::Q4_K:
    return getQ4K(b, reader, i);
  case BlockFormat::Q6_K:
    return getQ6K(b, reader, i);
  }
  llvm_unreachable("all formats are listed");
}

namespace {
struct DecomposeDequantize final : OpRewritePattern<DequantizeOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(DequantizeOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    int64_t values = getBlockLayout(op.getFormat()).values;
    auto read = [&](ImplicitLocOpBuilder &b, ValueRange) -> Value {
      Value column = getLoopIndex(b, 1);
      BlockReader reader(b, op.getBlocks(), getLoopIndex(b, 0),
                         divide(b, column, values));
      return getBlockValue(b, reader, op.getFormat(),
                           modulo(b, column, values));
    };
    SmallVector<OpFoldResult> sizes = {
        getSize(b, op.getBlocks(), 0),
        b.getIndexAttr(op.getResult().getType().getDimSize(1))};
    rewriter.replaceOp(op, createLoops(b, "->rc", {},
                                       createEmpty(b, sizes, b.getF32Type()),
                                       read));
    return success();
  }
};
} // namespace

void gist::populateDecomposeProjectionPatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeGatedProjection, DecomposeDequantize>(
      patterns.getContext());
}
