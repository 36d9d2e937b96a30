//===- Decompose.cpp - The pass -gist-decompose ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/Decompose.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"

namespace gist {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;

static bool isGistOp(Operation *op) {
  return op && isa_and_nonnull<gist::GistDialect>(op->getDialect());
}

/// Refuses selections that other dialects' ops pass on: the parts of those are
/// not known where they are used.
static LogicalResult verifySelections(Operation *op) {
  if (!isGistOp(op))
    return success();
  for (Value operand : op->getOperands())
    if (isa<gist::SelectionType>(operand.getType()) &&
        !isGistOp(operand.getDefiningOp()))
      return op->emitOpError("takes a selection that no gist op in this block "
                             "of code made: pass its parts instead");
  for (Value result : op->getResults())
    if (isa<gist::SelectionType>(result.getType()) &&
        !llvm::all_of(result.getUsers(), isGistOp))
      return op->emitOpError("makes a selection that an op other than gist's "
                             "uses: pass its parts instead");
  return success();
}

namespace {
struct DecomposePass final : gist::impl::DecomposePassBase<DecomposePass> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](Operation *op) {
      return failed(verifySelections(op)) ? WalkResult::interrupt()
                                          : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();

    RewritePatternSet patterns(&getContext());
    gist::populateDecomposePatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
