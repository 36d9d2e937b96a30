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

/// False for null: a block argument has no op.
static bool isGistOp(Operation *op) {
  return op && isa_and_nonnull<gist::GistDialect>(op->getDialect());
}

/// Refuses selections that ops of other dialects pass on: which tensors those
/// stand for is not known at their uses. Checked first, because patterns would
/// silently leave such ops as they are.
static LogicalResult verifySelections(Operation *op) {
  if (!isGistOp(op))
    return success();
  auto refuse = [&](StringRef what) {
    return op->emitOpError(what)
           << ": selections cannot pass through functions or control flow; "
              "pass their parts instead";
  };
  auto isSelection = [](Value value) {
    return isa<gist::SelectionType>(value.getType());
  };
  for (Value operand : llvm::make_filter_range(op->getOperands(), isSelection))
    if (!isGistOp(operand.getDefiningOp()))
      return refuse("takes a selection that was not made by a gist op");
  for (Value result : llvm::make_filter_range(op->getResults(), isSelection))
    if (!llvm::all_of(result.getUsers(), isGistOp))
      return refuse("makes a selection that an op of another dialect reads");
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

    // One pattern for each op; what an op means is in dialect/Decompose*.cpp.
    RewritePatternSet patterns(&getContext());
    gist::populateDecomposePatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
