//===- DecomposeSampling.cpp - Sampling, defined --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every token is compared with every other: slow, but the same steps as the
// op's description.
//
//===----------------------------------------------------------------------===//

#include "dialect/Decompose.h"
#include "dialect/DecomposeUtils.h"
#include "dialect/GistSamplingOps.h"
#include "mlir/IR/PatternMatch.h"

#include <limits>

using namespace mlir;
using namespace gist;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace {
/// Numbers of rows (t) and of tokens of rows (v), in i64.
class SampleDefinition {
public:
  SampleDefinition(ImplicitLocOpBuilder &b, SampleOp op)
      : b(b), logits(op.getLogits()), settings(op.getSettings()),
        rows(getSize(b, logits, 0)), columns(getSize(b, logits, 1)) {}

  // The steps of the op's description, in its order: weights, K, P, C, result.
  Value build() {
    best = createLoops(
        b, "tv->t", logits,
        createFilled(b, rows,
                     createF32(b, -std::numeric_limits<float>::infinity())),
        [](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
          return arith::MaxNumFOp::create(b, args[0], args[1]);
        });
    // Fields lie along the second dimension of the settings.
    Value scale = takeSlice(b, settings, 1, getField(SampleField::Scale));
    weights = ofTokens("tv,t,t->tv", {logits, best, scale},
                       [](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
                         Value bits = arith::TruncIOp::create(b, b.getI32Type(),
                                                              args[2]);
                         return createSampleWeight(
                             b, args[0], args[1],
                             arith::BitcastOp::create(b, b.getF32Type(), bits));
                       });

    // The number of tokens before a token, as a sum of ones.
    Value one = createLoops(
        b, "tv->tv", weights, createEmpty64(),
        [&](ImplicitLocOpBuilder &b, ValueRange) { return createI64(b, 1); });
    // K of the op's description: the TopK tokens that come first.
    Value first =
        keepWhere(weights, sumBefore(one),
                  takeSlice(b, settings, 1, getField(SampleField::TopK)));
    // At least 1: some token is always chosen.
    Value enough = ofRows(
        "t,t->t",
        {sum(first), takeSlice(b, settings, 1, getField(SampleField::TopP))},
        [](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
          return arith::MaxSIOp::create(b, createI64(b, 1),
                                        createShare(b, args[0], args[1]));
        });
    // P: a token stays while what is before it is not enough.
    Value chosen = keepWhere(first, sumBefore(weights), enough);
    chosen = ofTokens(
        "tv,t->tv",
        {chosen, takeSlice(b, settings, 1, getField(SampleField::Least))},
        [](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
          Value isEnough = compare(b, CmpIPredicate::sge, args[0], args[1]);
          return arith::SelectOp::create(b, isEnough, args[0], createI64(b, 0));
        });
    Value drawn = ofRows(
        "t,t->t",
        {sum(chosen), takeSlice(b, settings, 1, getField(SampleField::Random))},
        [](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
          return createShare(b, args[0], args[1]);
        });
    return findFirst(chosen, drawn);
  }

private:
  static Value createI64(ImplicitLocOpBuilder &b, int64_t value) {
    return arith::ConstantIntOp::create(b, b.getI64Type(), value);
  }
  Value getField(SampleField field) {
    return createIndex(b, static_cast<int64_t>(field));
  }
  Value createEmpty64() {
    return createEmpty(b, {rows, columns}, b.getI64Type());
  }
  Value ofTokens(StringRef dims, ValueRange inputs, ValueBody body) {
    return createLoops(b, dims, inputs, createEmpty64(), body);
  }
  Value ofRows(StringRef dims, ValueRange inputs, ValueBody body) {
    return createLoops(b, dims, inputs, createEmpty(b, rows, b.getI64Type()),
                       body);
  }
  /// In 64 bits: 2^24 tokens of 2^30 each fit.
  Value sum(Value values) {
    return createLoops(b, "tv->t", values,
                       createFilled(b, rows, createI64(b, 0)),
                       [](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
                         return arith::AddIOp::create(b, args[0], args[1]);
                       });
  }

  /// For each token the sum of `values` of those that come before it.
  Value sumBefore(Value values) {
    return createLoops(
        b, "tv,tw,tw->tv", {logits, logits, values},
        createFilled(b, {rows, columns}, createI64(b, 0)),
        [](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
          Value isLarger = compare(b, CmpFPredicate::OGT, args[1], args[0]);
          // Of equal logits the smaller number comes first, so the order is
          // total.
          Value isEqual = compare(b, CmpFPredicate::OEQ, args[1], args[0]);
          Value isEarlier = compare(b, CmpIPredicate::slt, getLoopIndex(b, 2),
                                    getLoopIndex(b, 1));
          Value isBefore =
              arith::OrIOp::create(b, isLarger, allOf(b, {isEqual, isEarlier}));
          Value term =
              arith::SelectOp::create(b, isBefore, args[2], createI64(b, 0));
          return arith::AddIOp::create(b, args[3], term);
        });
  }

  /// `values` where `numbers` are below the limit of their row, else 0.
  Value keepWhere(Value values, Value numbers, Value limits) {
    return ofTokens(
        "tv,tv,t->tv", {values, numbers, limits},
        [](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
          Value isBelow = compare(b, CmpIPredicate::slt, args[1], args[2]);
          return arith::SelectOp::create(b, isBelow, args[0], createI64(b, 0));
        });
  }

  /// The first token up to which the weights add up to more than `drawn`.
  Value findFirst(Value chosen, Value drawn) {
    Value upTo = createLoops(
        b, "tv,tw->tv", {chosen, chosen},
        createFilled(b, {rows, columns}, createI64(b, 0)),
        [](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
          Value isUpTo = compare(b, CmpIPredicate::sle, getLoopIndex(b, 2),
                                 getLoopIndex(b, 1));
          Value term =
              arith::SelectOp::create(b, isUpTo, args[1], createI64(b, 0));
          return arith::AddIOp::create(b, args[2], term);
        });
    // Larger than any token, so that the minimum finds the first that
    // satisfies.
    constexpr int32_t kNone = std::numeric_limits<int32_t>::max();
    Value first = createLoops(
        b, "tv,t->t", {upTo, drawn}, createFilled(b, rows, createI32(b, kNone)),
        [](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
          Value isAbove = compare(b, CmpIPredicate::sgt, args[0], args[1]);
          Value number = arith::SelectOp::create(
              b, isAbove, toI32(b, getLoopIndex(b, 1)), createI32(b, kNone));
          return arith::MinSIOp::create(b, number, args[2]);
        });
    // A row without a number above -infinity gives -1.
    return createLoops(
        b, "t,t->t", {first, best}, createEmpty(b, rows, b.getI32Type()),
        [](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
          Value isNumber =
              compare(b, CmpFPredicate::OGT, args[1],
                      createF32(b, -std::numeric_limits<float>::infinity()));
          return arith::SelectOp::create(b, isNumber, args[0],
                                         createI32(b, -1));
        });
  }

  ImplicitLocOpBuilder &b;
  Value logits, settings;
  OpFoldResult rows, columns;
  Value best, weights;
};

struct DecomposeSample final : OpRewritePattern<SampleOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(SampleOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, SampleDefinition(b, op).build());
    return success();
  }
};
} // namespace

void gist::populateDecomposeSamplingPatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeSample>(patterns.getContext());
}
