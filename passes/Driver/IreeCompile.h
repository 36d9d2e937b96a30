//===- IreeCompile.h - Calls IREE's compiler --------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_IREECOMPILE_H
#define GIST_PASSES_DRIVER_IREECOMPILE_H

#include "passes/Driver/Target.h"

namespace gist::compile {

/// The program iree-compile, of a version that is known to take our text.
class IreeCompiler {
public:
  /// Looks for `path`, or in PATH where it is empty, and asks for the version.
  Status find(const std::string &path);

  /// Compiles the text in `input`, whose objects are in `folder`.
  Status run(const std::string &input, const std::string &folder,
             const Target &target, const std::string &output) const;

private:
  std::string program;
};

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_IREECOMPILE_H
