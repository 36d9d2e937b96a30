//===- Compiler.h - Modules made for one run --------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_COMPILER_H
#define GIST_TOOLS_RUNNING_COMPILER_H

#include "runtime/support/Status.h"
#include "tools/running/TemporaryFolder.h"

#include <string>
#include <vector>

namespace gist::run {

/// Another program of ours: beside this one, or in PATH. `option` is what a
/// user can name it with, or empty.
Status findProgram(const char *name, const char *option, std::string &path);

/// Runs a program and waits for it. What it prints is printed, or written to
/// `output`; on an error that file is removed.
Status runProgram(const std::vector<std::string> &words,
                  const std::string &output = {});

/// A module that gist-compile makes, which is another program: gist-run has no
/// compiler. It is removed with this object.
class TemporaryModule {
public:
  /// Compiles `input` for devices of a kind. `compiler` names the program; if
  /// it is empty, it is looked for beside this one and then in PATH.
  Status make(const std::string &compiler, const std::string &input,
              const std::string &device,
              const std::vector<std::string> &options);

  std::string path;

private:
  TemporaryFolder folder;
};

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_COMPILER_H
