//===- AttendOnRepresentatives.cpp - Attention on selections --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistKernelAttrs.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/Passes.h"
#include "passes/Plan/SelectionRows.h"

namespace gist {
#define GEN_PASS_DEF_ATTENDONREPRESENTATIVESPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// The selection of the layer of `op`, or the last one before it.
/// The attribute marks selections that -gist-insert-selections created; others
/// were in the graph before.
static Value findSelection(AttentionOp op) {
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode())
    if (before->hasAttr(kLayerAttr) &&
        isa<GramSelectOp, CascadeUpdateOp>(before))
      return before->getResult(0);
  return {};
}

static LogicalResult replace(AttentionOp op, int64_t layer,
                             PlanAttendOp choice) {
  Value selection = findSelection(op);
  if (!selection)
    return op.emitOpError("is layer ")
           << layer << ", but neither it nor a layer before it has a selection";
  bool hasWindow = choice.getWindow() && choice.getBlock();
  bool isKeys = choice.getMode() == AttendMode::Keys;
  // A causal query sees recent tokens exactly and older ones as clusters. The
  // window and the block say which are which (dialect/README.md).
  if (isKeys && op.getCausal() && !hasWindow)
    return op.emitOpError("is causal: mode keys needs a window and a block");
  if (isKeys && !op.getCausal() && (choice.getWindow() || choice.getBlock()))
    return op.emitOpError(
        "sees both ways: mode keys takes neither a window nor "
        "a block");
  ImplicitLocOpBuilder b(op.getLoc(), op);
  // Only mode keys has clusters to merge.
  MergeAttr merge;
  if (isKeys)
    merge = MergeAttr::get(op.getContext(), choice.getMerge());
  Value result = AttendOp::create(
      b, op.getQuery(), op.getKey(), op.getValue(), selection, choice.getMode(),
      choice.getLogCount(), op.getCausal(), op.getScaleAttr(),
      choice.getWindowAttr(), choice.getBlockAttr(), merge,
      /*offsets=*/Value());
  op.replaceAllUsesWith(result);
  op.erase();
  return success();
}

namespace {
struct AttendOnRepresentativesPass final
    : gist::impl::AttendOnRepresentativesPassBase<AttendOnRepresentativesPass> {
  using Base::Base;

  void runOnOperation() override {
    PlanOp plan = getPlan(getOperation());
    if (!plan)
      return;
    SmallVector<PlannedAttention> choices = getAttentions(plan);
    if (llvm::none_of(choices, [](auto &layer) { return layer.attend; }))
      return;
    // Every entry of the model has its own copy of the layers.
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || function->hasAttr(kKernelAttr))
        continue;
      FailureOr<SmallVector<AttentionOp>> found = findLayers(function, choices);
      if (failed(found))
        return signalPassFailure();
      for (auto [number, op] : llvm::enumerate(*found))
        if (choices[number].attend &&
            failed(replace(op, number, choices[number].attend)))
          return signalPassFailure();
    }
    dropPart<PlanAttendOp>(plan);
  }
};
} // namespace
