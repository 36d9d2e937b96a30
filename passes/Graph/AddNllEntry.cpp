//===- AddNllEntry.cpp - The pass -gist-add-nll-entry ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loss of each token without its logits. A vocabulary has some 50 000 to
// 150 000 entries; what leaves the device is one number for a row:
//
//   log(sum of exp(logits - largest)) + largest - logit of the target
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "passes/Kernel/KernelKinds.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Passes.h"
#include "runtime/module/ModuleSpec.h"

#include <limits>

namespace gist {
#define GEN_PASS_DEF_ADDNLLENTRYPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

namespace {
/// Writes the loss of rows of logits. Everything is elementwise or a reduction
/// along rows, so that it becomes one kernel that reads the logits row by row.
class LossBuilder {
public:
  LossBuilder(ImplicitLocOpBuilder &b, Value logits, Value targets)
      : b(b), logits(logits), targets(targets), f32(b.getF32Type()),
        rows(tensor::getMixedSize(b, b.getLoc(), logits, 0)) {}

  Value build() {
    AffineMap whole = b.getMultiDimIdentityMap(2);
    AffineMap row = AffineMap::get(2, 0, b.getAffineDimExpr(0));
    // exp(x - largest) does not overflow, and the sum is at least one.
    Value largest = reduce<arith::MaximumFOp>(
        {logits}, {whole}, -std::numeric_limits<float>::infinity(),
        [](ImplicitLocOpBuilder &, ValueRange in) -> Value { return in[0]; });
    Value sum = reduce<arith::AddFOp>(
        {logits, largest}, {whole, row}, 0,
        [](ImplicitLocOpBuilder &b, ValueRange in) -> Value {
          Value below = arith::SubFOp::create(b, in[0], in[1]);
          return math::ExpOp::create(b, below);
        });
    // A sum in which only one term is not zero: unlike a gather, it stays a
    // reduction along rows. A target that is not in the vocabulary adds
    // nothing, and nothing is read outside of the row.
    Value chosen = reduce<arith::AddFOp>(
        {logits, targets}, {whole, row}, 0,
        [](ImplicitLocOpBuilder &b, ValueRange in) -> Value {
          Value column = arith::IndexCastOp::create(
              b, in[1].getType(), linalg::IndexOp::create(b, 1));
          Value isTarget =
              arith::CmpIOp::create(b, arith::CmpIPredicate::eq, column, in[1]);
          Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
          return arith::SelectOp::create(b, isTarget, in[0], zero);
        });
    // The largest logit is added back after the logarithm, in which it would
    // have been a factor.
    return generic({sum, largest, chosen},
                   SmallVector<AffineMap>(3, b.getMultiDimIdentityMap(1)),
                   empty(), utils::IteratorType::parallel,
                   [](ImplicitLocOpBuilder &b, ValueRange in) -> Value {
                     Value log = math::LogOp::create(b, in[0]);
                     Value total = arith::AddFOp::create(b, log, in[1]);
                     return arith::SubFOp::create(b, total, in[2]);
                   });
  }

private:
  using Body = llvm::function_ref<Value(ImplicitLocOpBuilder &, ValueRange)>;

  /// One number for a row: the destination of each of the four ops.
  Value empty() {
    return tensor::EmptyOp::create(b, SmallVector<OpFoldResult>{rows}, f32);
  }

  /// One number per row: elementwise over rows, or a reduction along them, as
  /// `last` says.
  Value generic(ValueRange inputs, SmallVector<AffineMap> maps, Value init,
                utils::IteratorType last, Body body) {
    unsigned loops = maps.front().getNumDims();
    SmallVector<utils::IteratorType> kinds(loops,
                                           utils::IteratorType::parallel);
    kinds.back() = last;
    // The result has one number per row in any case.
    maps.push_back(AffineMap::get(loops, 0, b.getAffineDimExpr(0)));
    return linalg::GenericOp::create(
               b, TypeRange(init.getType()), inputs, init, maps, kinds,
               [&](OpBuilder &inner, Location location, ValueRange arguments) {
                 ImplicitLocOpBuilder nested(location, inner);
                 linalg::YieldOp::create(nested, body(nested, arguments));
               })
        .getResult(0);
  }

  /// Combines what `body` makes of each column.
  template <typename Combiner>
  Value reduce(ValueRange inputs, SmallVector<AffineMap> maps, float start,
               Body body) {
    Value neutral = arith::ConstantOp::create(b, b.getF32FloatAttr(start));
    Value init = linalg::FillOp::create(b, neutral, empty()).getResult(0);
    // The accumulator is the last argument of the body, behind the inputs.
    return generic(inputs, std::move(maps), init,
                   utils::IteratorType::reduction,
                   [&](ImplicitLocOpBuilder &b, ValueRange in) -> Value {
                     Value next = body(b, in);
                     return Combiner::create(b, next, in.back());
                   });
  }

  ImplicitLocOpBuilder &b;
  Value logits, targets;
  Type f32;
  OpFoldResult rows;
};

struct AddNllEntryPass final
    : gist::impl::AddNllEntryPassBase<AddNllEntryPass> {
  using Base::Base;

  void runOnOperation() override {
    auto score = getOperation().lookupSymbol<func::FuncOp>(from);
    // The pass runs on every model; one without these logits is left alone.
    if (!score || score.isExternal() || getOperation().lookupSymbol(to) ||
        score.getNumArguments() == 0 || score.getNumResults() == 0)
      return;
    auto tokens = dyn_cast<RankedTensorType>(score.getArgumentTypes().front());
    auto logits = dyn_cast<RankedTensorType>(score.getResultTypes().front());
    if (!tokens || tokens.getRank() != 1 ||
        !tokens.getElementType().isInteger(32) || !logits ||
        logits.getRank() != 2 || !logits.getElementType().isF32())
      return;

    if (failed(verifyStraightLine(score)))
      return signalPassFailure();
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(score);
    auto copy = cast<func::FuncOp>(builder.clone(*score));
    copy.setName(to);
    auto named = builder.getDictionaryAttr(
        builder.getNamedAttr(kNameAttr, builder.getStringAttr(kTensorTargets)));
    // After the tokens, so that callers pass both side by side.
    (void)copy.insertArgument(1, tokens, named, copy.getLoc());
    auto end = cast<func::ReturnOp>(copy.getBody().front().getTerminator());
    ImplicitLocOpBuilder b(end.getLoc(), end);
    Value loss = LossBuilder(b, end.getOperand(0), copy.getArgument(1)).build();
    // Only the first result changes. What follows it is state, which the copy
    // has to return as its source does.
    end->setOperand(0, loss);
    copy.setFunctionType(builder.getFunctionType(copy.getArgumentTypes(),
                                                 end->getOperandTypes()));
    copy.setResultAttr(0, kNameAttr, builder.getStringAttr(kTensorNll));
  }
};
} // namespace
