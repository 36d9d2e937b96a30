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
  SampleDefinition(ValueBuilder &b, SampleOp op)
      : b(b), logits(op.getLogits()), settings(op.getSettings()),
        rows(getSize(b, logits, 0)), columns(getSize(b, logits, 1)) {}

  // The steps of the op's description, in its order: weights, K, P, C, result.
  Value build() {
    best = createLoops(
        b, "tv->t", logits,
        createFilled(b, rows, b.f32(-std::numeric_limits<float>::infinity())),
        [](ValueBuilder &b, ValueRange args) -> Value {
          return arith::MaxNumFOp::create(b, args[0], args[1]);
        });
    // Fields lie along the second dimension of the settings.
    Value scale = takeSlice(b, settings, 1, getField(SampleField::Scale));
    weights = ofTokens("tv,t,t->tv", {logits, best, scale},
                       [](ValueBuilder &b, ValueRange args) -> Value {
                         Value bits = arith::TruncIOp::create(b, b.getI32Type(),
                                                              args[2]);
                         return createSampleWeight(
                             b, args[0], args[1],
                             arith::BitcastOp::create(b, b.getF32Type(), bits));
                       });

    // The number of tokens before a token, as a sum of ones.
    Value one = createLoops(
        b, "tv->tv", weights, createEmpty64(),
        [&](ValueBuilder &b, ValueRange) { return createI64(b, 1); });
    // K of the op's description: the TopK tokens that come first.
    Value first =
        keepWhere(weights, sumBefore(one),
                  takeSlice(b, settings, 1, getField(SampleField::TopK)));
    // At least 1: some token is always chosen.
    Value enough = ofRows(
        "t,t->t",
        {sum(first), takeSlice(b, settings, 1, getField(SampleField::TopP))},
        [](ValueBuilder &b, ValueRange args) -> Value {
          return b.max(createI64(b, 1), createShare(b, args[0], args[1]));
        });
    // P: a token stays while what is before it is not enough.
    Value chosen = keepWhere(first, sumBefore(weights), enough);
    chosen = ofTokens(
        "tv,t->tv",
        {chosen, takeSlice(b, settings, 1, getField(SampleField::Least))},
        [](ValueBuilder &b, ValueRange args) -> Value {
          Value isEnough = b.compare(CmpIPredicate::sge, args[0], args[1]);
          return b.select(isEnough, args[0], createI64(b, 0));
        });
    Value drawn = ofRows(
        "t,t->t",
        {sum(chosen), takeSlice(b, settings, 1, getField(SampleField::Random))},
        [](ValueBuilder &b, ValueRange args) -> Value {
          return createShare(b, args[0], args[1]);
        });
    return findFirst(chosen, drawn);
  }

private:
  static Value createI64(ValueBuilder &b, int64_t value) {
    return arith::ConstantIntOp::create(b, b.getI64Type(), value);
  }
  Value getField(SampleField field) {
    return b.index(static_cast<int64_t>(field));
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
                       [](ValueBuilder &b, ValueRange args) -> Value {
                         return b.add(args[0], args[1]);
                       });
  }

  /// For each token the sum of `values` of those that come before it.
  Value sumBefore(Value values) {
    return createLoops(
        b, "tv,tw,tw->tv", {logits, logits, values},
        createFilled(b, {rows, columns}, createI64(b, 0)),
        [](ValueBuilder &b, ValueRange args) -> Value {
          Value isLarger = b.compare(CmpFPredicate::OGT, args[1], args[0]);
          // Of equal logits the smaller number comes first, so the order is
          // total.
          Value isEqual = b.compare(CmpFPredicate::OEQ, args[1], args[0]);
          Value isEarlier = b.compare(CmpIPredicate::slt, getLoopIndex(b, 2),
                                      getLoopIndex(b, 1));
          Value isBefore = b.either(isLarger, b.allOf({isEqual, isEarlier}));
          Value term = b.select(isBefore, args[2], createI64(b, 0));
          return b.add(args[3], term);
        });
  }

  /// `values` where `numbers` are below the limit of their row, else 0.
  Value keepWhere(Value values, Value numbers, Value limits) {
    return ofTokens("tv,tv,t->tv", {values, numbers, limits},
                    [](ValueBuilder &b, ValueRange args) -> Value {
                      Value isBelow =
                          b.compare(CmpIPredicate::slt, args[1], args[2]);
                      return b.select(isBelow, args[0], createI64(b, 0));
                    });
  }

  /// The first token up to which the weights add up to more than `drawn`.
  Value findFirst(Value chosen, Value drawn) {
    Value upTo =
        createLoops(b, "tv,tw->tv", {chosen, chosen},
                    createFilled(b, {rows, columns}, createI64(b, 0)),
                    [](ValueBuilder &b, ValueRange args) -> Value {
                      Value isUpTo =
                          b.compare(CmpIPredicate::sle, getLoopIndex(b, 2),
                                    getLoopIndex(b, 1));
                      Value term = b.select(isUpTo, args[1], createI64(b, 0));
                      return b.add(args[2], term);
                    });
    // Larger than any token, so that the minimum finds the first that
    // satisfies.
    constexpr int32_t kNone = std::numeric_limits<int32_t>::max();
    Value first = createLoops(
        b, "tv,t->t", {upTo, drawn}, createFilled(b, rows, b.i32(kNone)),
        [](ValueBuilder &b, ValueRange args) -> Value {
          Value isAbove = b.compare(CmpIPredicate::sgt, args[0], args[1]);
          Value number =
              b.select(isAbove, b.toI32(getLoopIndex(b, 1)), b.i32(kNone));
          return b.min(number, args[2]);
        });
    // A row without a number above -infinity gives -1.
    return createLoops(
        b, "t,t->t", {first, best}, createEmpty(b, rows, b.getI32Type()),
        [](ValueBuilder &b, ValueRange args) -> Value {
          Value isNumber =
              b.compare(CmpFPredicate::OGT, args[1],
                        b.f32(-std::numeric_limits<float>::infinity()));
          return b.select(isNumber, args[0], b.i32(-1));
        });
  }

  ValueBuilder &b;
  Value logits, settings;
  OpFoldResult rows, columns;
  Value best, weights;
};

struct DecomposeSample final : OpRewritePattern<SampleOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(SampleOp op,
                                PatternRewriter &rewriter) const override {
    ValueBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, SampleDefinition(b, op).build());
    return success();
  }
};
} // namespace

void gist::populateDecomposeSamplingPatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeSample>(patterns.getContext());
}
