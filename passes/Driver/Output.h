//===- Output.h - Where results go ------------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_OUTPUT_H
#define GIST_PASSES_DRIVER_OUTPUT_H

#include "passes/Driver/Diagnostics.h"
#include "runtime/support/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

namespace gist::compile {

/// Writes `text` to the file `path`, whole or not at all, or to standard output
/// for "-".
Status writeText(llvm::StringRef text, const std::string &path);

/// The text of a module.
std::string printModule(mlir::ModuleOp module);

/// The program after each stage, as NN-name.mlir: written to a folder, which is
/// made when the first one is written, and replaced by a file that a user has
/// edited.
class StageDump {
public:
  /// Without a folder nothing is written, without a file nothing is replaced.
  StageDump(std::string folder, std::string edited)
      : folder(std::move(folder)), edited(std::move(edited)) {}

  /// Writes the program after a stage, or takes what the user made of it.
  Status pass(const std::string &stage, mlir::ModuleOp module,
              Diagnostics &diagnostics);
  /// Fails if there was no stage that the edited file belongs to.
  Status checkTaken() const;

private:
  Status take(mlir::ModuleOp module, Diagnostics &diagnostics);

  std::string folder, edited;
  std::string names; ///< of the files so far
  unsigned count = 0;
  bool isTaken = false;
};

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_OUTPUT_H
