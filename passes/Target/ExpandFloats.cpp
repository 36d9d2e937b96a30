//===- ExpandFloats.cpp - The pass -gist-expand-floats --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Old x86-64 CPUs lack instructions that kernels take for granted. LLVM calls a
// library in their place; here they become operations that every CPU has.
// Floats of 8 bits are no type of LLVM at all.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistIntegerOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"
#include "passes/Target/FloatBuilder.h"
#include "passes/Target/Info/ModuleTarget.h"

#include <cmath>

namespace gist {
#define GEN_PASS_DEF_EXPANDFLOATSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

namespace {
// The parts of a number: f16 has 10 bits of fraction and an exponent from 15
// on, f32 has 23 and one from 127 on.
constexpr uint32_t kFractionGap = 23 - 10;
constexpr uint32_t kExponentGap = (127 - 15) << 23;

/// f16 to f32. Every f16 is an f32, so the result is exact.
struct ExpandExtension final : OpRewritePattern<arith::ExtFOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn()).isF16())
      return rewriter.notifyMatchFailure(op, "is not from f16");
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "is not to f32");
    FloatBuilder b(op.getLoc(), rewriter, op.getType());
    Value half =
        arith::BitcastOp::create(b, b.withElement(b.getI16Type()), op.getIn());
    Value bits = arith::ExtUIOp::create(b, b.getWords(), half);
    Value sign = b.op<arith::ShLIOp>(b.op<arith::AndIOp>(bits, 0x8000u), 16u);
    Value size =
        b.op<arith::ShLIOp>(b.op<arith::AndIOp>(bits, 0x7fffu), kFractionGap);
    Value normal = b.op<arith::AddIOp>(size, kExponentGap);
    // Infinities and NaNs keep the largest exponent.
    Value special = b.op<arith::AddIOp>(normal, kExponentGap);
    // Subnormal numbers: add a leading one, then subtract its value.
    Value small = b.op<arith::AddIOp>(normal, 1u << 23);
    small = b.toBits(b.op<arith::SubFOp>(
        b.toFloat(small), b.toFloat(b.word(kExponentGap + (1u << 23)))));
    Value isSpecial = b.compare(arith::CmpIPredicate::uge, size,
                                b.word(0x7c00u << kFractionGap));
    Value isSmall = b.compare(arith::CmpIPredicate::ult, size,
                              b.word(0x0400u << kFractionGap));
    Value all = b.select(isSpecial, special, b.select(isSmall, small, normal));
    rewriter.replaceOp(op, b.toFloat(b.op<arith::OrIOp>(all, sign)));
    return success();
  }
};

/// f32 to f16, rounded to the nearest, to even between two.
struct ExpandTruncation final : OpRewritePattern<arith::TruncFOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn()).isF32())
      return rewriter.notifyMatchFailure(op, "is not from f32");
    if (!getElementTypeOrSelf(op.getType()).isF16())
      return rewriter.notifyMatchFailure(op, "is not to f16");
    FloatBuilder b(op.getLoc(), rewriter, op.getIn().getType());
    Value bits = b.toBits(op.getIn());
    Value sign = b.op<arith::AndIOp>(bits, 0x80000000u);
    Value size = b.op<arith::XOrIOp>(bits, sign);
    // Half of the last place, less one where the last place is even.
    Value isOdd =
        b.op<arith::AndIOp>(b.op<arith::ShRUIOp>(size, kFractionGap), 1u);
    Value normal = b.op<arith::AddIOp>(size, 0xfffu - kExponentGap);
    normal =
        b.op<arith::ShRUIOp>(b.op<arith::AddIOp>(normal, isOdd), kFractionGap);
    // Subnormal results: a sum with this number has its last place where f16
    // ends.
    constexpr uint32_t kMagic = ((127 - 15) + kFractionGap + 1) << 23;
    Value small = b.toBits(
        b.op<arith::AddFOp>(b.toFloat(size), b.toFloat(b.word(kMagic))));
    small = b.op<arith::SubIOp>(small, kMagic);
    // NaNs stay so, with the part of the fraction that fits.
    Value nan = b.op<arith::OrIOp>(
        b.op<arith::AndIOp>(b.op<arith::ShRUIOp>(size, kFractionGap), 0x3ffu),
        0x7e00u);
    Value isNan =
        b.compare(arith::CmpIPredicate::ugt, size, b.word(0x7f800000u));
    Value large = b.select(isNan, nan, b.word(0x7c00u));
    // 2^16 on is too large for f16. What rounds up to it carries into the
    // exponent of infinity in `normal`.
    Value isLarge =
        b.compare(arith::CmpIPredicate::uge, size, b.word((127u + 16) << 23));
    Value isSmall = b.compare(arith::CmpIPredicate::ult, size,
                              b.word(kExponentGap + (1u << 23)));
    Value all = b.select(isLarge, large, b.select(isSmall, small, normal));
    all = b.op<arith::OrIOp>(all, b.op<arith::ShRUIOp>(sign, 16u));
    Value half = arith::TruncIOp::create(b, b.withElement(b.getI16Type()), all);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), half);
    return success();
  }
};

/// How floats of 8 bits with 3 bits of fraction are made: their bias, and what
/// a byte is that has no number.
struct SmallFormat {
  explicit SmallFormat(Type type)
      : isFnuz(isa<Float8E4M3FNUZType>(type)), bias(isFnuz ? 8 : 7),
        largest(static_cast<float>(getLargest(type))) {}

  static constexpr uint32_t kGap = 23 - 3; // bits of fraction less than f32
  bool isFnuz;
  uint32_t bias;
  float largest;
};

/// f8E4M3FN and f8E4M3FNUZ to f32, exactly.
struct ExpandSmallExtension final : OpRewritePattern<arith::ExtFOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Type small = getElementTypeOrSelf(op.getIn());
    if (!isSmallNumber(small) || !getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "is not from 8 bits to f32");
    SmallFormat format(small);
    FloatBuilder b(op.getLoc(), rewriter, op.getType());
    Value byte =
        arith::BitcastOp::create(b, b.withElement(b.getI8Type()), op.getIn());
    Value bits = arith::ExtUIOp::create(b, b.getWords(), byte);
    Value sign = b.op<arith::ShLIOp>(b.op<arith::AndIOp>(bits, 0x80u), 24u);
    Value size = b.op<arith::AndIOp>(bits, 0x7fu);
    // As the bits of an f32 the number is too small by what the biases differ.
    Value number = b.mul(b.toFloat(b.op<arith::ShLIOp>(size, format.kGap)),
                         b.number(std::ldexp(1.0, 127 - format.bias)));
    Value signedBits = b.op<arith::OrIOp>(b.toBits(number), sign);
    Value isNan = format.isFnuz
                      ? b.compare(arith::CmpIPredicate::eq, bits, b.word(0x80))
                      : b.compare(arith::CmpIPredicate::eq, size, b.word(0x7f));
    rewriter.replaceOp(
        op, b.toFloat(b.select(isNan, b.word(0x7fc00000u), signedBits)));
    return success();
  }
};

/// f32 to those, rounded to the nearest, to even between two; what is too large
/// becomes the largest.
struct ExpandSmallTruncation final : OpRewritePattern<arith::TruncFOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Type small = getElementTypeOrSelf(op.getType());
    if (!isSmallNumber(small) || !getElementTypeOrSelf(op.getIn()).isF32())
      return rewriter.notifyMatchFailure(op, "is not from f32 to 8 bits");
    SmallFormat format(small);
    FloatBuilder b(op.getLoc(), rewriter, op.getIn().getType());
    Value bits = b.toBits(op.getIn());
    Value sign =
        b.op<arith::ShRUIOp>(b.op<arith::AndIOp>(bits, 0x80000000u), 24u);
    Value all = b.op<arith::AndIOp>(bits, 0x7fffffffu);
    Value isNan =
        b.compare(arith::CmpIPredicate::ugt, all, b.word(0x7f800000u));
    Value size =
        arith::MinUIOp::create(b, all, b.toBits(b.number(format.largest)));
    // Half of the last place, less one where the last place is even.
    uint32_t exponentGap = (127 - format.bias) << 23;
    Value isOdd =
        b.op<arith::AndIOp>(b.op<arith::ShRUIOp>(size, format.kGap), 1u);
    Value normal =
        b.op<arith::AddIOp>(size, (1u << (format.kGap - 1)) - 1 - exponentGap);
    normal =
        b.op<arith::ShRUIOp>(b.op<arith::AddIOp>(normal, isOdd), format.kGap);
    // Subnormal results: a sum with this number has its last place where those
    // end.
    uint32_t magic = (127 - format.bias + format.kGap + 1) << 23;
    Value tiny = b.toBits(b.add(b.toFloat(size), b.toFloat(b.word(magic))));
    tiny = b.op<arith::SubIOp>(tiny, magic);
    Value isTiny = b.compare(arith::CmpIPredicate::ult, size,
                             b.word(exponentGap + (1u << 23)));
    Value number = b.select(isTiny, tiny, normal);
    Value isZero = b.compare(arith::CmpIPredicate::eq, number, b.word(0));
    // The byte of -0 is the NaN of the format that has one zero.
    if (format.isFnuz)
      sign = b.select(isZero, b.word(0), sign);
    number = b.op<arith::OrIOp>(number, sign);
    Value nan = b.word(format.isFnuz ? 0x80 : 0x7f);
    Value byte = arith::TruncIOp::create(b, b.withElement(b.getI8Type()),
                                         b.select(isNan, nan, number));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), byte);
    return success();
  }
};

/// Without the instruction LLVM would call fma of a library, and kernels have
/// none.
/// A fused multiply-add, rounded twice.
struct ExpandFma final : OpRewritePattern<math::FmaOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    Value product =
        arith::MulFOp::create(rewriter, op.getLoc(), op.getA(), op.getB());
    rewriter.replaceOpWithNewOp<arith::AddFOp>(op, product, op.getC());
    return success();
  }
};
} // namespace

/// The nearest whole number, ties to even: f32 numbers from 2^23 on are all
/// whole.
static Value roundEven(FloatBuilder &b, Value x) {
  Value size = math::AbsFOp::create(b, x);
  Value magic = b.number(8388608.0f);
  Value rounded = b.sub(b.add(size, magic), magic);
  rounded = b.op<math::CopySignOp>(rounded, x);
  // A NaN is not smaller and stays as it is.
  Value isSmall = b.compare(arith::CmpFPredicate::OLT, size, magic);
  return b.select(isSmall, rounded, x);
}

namespace {
struct ExpandRoundEven final : OpRewritePattern<math::RoundEvenOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(math::RoundEvenOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "is not of f32");
    FloatBuilder b(op.getLoc(), rewriter, op.getType());
    rewriter.replaceOp(op, roundEven(b, op.getOperand()));
    return success();
  }
};

/// The nearest whole number that is not larger; if `isUp` not smaller.
template <typename Op, bool isUp>
struct ExpandFloor final : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "is not of f32");
    FloatBuilder b(op.getLoc(), rewriter, op.getType());
    Value x = op.getOperand();
    Value rounded = roundEven(b, x);
    Value isBeyond =
        b.compare(isUp ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OGT,
                  rounded, x);
    Value other = b.add(rounded, b.number(isUp ? 1.0f : -1.0f));
    // -0.5 becomes -0, as the operation has it.
    other = isUp ? b.op<math::CopySignOp>(other, x) : other;
    rewriter.replaceOp(op, b.select(isBeyond, other, rounded));
    return success();
  }
};

struct ExpandFloatsPass final
    : gist::impl::ExpandFloatsPassBase<ExpandFloatsPass> {
  /// Arithmetic on f16 becomes conversions and arithmetic on f32.
  LogicalResult computeInF32() {
    TypeConverter converter;
    arith::populateEmulateUnsupportedFloatsConversions(
        converter, {Float16Type::get(&getContext())},
        Float32Type::get(&getContext()));
    RewritePatternSet patterns(&getContext());
    arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
    ConversionTarget target(getContext());
    arith::populateEmulateUnsupportedFloatsLegality(target, converter);
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }

  void runOnOperation() override {
    RewritePatternSet small(&getContext());
    small.add<ExpandSmallExtension, ExpandSmallTruncation>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(small))))
      return signalPassFailure();
    // Checks only the attribute: kernels of tests may be for any CPU.
    if (!getOperation()->getAttrOfType<CpuTargetAttr>(kTargetAttr))
      return;
    FailureOr<CpuTarget> target = getCpuTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    if (!llvm::Triple(target->triple).isX86())
      return;
    RewritePatternSet patterns(&getContext());
    if (!hasFeature(*target, "f16c")) {
      // First arithmetic goes to f32, then the conversions that this leaves are
      // expanded.
      if (failed(computeInF32()))
        return signalPassFailure();
      patterns.add<ExpandExtension, ExpandTruncation>(&getContext());
    }
    if (!hasFeature(*target, "fma") && !hasFeature(*target, "fma4"))
      patterns.add<ExpandFma>(&getContext());
    if (!hasFeature(*target, "sse4.1"))
      patterns.add<ExpandRoundEven, ExpandFloor<math::FloorOp, false>,
                   ExpandFloor<math::CeilOp, true>>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
