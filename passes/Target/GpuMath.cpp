//===- GpuMath.cpp - Functions of numbers as GPU code ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both GPUs have an instruction for 2^x, of which exp is made, and one for
// log2, which is taken where an approximation will do. Otherwise tanh, erf and
// log are the polynomials that the CPU uses too.
//
//===----------------------------------------------------------------------===//

#include "passes/Target/GpuMath.h"
#include "mlir/Conversion/ArithCommon/AttrToLLVMConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Target/FloatBuilder.h"

using namespace mlir;
using namespace gist;

namespace {
class MathBuilder : public FloatBuilder {
public:
  using FloatBuilder::FloatBuilder;

  Value fma(Value a, Value b, Value c) {
    return math::FmaOp::create(*this, a, b, c);
  }
  /// NaN becomes a bound.
  Value clamp(Value x, double low, double high) {
    Value bounded = arith::MaxNumFOp::create(*this, x, number(low));
    return arith::MinNumFOp::create(*this, bounded, number(high));
  }
  /// The polynomial with these coefficients, highest power first.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value result = number(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      result = fma(result, x, number(coefficient));
    return result;
  }
  Value toInt(Value x) { return arith::FPToSIOp::create(*this, getWords(), x); }
  /// 2^n of an integer from -126 to 127 in `n`, which is an f32.
  Value powerOfTwo(Value n) {
    Value bits = add(toInt(n), word(127));
    return toFloat(op<arith::ShLIOp>(bits, 23u));
  }
  /// `a` where an integer has `bit`, else `b`.
  Value selectBit(Value integer, uint32_t bit, Value a, Value b) {
    Value has = op<arith::AndIOp>(integer, bit);
    return select(compare(arith::CmpIPredicate::ne, has, word(0)), a, b);
  }
};

/// e^x = 2^n 2^f with x log2(e) = n + f. The product is kept to more bits than
/// one f32 has, or results far from 1 would lose what n takes. Whatever is out
/// of range stays in f, where 2^f becomes 0, infinity or NaN.
struct LowerExp final : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    // log2(e) as the sum of an f32 and a small rest.
    constexpr double kLog2e = 1.4426950408889634;
    constexpr float kHigh = kLog2e;
    constexpr double kLow = kLog2e - kHigh;
    MathBuilder b(op.getLoc(), rewriter, op.getType());
    Value x = op.getOperand();
    Value high = b.number(kHigh);
    // The bounds keep 2^n a normal number.
    Value n =
        math::RoundEvenOp::create(b, b.clamp(b.mul(x, high), -126.0, 127.0));
    // The product is formed again inside of the fma, where it is not rounded.
    Value f = b.fma(x, high, arith::NegFOp::create(b, n));
    f = b.fma(x, b.number(kLow), f);
    Value power = math::Exp2Op::create(b, f);
    rewriter.replaceOp(op, b.mul(power, b.powerOfTwo(n)));
    return success();
  }
};

/// sin and cos by the polynomials of the Cephes library on [-pi/4, pi/4]. The
/// multiple n of pi/2 is taken away in three parts, which keeps the angles of
/// any position in a text exact.
template <typename Op> struct LowerSinCos final : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    constexpr double kHalfPi = 1.5707963267948966;
    constexpr float kHigh = kHalfPi;
    constexpr float kMiddle = kHalfPi - kHigh;
    constexpr double kLow = kHalfPi - kHigh - kMiddle;
    constexpr bool kIsCos = std::is_same_v<Op, math::CosOp>;
    MathBuilder b(op.getLoc(), rewriter, op.getType());
    Value x = op.getOperand();
    Value n = math::RoundEvenOp::create(b, b.mul(x, b.number(1.0 / kHalfPi)));
    Value r = b.fma(n, b.number(-kHigh), x);
    r = b.fma(n, b.number(-kMiddle), r);
    r = b.fma(n, b.number(-kLow), r);
    Value z = b.mul(r, r);
    Value sine =
        b.polynomial(z, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
    sine = b.fma(b.mul(sine, z), r, r);
    Value cosine = b.polynomial(z, {2.443315711809948e-5, -1.388731625493765e-3,
                                    4.166664568298827e-2, -0.5, 1.0});
    // The quadrant selects sine or cosine, and the sign.
    Value quadrant = b.toInt(n);
    // cos(x) = sin(x + pi/2): a quadrant further.
    if (kIsCos)
      quadrant = b.add(quadrant, b.word(1));
    Value result = b.selectBit(quadrant, 1, cosine, sine);
    result = b.selectBit(quadrant, 2, arith::NegFOp::create(b, result), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// One op as an intrinsic of LLVM, number by number: the instructions behind
/// them have no vector form.
/// Scalars are put together to a vector again; later passes see no difference.
template <typename Op> struct LowerToIntrinsic : OpRewritePattern<Op> {
  LowerToIntrinsic(MLIRContext *context, StringRef intrinsic,
                   PatternBenefit benefit = 1)
      : OpRewritePattern<Op>(context, benefit), intrinsic(intrinsic) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto call = [&](Value x) -> Value {
      return LLVM::CallIntrinsicOp::create(rewriter, loc, x.getType(),
                                           rewriter.getStringAttr(intrinsic), x)
          .getResult(0);
    };
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type) {
      rewriter.replaceOp(op, call(op.getOperand()));
      return success();
    }
    auto numbers = vector::ToElementsOp::create(rewriter, loc, op.getOperand());
    SmallVector<Value> results =
        llvm::map_to_vector(numbers.getResults(), call);
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, results);
    return success();
  }

  std::string intrinsic;
};

/// The instruction alone, where fast-math flags allow the approximation.
struct LowerLog2 final : LowerToIntrinsic<math::Log2Op> {
  using LowerToIntrinsic::LowerToIntrinsic;

  LogicalResult matchAndRewrite(math::Log2Op op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32() ||
        !bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
      return failure();
    return LowerToIntrinsic::matchAndRewrite(op, rewriter);
  }
};

/// Calls `convert` on pairs of the numbers of `value`, a scalar or flat vector,
/// and gives what that makes, as numbers of `element`.
Value convertPairs(ValueBuilder &b, Value value, Type element,
                   function_ref<Value(Value, Value)> convert) {
  SmallVector<Value> numbers = {value}, results;
  auto type = dyn_cast<VectorType>(value.getType());
  if (type)
    numbers = vector::ToElementsOp::create(b, value).getResults();
  for (size_t i = 0; i < numbers.size(); i += 2) {
    bool isAlone = i + 1 == numbers.size();
    Value pair = convert(numbers[i], numbers[isAlone ? i : i + 1]);
    for (int64_t j = 0; j < (isAlone ? 1 : 2); ++j)
      results.push_back(
          vector::ExtractOp::create(b, pair, ArrayRef<int64_t>{j}));
  }
  return type ? vector::FromElementsOp::create(b, type.clone(element), results)
                    .getResult()
              : results[0];
}

/// sm_90 makes f16 of two f8E4M3FN at once.
struct LowerSmallExtension final : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Type small = getElementTypeOrSelf(op.getIn());
    if (!isa<Float8E4M3FNType>(small))
      return failure();
    ValueBuilder b(op.getLoc(), rewriter);
    Type pair = b.vectorOf(2, b.getI8Type()),
         halves = b.vectorOf(2, b.getF16Type());
    Value bytes = op.getIn();
    auto type = dyn_cast<VectorType>(bytes.getType());
    bytes = arith::BitcastOp::create(
        b, type ? Type(type.clone(b.getI8Type())) : Type(b.getI8Type()), bytes);
    Value result =
        convertPairs(b, bytes, b.getF16Type(), [&](Value x, Value y) -> Value {
          Value both = vector::FromElementsOp::create(b, cast<VectorType>(pair),
                                                      ValueRange{x, y});
          return NVVM::ConvertF8x2ToF16x2Op::create(b, halves, both,
                                                    /*relu=*/false, small);
        });
    rewriter.replaceOp(op,
                       b.convert(result, getElementTypeOrSelf(op.getType())));
    return success();
  }
};

/// And two f8E4M3FN of f32; what is too large becomes the largest.
struct LowerSmallTruncation final : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Type small = getElementTypeOrSelf(op.getType());
    if (!isa<Float8E4M3FNType>(small))
      return failure();
    ValueBuilder b(op.getLoc(), rewriter);
    Type pair = b.vectorOf(2, b.getI8Type());
    Value bytes = convertPairs(
        b, b.toF32(op.getIn()), b.getI8Type(), [&](Value x, Value y) -> Value {
          // The first operand is the upper one.
          return NVVM::ConvertF32x2ToF8x2Op::create(
              b, pair, y, x, NVVM::FPRoundingMode::RN,
              NVVM::SaturationMode::SATFINITE, /*relu=*/false, small);
        });
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), bytes);
    return success();
  }
};

/// The smaller or larger of two numbers; LLVM has these on vectors too.
template <typename Op> struct LowerMinMax final : OpRewritePattern<Op> {
  LowerMinMax(MLIRContext *context, StringRef intrinsic)
      : OpRewritePattern<Op>(context), intrinsic(intrinsic) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (auto type = dyn_cast<VectorType>(op.getType());
        type && type.getRank() != 1)
      return failure();
    auto call = rewriter.replaceOpWithNewOp<LLVM::CallIntrinsicOp>(
        op, op.getType(), rewriter.getStringAttr(intrinsic), op->getOperands());
    call.setFastmathFlags(
        arith::convertArithFastMathFlagsToLLVM(op.getFastmath()));
    return success();
  }

  std::string intrinsic;
};
} // namespace

static constexpr llvm::StringLiteral kPolynomials[] = {
    "math.tanh", "math.erf", "math.log", "math.log2", "math.log1p"};
static constexpr llvm::StringLiteral kOthers[] = {
    "math.exp", "math.exp2", "math.rsqrt", "math.sqrt", "math.sin", "math.cos"};

void gist::populateGpuMathPatterns(RewritePatternSet &patterns,
                                   const GpuInfo &gpu) {
  MLIRContext *context = patterns.getContext();
  bool isAmd = gpu.kind == GpuKind::Amd;
  if (!isAmd)
    patterns.add<LowerSmallExtension, LowerSmallTruncation>(context);
  patterns.add<LowerExp, LowerSinCos<math::SinOp>, LowerSinCos<math::CosOp>>(
      context);
  // The instruction alone: results below 2^-126 are 0.
  patterns.add<LowerToIntrinsic<math::Exp2Op>>(
      context, isAmd ? "llvm.amdgcn.exp2" : "llvm.nvvm.ex2.approx.ftz.f");
  // More benefit than the polynomial and the expansion below, which take every
  // log2 that does not allow the instruction.
  patterns.add<LowerLog2>(context,
                          isAmd ? "llvm.amdgcn.log" : "llvm.nvvm.lg2.approx.f",
                          /*benefit=*/3);
  patterns.add<LowerToIntrinsic<math::AbsFOp>>(context, "llvm.fabs");
  patterns.add<LowerToIntrinsic<math::SqrtOp>>(context, "llvm.sqrt");
  patterns.add<LowerToIntrinsic<math::FloorOp>>(context, "llvm.floor");
  patterns.add<LowerToIntrinsic<math::CeilOp>>(context, "llvm.ceil");
  patterns.add<LowerToIntrinsic<math::TruncOp>>(context, "llvm.trunc");
  patterns.add<LowerToIntrinsic<math::RoundEvenOp>>(context, "llvm.roundeven");
  patterns.add<LowerToIntrinsic<math::RsqrtOp>>(
      context, isAmd ? "llvm.amdgcn.rsq" : "llvm.nvvm.rsqrt.approx.f");
  patterns.add<LowerMinMax<arith::MaxNumFOp>>(context, "llvm.maxnum");
  patterns.add<LowerMinMax<arith::MinNumFOp>>(context, "llvm.minnum");
  patterns.add<LowerMinMax<arith::MaximumFOp>>(context, "llvm.maximum");
  patterns.add<LowerMinMax<arith::MinimumFOp>>(context, "llvm.minimum");
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return llvm::is_contained(kPolynomials, name);
  });
  // f16 and bf16 are computed in f32 and rounded. These patterns come first,
  // hence the benefit.
  populateMathF32ExpansionPatterns(
      patterns,
      [](StringRef name) {
        return llvm::is_contained(kPolynomials, name) ||
               llvm::is_contained(kOthers, name);
      },
      /*benefit=*/2);
  math::populateExpansionPatterns(patterns, {"powf"});
}
