//===- Output.h - Where results go ------------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_OUTPUT_H
#define GIST_PASSES_DRIVER_OUTPUT_H

#include "runtime/support/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

namespace gist::compile {

/// Writes `text` to the file `path`, whole or not at all, or to standard output
/// for "-".
Status writeText(llvm::StringRef text, const std::string &path);

/// The text of a module.
std::string printModule(mlir::ModuleOp module);

/// Writes the program after each stage to NN-name.mlir in a folder, which is
/// made when the first one is written. Without a folder, does nothing.
class StageDump {
public:
  explicit StageDump(std::string folder) : folder(std::move(folder)) {}

  Status write(const std::string &stage, mlir::ModuleOp module);

private:
  std::string folder;
  unsigned count = 0;
};

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_OUTPUT_H
