//===- GatedProjectionOp.cpp - gated_projection ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gist.gated_projection: verifier and canonical forms.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "dialect/Verify.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace gist;

LogicalResult GatedProjectionOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  RankedTensorType input =
      getTensorType(location, adaptor.getInput(), 2, 2, "input");
  if (!input)
    return failure();
  // Each projection has the input's element type; the level is a byte for each
  // row.
  for (Value weight : adaptor.getWeights()) {
    RankedTensorType type = getTensorType(location, weight, 2, 2, "a weight");
    if (!type)
      return failure();
    types.push_back(input.clone({input.getDimSize(0), type.getDimSize(0)}));
  }
  types.push_back(
      RankedTensorType::get(input.getDimSize(0), IntegerType::get(context, 8)));
  return success();
}

/// Checks that the shape of `value`, named `name` in errors, can be `expected`.
/// The ranks agree: the op's types say them.
static LogicalResult verifyShape(Operation *op, StringRef name, Value value,
                                 ArrayRef<int64_t> expected) {
  auto type = cast<RankedTensorType>(value.getType());
  if (llvm::all_of_zip(type.getShape(), expected, canBeEqual))
    return success();
  InFlightDiagnostic error = op->emitOpError("expects ") << name << " of ";
  llvm::interleave(
      expected, [&](int64_t size) { error << printSize(size); },
      [&] { error << " x "; });
  return error << ", got " << type;
}

LogicalResult GatedProjectionOp::verify() {
  int64_t d = getInput().getType().getDimSize(1);
  RankedTensorType basis = getBasis().getType();
  if (!canBeEqual(d, basis.getDimSize(0))) // (C1)
    return emitOpError("expects as many basis rows as input columns, ")
           << d << ", got " << basis.getDimSize(0);
  int64_t k = basis.getDimSize(1);
  if (!ShapedType::isDynamic(k) && !ShapedType::isDynamic(d) && k > d) // (C2)
    return emitOpError("expects a basis of at most ")
           << d << " columns, got " << k;

  size_t count = getWeights().size();
  // Biases and low weights are lists beside the weights: all or none.
  auto isNoneOrAll = [&](size_t size) { return size == 0 || size == count; };
  if (count == 0 || getImages().size() != count ||
      !isNoneOrAll(getBiases().size()) || !isNoneOrAll(getLow().size())) // (C3)
    return emitOpError("expects at least one weight, an image for each, and "
                       "biases and low weights for all or none, got ")
           << count << ", " << getImages().size() << ", " << getBiases().size()
           << " and " << getLow().size();

  for (size_t i = 0; i < count; ++i) { // (C4)
    int64_t m = cast<RankedTensorType>(getWeights()[i].getType()).getDimSize(0);
    if (failed(verifyShape(*this, "a weight", getWeights()[i], {m, d})) ||
        failed(verifyShape(*this, "an image", getImages()[i], {m, k})))
      return failure();
    if (!getBiases().empty() &&
        failed(verifyShape(*this, "a bias", getBiases()[i], {m})))
      return failure();
    if (!getLow().empty() &&
        failed(verifyShape(*this, "a low weight", getLow()[i], {m, d})))
      return failure();
  }

  // epsilon = 0 opens every gate, which ProjectDensely uses.
  double epsilon = toDouble(getEpsilon());
  if (!std::isfinite(epsilon) || epsilon < 0) // (C5)
    return emitOpError("expects a finite epsilon >= 0, got ") << epsilon;
  if (getEpsilonLow().has_value() != !getLow().empty()) // (C6)
    return emitOpError("expects epsilon_low and low weights together");
  if (getEpsilonLow()) { // (C6)
    double low = toDouble(*getEpsilonLow());
    if (!(low >= 0 && low < epsilon))
      return emitOpError("expects 0 <= epsilon_low < epsilon, got ")
             << low << " and " << epsilon;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Canonical forms
//===----------------------------------------------------------------------===//

/// The dense projection input * transpose(weight) + bias, accumulated in f32
/// and rounded once to `type`.
static Value createDenseProjection(OpBuilder &builder, Location location,
                                   Value input, Value weight, Value bias,
                                   RankedTensorType type) {
  SmallVector<OpFoldResult> sizes = {
      tensor::getMixedSize(builder, location, input, 0),
      tensor::getMixedSize(builder, location, weight, 0)};
  Type f32 = builder.getF32Type();
  Value zero =
      arith::ConstantOp::create(builder, location, builder.getF32FloatAttr(0));
  Value empty = tensor::EmptyOp::create(builder, location, sizes, f32);
  Value filled =
      linalg::FillOp::create(builder, location, zero, empty).getResult(0);
  // A named op, which later passes know as a linear layer.
  Value sum = linalg::MatmulTransposeBOp::create(
                  builder, location, ValueRange{input, weight}, filled)
                  ->getResult(0);
  // f32 needs no rounding, and without a bias nothing is left to do.
  bool isRounded = !type.getElementType().isF32();
  if (!bias && !isRounded)
    return sum;

  AffineMap identity = builder.getMultiDimIdentityMap(2);
  AffineMap column = AffineMap::get(2, 0, builder.getAffineDimExpr(1));
  SmallVector<Value> inputs = {sum};
  SmallVector<AffineMap> maps = {identity};
  if (bias) {
    inputs.push_back(bias);
    maps.push_back(column);
  }
  maps.push_back(identity);
  Value output =
      tensor::EmptyOp::create(builder, location, sizes, type.getElementType());
  SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
  auto body = [&](OpBuilder &nested, Location at, ValueRange args) {
    Value value = args[0];
    if (bias) {
      Value addend = args[1];
      if (!addend.getType().isF32())
        addend = arith::ExtFOp::create(nested, at, f32, addend);
      value = arith::AddFOp::create(nested, at, value, addend);
    }
    if (isRounded)
      value = arith::TruncFOp::create(nested, at, type.getElementType(), value);
    linalg::YieldOp::create(nested, at, value);
  };
  return linalg::GenericOp::create(builder, location, type, inputs, output,
                                   maps, loops, body)
      .getResult(0);
}

namespace {
/// With epsilon = 0 the residual is always added, and with k = d there is none:
/// either way y = W x + bias, for less work without a subspace.
struct ProjectDensely final : OpRewritePattern<GatedProjectionOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(GatedProjectionOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType basis = op.getBasis().getType();
    bool isComplete =
        basis.hasStaticShape() && basis.getDimSize(0) == basis.getDimSize(1);
    // k = d: the basis spans everything, and the residual is zero but for
    // rounding.
    if (!op.getEpsilon().isZero() && !isComplete)
      return rewriter.notifyMatchFailure(op, "the gate may close");
    // The level would have to be computed all the same.
    if (!op.getLevel().use_empty())
      return rewriter.notifyMatchFailure(op, "the gate level is read");

    for (auto [i, output] : llvm::enumerate(op.getOutputs())) {
      Value bias = op.getBiases().empty() ? Value() : op.getBiases()[i];
      rewriter.replaceAllUsesWith(
          output, createDenseProjection(
                      rewriter, op.getLoc(), op.getInput(), op.getWeights()[i],
                      bias, cast<RankedTensorType>(output.getType())));
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// A projection whose result has no uses is not computed. One projection stays
/// when only the level is read, because the op needs at least one.
struct DropUnusedProjections final : OpRewritePattern<GatedProjectionOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(GatedProjectionOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<unsigned> used;
    for (auto [i, output] : llvm::enumerate(op.getOutputs()))
      if (!output.use_empty())
        used.push_back(i);
    if (used.empty())
      used.push_back(0);
    if (used.size() == op.getOutputs().size())
      return rewriter.notifyMatchFailure(op, "every projection is read");

    auto keepUsed = [&](OperandRange values) {
      SmallVector<Value> kept;
      for (unsigned i : used)
        if (i < values.size())
          kept.push_back(values[i]);
      return kept;
    };
    auto smaller = GatedProjectionOp::create(
        rewriter, op.getLoc(), op.getInput(), op.getBasis(),
        keepUsed(op.getWeights()), keepUsed(op.getImages()),
        keepUsed(op.getBiases()), keepUsed(op.getLow()), op.getEpsilonAttr(),
        op.getEpsilonLowAttr());
    for (auto [position, i] : llvm::enumerate(used))
      rewriter.replaceAllUsesWith(op.getOutputs()[i],
                                  smaller.getOutputs()[position]);
    rewriter.replaceAllUsesWith(op.getLevel(), smaller.getLevel());
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void GatedProjectionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                    MLIRContext *context) {
  patterns.add<ProjectDensely, DropUnusedProjections>(context);
}
