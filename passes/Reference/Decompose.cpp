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

namespace {
struct DecomposePass final : gist::impl::DecomposePassBase<DecomposePass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    gist::populateDecomposePatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();

    // Whatever is left had no tensors to become: say where.
    WalkResult result = getOperation()->walk([](Operation *op) {
      if (!isa_and_nonnull<gist::GistDialect>(op->getDialect()) ||
          isa<gist::WeightOp>(op))
        return WalkResult::advance();
      op->emitOpError("has no executable definition here: selections cannot "
                      "enter or leave a function");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
