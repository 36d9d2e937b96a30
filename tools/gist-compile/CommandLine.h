//===- CommandLine.h - The command line of gist-compile ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_COMPILE_COMMANDLINE_H
#define GIST_TOOLS_GIST_COMPILE_COMMANDLINE_H

#include "passes/Driver/Options.h"
#include "runtime/support/Status.h"

#include <optional>
#include <string>
#include <vector>

namespace gist::compile {

/// Reads the command line. Help and complaints are printed here; then the exit
/// status is returned: 0 for help, 2 for wrong usage.
std::optional<int> parseOptions(int argc, char **argv, Options &options);

/// The same for programs that call the compiler: `words` are those after the
/// program's name, nothing is printed, and wrong usage is an error. On error
/// `options` is left as it was.
Status parseWords(const std::vector<std::string> &words, Options &options);

} // namespace gist::compile

#endif // GIST_TOOLS_GIST_COMPILE_COMMANDLINE_H
