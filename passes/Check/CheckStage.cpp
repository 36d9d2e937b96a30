//===- CheckStage.cpp - The pass -gist-check-stage ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Check/Promises.h"
#include "passes/Passes.h"

namespace gist {
#define GEN_PASS_DEF_CHECKSTAGEPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

namespace {
/// A stage by the name that pipelines and messages give it.
struct Promise {
  llvm::StringLiteral stage;
  LogicalResult (*check)(ModuleOp);
};
} // namespace

/// In the order of the stages.
static constexpr Promise kPromises[] = {
    {"import", checkImported}, {"graph", checkGraph},
    {"kernels", checkCalls},   {"memory", checkMemory},
    {"tiles", checkTiles},     {"gpu-tiles", checkGpuTiles},
    {"cpu", checkCpuCode},     {"gpu", checkGpuCode},
};

namespace {
struct CheckStagePass final : gist::impl::CheckStagePassBase<CheckStagePass> {
  using Base::Base;

  void runOnOperation() override {
    for (const Promise &promise : kPromises)
      if (promise.stage == stage) {
        if (failed(promise.check(getOperation())))
          signalPassFailure();
        // Checks change nothing.
        return markAllAnalysesPreserved();
      }
    auto error = emitError(getOperation().getLoc(), "there is no stage '")
                 << stage.getValue() << "'; stages are";
    for (const Promise &promise : kPromises)
      error << " " << promise.stage;
    signalPassFailure();
  }
};
} // namespace
