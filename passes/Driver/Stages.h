//===- Stages.h - Runs the stages of the compiler ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_STAGES_H
#define GIST_PASSES_DRIVER_STAGES_H

#include "passes/Driver/Diagnostics.h"
#include "passes/Driver/Output.h"

#include "mlir/Pass/PassManager.h"

namespace gist::compile {

/// What all stages of a run share: where progress, errors and dumps go.
struct Stages {
  Progress &progress;
  Diagnostics &diagnostics;
  StageDump dump;
  /// Passes are verified one by one; otherwise each stage as a whole.
  bool verifiesPasses = true;

  /// Runs a stage of passes/Pipelines.h on `module`, and dumps the outcome.
  Status run(const std::string &name, mlir::ModuleOp module,
             llvm::function_ref<void(mlir::OpPassManager &)> build);
};

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_STAGES_H
