//===- DecomposeProjection.cpp - What linear layers and weights mean ------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What gated projections and block formats stand for, in plain linalg. Kernels
// and passes share the functions that decide (createGateRatio,
// createGateLevel), so that a gate opens for the same rows everywhere.
//
//===----------------------------------------------------------------------===//

#include "dialect/Decompose.h"
#include "dialect/DecomposeUtils.h"
#include "dialect/Formats.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "runtime/format/GateLevels.h"

#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// gated_projection
//===----------------------------------------------------------------------===//

/// x - V g per row, in f32.
static Value createResidual(ValueBuilder &b, Value input, Value basis,
                            Value g) {
  SmallVector<OpFoldResult> sizes = {getSize(b, input, 0),
                                     getSize(b, input, 1)};
  Value image = createProduct(b, "tk,dk->td", g, basis, sizes);
  auto subtract = [](ValueBuilder &b, ValueRange args) -> Value {
    return b.sub(b.toF32(args[0]), args[1]);
  };
  return createLoops(b, "td,td->td", {input, image},
                     createEmpty(b, sizes, b.getF32Type()), subtract);
}

/// rho = |res| / |x| per row, 0 for x = 0. Where a norm leaves the range of f32
/// rho is NaN, 0 / 0 or infinity / infinity, and the gate opens: an open gate
/// is exact.
static Value createRatio(ValueBuilder &b, Value input, Value residual) {
  OpFoldResult tokens = getSize(b, input, 0);
  auto findNonZero = [](ValueBuilder &b, ValueRange args) -> Value {
    Value isNonZero = b.compare(CmpFPredicate::UNE, b.toF32(args[0]), b.f32(0));
    return b.either(args[1], isNonZero);
  };
  Value isNonZero =
      createLoops(b, "td->t", input, createFilled(b, tokens, b.boolean(false)),
                  findNonZero);
  auto divide = [](ValueBuilder &b, ValueRange args) -> Value {
    return createGateRatio(b, args[0], args[1], args[2]);
  };
  return createLoops(
      b, "t,t,t->t",
      {createSquares(b, residual), createSquares(b, input), isNonZero},
      createEmpty(b, tokens, b.getF32Type()), divide);
}

Value gist::createGateRatio(ValueBuilder &b, Value residual, Value input,
                            Value isNonZero) {
  Value ratio = b.div(math::SqrtOp::create(b, residual).getResult(),
                      math::SqrtOp::create(b, input).getResult());
  return b.select(isNonZero, ratio, b.f32(0));
}

/// The number of thresholds that the ratio passes is the level.
Value gist::createGateLevel(ValueBuilder &b, GatedProjectionOp op, Value ratio,
                            Type type) {
  SmallVector<float, kMaxGateThresholds> thresholds;
  if (op.getEpsilonLow())
    thresholds.push_back(op.getEpsilonLow()->convertToFloat());
  // In ascending order, as the verifier asks; the sum does not depend on it.
  thresholds.push_back(op.getEpsilon().convertToFloat());
  Value level = arith::ConstantOp::create(b, b.getIntegerAttr(type, 0));
  for (float threshold : thresholds) {
    // A NaN stays within no threshold.
    Value isAbove = b.compare(CmpFPredicate::UGT, ratio, b.f32(threshold));
    level = b.add(level, arith::ExtUIOp::create(b, type, isAbove));
  }
  return level;
}

Value gist::createGateLevels(ValueBuilder &b, GatedProjectionOp op,
                             Value residual) {
  Value ratio = createRatio(b, op.getInput(), residual);
  auto count = [&](ValueBuilder &b, ValueRange args) -> Value {
    return createGateLevel(b, op, args[0], b.getI8Type());
  };
  return createLoops(b, "t->t", ratio,
                     createEmpty(b, getSize(b, ratio, 0), b.getI8Type()),
                     count);
}

namespace {
/// What the projections of one op share.
struct Subspace {
  Value g, residual, level;
};
} // namespace

/// Projection `number` of the op: by level M g, that and the residual times the
/// low weight, if there is one, or the weight times the input; and the bias.
static Value createProjection(ValueBuilder &b, GatedProjectionOp op,
                              unsigned number, const Subspace &subspace) {
  Type element = cast<RankedTensorType>(op.getOutputs()[number].getType())
                     .getElementType();
  Value weight = op.getWeights()[number];
  SmallVector<OpFoldResult> sizes = {getSize(b, op.getInput(), 0),
                                     getSize(b, weight, 0)};
  // The product of level i is input 1 + i of the sum.
  // All products are computed and the level chooses: a definition has no need
  // to be fast.
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
  auto sum = [&](ValueBuilder &b, ValueRange args) -> Value {
    Value result = args[0];
    for (unsigned level = 1; level <= levels; ++level) {
      Value constant = arith::ConstantOp::create(b, b.getI8IntegerAttr(level));
      Value isLevel = b.compare(CmpIPredicate::eq, args[1], constant);
      Value other = args[1 + level];
      // Below the top the low weight adds to the image; at the top the weight
      // replaces both.
      if (level < levels)
        other = b.add(args[0], other);
      result = b.select(isLevel, other, result);
    }
    if (!op.getBiases().empty())
      result = b.add(result, b.toF32(args[2 + levels]));
    return b.convert(result, element);
  };
  return createLoops(b, dims + "->tm", inputs, createEmpty(b, sizes, element),
                     sum);
}

namespace {
struct DecomposeGatedProjection final : OpRewritePattern<GatedProjectionOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(GatedProjectionOp op,
                                PatternRewriter &rewriter) const override {
    ValueBuilder b(op.getLoc(), rewriter);
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
/// The same reads for all formats; FormatInfo says where things lie.
class BlockReader {
public:
  BlockReader(ValueBuilder &b, Value blocks, Value row, Value block)
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
    Value zero = b.index(0);
    Type i16 = b.getI16Type();
    Value low = arith::ExtUIOp::create(b, i16, getRaw(first, zero));
    Value high = arith::ExtUIOp::create(b, i16, getRaw(first + 1, zero));
    Value eight = arith::ConstantOp::create(b, b.getI16IntegerAttr(8));
    high = arith::ShLIOp::create(b, high, eight);
    Value bits = b.either(low, high);
    return b.toF32(arith::BitcastOp::create(b, b.getF16Type(), bits));
  }

private:
  Value getRaw(int64_t first, Value offset) {
    Value at = b.add(b.index(first), offset);
    return load(b, blocks, {row, block, at});
  }

  ValueBuilder &b;
  Value blocks, row, block;
};
} // namespace

static Value divide(ValueBuilder &b, Value value, int64_t by) {
  return b.div(value, b.index(by));
}

static Value modulo(ValueBuilder &b, Value value, int64_t by) {
  return b.rem(value, b.index(by));
}

/// `value` * `factor` + `addend`, of indices.
static Value scaleAndAdd(ValueBuilder &b, Value value, int64_t factor,
                         Value addend) {
  Value product = b.mul(value, b.index(factor));
  return b.add(product, addend);
}

/// The `count` bits of `bits` from number `shift` on.
static Value getBits(ValueBuilder &b, Value bits, Value shift, int32_t count) {
  Value shifted = arith::ShRUIOp::create(b, bits, shift);
  return b.both(shifted, b.i32((1 << count) - 1));
}

static Value multiply(ValueBuilder &b, Value lhs, Value rhs) {
  return b.mul(b.toF32(lhs), b.toF32(rhs));
}

/// The bits that `plane` has of value i of `length`.
static Value getPlane(ValueBuilder &b, BlockReader &reader,
                      const BitPlane &plane, uint32_t length, Value i) {
  // Which byte of the plane has the bits, and which part of that byte.
  Value place = plane.lanes < length ? modulo(b, i, plane.lanes) : i;
  Value part = divide(b, i, plane.lanes);
  if (plane.run() < length) {
    place = scaleAndAdd(b, divide(b, i, plane.run()), plane.lanes, place);
    part = modulo(b, part, plane.perByte());
  }
  Value byte = reader.getByte(plane.offset, place);
  Value shift = b.toI32(part);
  if (plane.bits > 1)
    shift = b.mul(shift, b.i32(static_cast<int32_t>(plane.bits)));
  return getBits(b, byte, shift, static_cast<int32_t>(plane.bits));
}

/// Number i of `length` whose bits are in the planes of `where`.
template <typename Planes>
static Value joinPlanes(ValueBuilder &b, BlockReader &reader,
                        const Planes &where, uint32_t length, Value i) {
  Value result;
  // High bits first. Each plane says at which bit of the number it belongs.
  for (size_t p = where.numPlanes(); p-- > 0;) {
    const BitPlane &plane = where.planes[p];
    Value bits = getPlane(b, reader, plane, length, i);
    if (plane.position > 0)
      bits = arith::ShLIOp::create(b, bits,
                                   b.i32(static_cast<int32_t>(plane.position)));
    result = result ? b.either(bits, result) : bits;
  }
  return result;
}

/// u - zero of value i.
static Value getInteger(ValueBuilder &b, BlockReader &reader,
                        const FormatInfo &format, Value i) {
  if (format.isSigned)
    return reader.getSignedByte(format.planes[0].offset, i);
  Value result = joinPlanes(b, reader, format, format.blockLength, i);
  if (format.levels)
    return createLevel(b, format, result);
  if (format.zero != 0)
    result = b.sub(result, b.i32(format.zero));
  return result;
}

/// The number of `group` among those that begin at `first`, of which the rest
/// of split ones begins at bit `restShift`.
static Value getSplitScale(ValueBuilder &b, BlockReader &reader,
                           const SplitScales &split, int64_t first,
                           uint32_t restShift, Value group) {
  auto constant = [&](uint32_t value) {
    return b.i32(static_cast<int32_t>(value));
  };
  auto bits = [&](Value byte, uint32_t shift, uint32_t count) {
    return getBits(b, byte, constant(shift), static_cast<int32_t>(count));
  };
  // The first `whole` groups have their bits in one byte. The others have their
  // high bits at the top of those bytes and the rest elsewhere.
  Value place = modulo(b, group, split.whole);
  Value byte = reader.getByte(first, place);
  Value rest = reader.getByte(split.rest, place);
  Value isSplit = b.compare(CmpIPredicate::uge, group, b.index(split.whole));
  Value high = arith::ShLIOp::create(
      b, bits(byte, split.bits, split.highBits()), constant(split.lowBits));
  Value joined = b.either(bits(rest, restShift, split.lowBits), high);
  return b.select(isSplit, joined, bits(byte, 0, split.bits));
}

/// Number i of those that lie in planes, `zero` not taken off.
static Value getPlaneScale(ValueBuilder &b, BlockReader &reader,
                           const FormatInfo &format, Value i) {
  uint32_t count = format.numGroups() * (format.hasMinimum() ? 2 : 1);
  return joinPlanes(b, reader, format.planeScales, count, i);
}

/// d of value i, and m where the format has one.
static std::pair<Value, Value> getScales(ValueBuilder &b, BlockReader &reader,
                                         const FormatInfo &format, Value i) {
  Value scale = reader.getHalf(format.scale), minimum;
  if (format.hasMinimum())
    minimum = reader.getHalf(format.minimum);
  switch (format.groupScales) {
  case GroupScales::None:
    break;
  case GroupScales::Bytes:
    scale = multiply(b, scale,
                     reader.getSignedByte(format.groupScaleBytes,
                                          divide(b, i, format.group)));
    break;
  case GroupScales::Split: {
    const SplitScales &split = format.split;
    Value group = divide(b, i, format.group);
    scale = multiply(b, scale,
                     getSplitScale(b, reader, split, split.scales, 0, group));
    minimum = multiply(
        b, minimum,
        getSplitScale(b, reader, split, split.minima, split.lowBits, group));
    break;
  }
  case GroupScales::Planes: {
    Value group = divide(b, i, format.group);
    Value number = getPlaneScale(b, reader, format, group);
    if (int32_t zero = format.planeScales.zero)
      number = b.sub(number, b.i32(zero));
    scale = multiply(b, scale, number);
    if (minimum)
      minimum =
          multiply(b, minimum,
                   getPlaneScale(b, reader, format,
                                 b.add(group, b.index(format.numGroups()))));
    break;
  }
  }
  return {scale, minimum};
}

/// Value i of a block. The order of operations is that of GGUF's reference, so
/// that results are equal bit by bit.
static Value getBlockValue(ValueBuilder &b, BlockReader &reader,
                           const FormatInfo &format, Value i) {
  Value integer = getInteger(b, reader, format, i);
  auto [scale, minimum] = getScales(b, reader, format, i);
  Value value = multiply(b, scale, integer);
  if (!minimum)
    return value;
  if (format.subtractsMinimum)
    return b.sub(value, minimum);
  return b.add(value, minimum);
}

namespace {
struct DecomposeDequantize final : OpRewritePattern<DequantizeOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(DequantizeOp op,
                                PatternRewriter &rewriter) const override {
    ValueBuilder b(op.getLoc(), rewriter);
    const FormatInfo &format = getFormatInfo(op.getFormat());
    int64_t values = format.blockLength;
    auto read = [&](ValueBuilder &b, ValueRange) -> Value {
      Value column = getLoopIndex(b, 1);
      BlockReader reader(b, op.getBlocks(), getLoopIndex(b, 0),
                         divide(b, column, values));
      return getBlockValue(b, reader, format, modulo(b, column, values));
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
