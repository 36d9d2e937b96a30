//===- AddReadEntry.cpp - The pass -gist-add-read-entry -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls of a prompt before its last one are made for the state they leave. The
// copy returns nothing else, so that what only makes logits goes away: the
// head, and all of the last layer but its keys and values.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistRankOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "passes/Kernel/KernelKinds.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Kernel/Unused.h"
#include "passes/Passes.h"
#include "runtime/module/ModuleSpec.h"

namespace gist {
#define GEN_PASS_DEF_ADDREADENTRYPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

namespace {
struct AddReadEntryPass final
    : gist::impl::AddReadEntryPassBase<AddReadEntryPass> {
  using Base::Base;

  void runOnOperation() override {
    auto source = getOperation().lookupSymbol<func::FuncOp>(from);
    if (!source || source.isExternal() || getOperation().lookupSymbol(to))
      return;
    // What follows logits is state; without it a call leaves nothing.
    auto name = source.getNumResults() < 2
                    ? StringAttr()
                    : source.getResultAttrOfType<StringAttr>(0, kNameAttr);
    if (!name || name != kTensorLogits)
      return;
    if (failed(verifyStraightLine(source)))
      return signalPassFailure();
    // Stages hand on rows and logits in one order, which all of them keep.
    if (!source.getOps<HandOnOp>().empty())
      return;
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(source);
    auto copy = cast<func::FuncOp>(builder.clone(*source));
    copy.setName(to);
    copy.front().getTerminator()->eraseOperand(0);
    (void)copy.eraseResult(0);
    eraseUnused(copy.front());
  }
};
} // namespace
