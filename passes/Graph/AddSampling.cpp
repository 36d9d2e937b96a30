//===- AddSampling.cpp - The pass -gist-add-sampling ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lets an entry draw the next token itself, so that a GPU need not send its
// logits to the host. The settings are an argument: they change from call to
// call.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistSamplingOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "passes/Kernel/KernelKinds.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Passes.h"
#include "runtime/module/ModuleSpec.h"

namespace gist {
#define GEN_PASS_DEF_ADDSAMPLINGPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

namespace {
struct AddSamplingPass final
    : gist::impl::AddSamplingPassBase<AddSamplingPass> {
  using Base::Base;

  void runOnOperation() override {
    auto function = getOperation().lookupSymbol<func::FuncOp>(to);
    if (!function || function.isExternal() || function.getNumArguments() == 0 ||
        function.getNumResults() == 0)
      return;
    auto logits = dyn_cast<RankedTensorType>(function.getResultTypes().front());
    auto name = function.getResultAttrOfType<StringAttr>(0, kNameAttr);
    // Rows of a number that is known, in f32, and named as logits. Entries for
    // every token have dynamic rows and are left alone.
    if (!logits || logits.getRank() != 2 || !logits.hasStaticShape() ||
        !logits.getElementType().isF32() || !name || name != kTensorLogits)
      return;

    if (failed(verifyStraightLine(function)))
      return signalPassFailure();
    OpBuilder builder(&getContext());
    auto end = cast<func::ReturnOp>(function.front().getTerminator());
    auto settings = RankedTensorType::get(
        {logits.getDimSize(0), kNumSampleFields}, builder.getI64Type());
    auto named = builder.getDictionaryAttr(builder.getNamedAttr(
        kNameAttr, builder.getStringAttr(kTensorSampling)));
    // In front of the state, behind the tokens.
    (void)function.insertArgument(1, settings, named, function.getLoc());
    builder.setInsertionPoint(end);
    Value next = SampleOp::create(builder, end.getLoc(), end.getOperand(0),
                                  function.getArgument(1));
    auto attributes = builder.getDictionaryAttr(
        builder.getNamedAttr(kNameAttr, builder.getStringAttr(kTensorNext)));
    // Behind everything else: results before it keep their places.
    (void)function.insertResult(function.getNumResults(), next.getType(),
                                attributes);
    end->insertOperands(end->getNumOperands(), next);
  }
};
} // namespace
