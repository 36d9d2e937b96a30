//===- SamplingOps.cpp - From logits to tokens ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gist.sample: verifier, and the arithmetic that the definition and the kernels
// share, so that all devices draw the same token.
//
//===----------------------------------------------------------------------===//

#include "dialect/DecomposeUtils.h"
#include "dialect/GistSamplingOps.h"
#include "dialect/Verify.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace gist;

#define GET_OP_CLASSES
#include "dialect/GistSamplingOps.cpp.inc"

LogicalResult SampleOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  RankedTensorType logits =
      getTensorType(location, adaptor.getLogits(), 2, 2, "logits");
  if (!logits)
    return failure();
  types.push_back(RankedTensorType::get(logits.getDimSize(0),
                                        IntegerType::get(context, 32)));
  return success();
}

LogicalResult SampleOp::verify() {
  RankedTensorType logits = getLogits().getType();
  RankedTensorType settings = getSettings().getType();
  if (!canBeEqual(logits.getDimSize(0), settings.getDimSize(0)) ||
      settings.getDimSize(1) != kNumSampleFields)
    return emitOpError("expects ")
           << kNumSampleFields << " settings for each row of " << logits
           << ", got " << settings;
  // Weights of 2^30 then add up to at most 2^54 in i64.
  constexpr int64_t kMaxTokens = int64_t(1) << 24;
  int64_t tokens = logits.getDimSize(1);
  if (ShapedType::isDynamic(tokens) || tokens < 1 || tokens > kMaxTokens)
    return emitOpError("expects a static number of tokens from 1 to ")
           << kMaxTokens << ", got " << printSize(tokens);
  return success();
}

//===----------------------------------------------------------------------===//
// What both the definition and kernels compute
//===----------------------------------------------------------------------===//

static Value createI64(ValueBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, b.getI64Type(), value);
}

/// In integers after one rounding to units of 2^-25, because floats would add
/// up to other sums in another order.
Value gist::createSampleWeight(ValueBuilder &b, Value logit, Value best,
                               Value scale) {
  // 2^(-f) on [0, 1], of degree 6, through 1 at 0; in units of 2^-30. The same
  // numbers are in runtime/session/Sampler.cpp.
  constexpr int64_t kPowers[] = {1073741824, -744261112, 257940802, -59591844,
                                 10304738,   -1386885,   123394};
  constexpr int64_t kFractionBits = 25;
  auto constant = [&](int64_t value) { return createI64(b, value); };
  auto lessThan = [&](Value x, Value y) {
    return b.compare(arith::CmpFPredicate::OLT, x, y);
  };
  Value distance = arith::MulFOp::create(
      b, arith::SubFOp::create(b, best, logit).getResult(), scale);
  // Below 2^-30 of the largest a weight is 0. NaN fails the comparison too.
  Value isNear = lessThan(distance, b.f32(30));
  // A power of two: nothing is rounded.
  Value units = arith::MulFOp::create(
      b, arith::SelectOp::create(b, isNear, distance, b.f32(0)),
      b.f32(1 << kFractionBits));
  Value number = arith::ExtSIOp::create(
      b, b.getI64Type(), arith::FPToSIOp::create(b, b.getI32Type(), units));
  Value shift = arith::ShRSIOp::create(b, number, constant(kFractionBits));
  Value fraction = arith::AndIOp::create(
      b, number, constant((int64_t(1) << kFractionBits) - 1));
  Value power = constant(kPowers[std::size(kPowers) - 1]);
  // Horner's rule, scaled back after each product.
  for (int64_t coefficient : llvm::reverse(ArrayRef(kPowers).drop_back())) {
    Value product = arith::MulIOp::create(b, power, fraction);
    power = arith::AddIOp::create(
        b, constant(coefficient),
        arith::ShRSIOp::create(b, product, constant(kFractionBits)));
  }
  Value weight = arith::SelectOp::create(
      b, isNear, arith::ShRSIOp::create(b, power, shift), constant(0));
  // The largest has its weight even where it is infinite, and infinity -
  // infinity is NaN.
  Value isBest = b.compare(arith::CmpFPredicate::OEQ, logit, best);
  return arith::SelectOp::create(b, isBest, constant(kPowers[0]), weight);
}

/// In two halves of 32 bits, because the whole product would overflow.
Value gist::createShare(ValueBuilder &b, Value total, Value share) {
  Value half = createI64(b, 32);
  Value low =
      arith::AndIOp::create(b, total, createI64(b, (int64_t(1) << 32) - 1));
  Value ofHigh = arith::MulIOp::create(
      b, arith::ShRUIOp::create(b, total, half).getResult(), share);
  Value ofLow = arith::ShRUIOp::create(
      b, arith::MulIOp::create(b, low, share).getResult(), half);
  return arith::AddIOp::create(b, ofHigh, ofLow);
}
