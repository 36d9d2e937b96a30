//===- Diagnostics.h - MLIR's diagnostics as sentences ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_DIAGNOSTICS_H
#define GIST_PASSES_DRIVER_DIAGNOSTICS_H

#include "passes/Driver/Progress.h"
#include "runtime/support/Status.h"

#include "mlir/IR/Diagnostics.h"

#include <mutex>

namespace gist::compile {

/// Keeps the first error that parsing or a pass reports, and prints warnings
/// and, where they are asked for, remarks.
class Diagnostics {
public:
  Diagnostics(mlir::MLIRContext &context, Progress &progress);

  /// The first error as a Status: where it is, what was found and expected.
  /// `stage` says what failed when nothing was reported.
  Status takeError(const std::string &stage);

  void warn(const std::string &sentence);

  /// From now on passes report what they could not do, and why.
  void showRemarks(mlir::MLIRContext &context);

private:
  void handle(mlir::Diagnostic &diagnostic);

  Progress &progress;
  std::mutex mutex; ///< passes on functions run on several threads
  std::string firstError;
  // The last member: it is the first to go, and refers to those above.
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_DIAGNOSTICS_H
