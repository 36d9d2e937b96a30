//===- BatchSelections.cpp - The pass -gist-batch-selections --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The definition of selections (dialect/DecomposeSelection.cpp) with the step
// that visits tokens in order as a dispatch of its own. The number of kept
// tokens is written and read on the device.
//
//===----------------------------------------------------------------------===//

#include "dialect/Decompose.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Iree/BatchedHeads.h"
#include "passes/Iree/Dispatch.h"
#include "passes/Iree/Words.h"
#include "passes/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace gist {
#define GEN_PASS_DEF_BATCHSELECTIONSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// True unless the batch is ragged or nothing is computed.
static bool isBatched(Operation *op) {
  if (auto select = dyn_cast<GramSelectOp>(op))
    return !select.getOffsets();
  auto update = dyn_cast<CascadeUpdateOp>(op);
  return update && !update.getOffsets() &&
         update.getRule() != CascadeRule::Inherit;
}

namespace {
struct BatchSelectionsPass final
    : gist::impl::BatchSelectionsPassBase<BatchSelectionsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops =
        findOutsideKernels(getOperation(), isBatched);
    // Dispatches are IREE's.
    if (!ops.empty() && failed(iree::verifyOpsAllowed(getOperation())))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      rewriter.setInsertionPoint(op);
      ValueBuilder b(op->getLoc(), rewriter);
      llvm::TypeSwitch<Operation *>(op).Case<GramSelectOp, CascadeUpdateOp>(
          [&](auto selects) {
            rewriter.replaceOp(
                selects, createSelection(b, selects, iree::createDispatch));
          });
    }
  }
};
} // namespace
