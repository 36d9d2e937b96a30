//===- CommandLine.h - The command line of gist-compile ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_COMPILE_COMMANDLINE_H
#define GIST_TOOLS_GIST_COMPILE_COMMANDLINE_H

#include "passes/Driver/Options.h"

#include <optional>

namespace gist::compile {

/// Reads the command line. Help and complaints are printed here; then the exit
/// status is returned: 0 for help, 2 for wrong usage.
std::optional<int> parseOptions(int argc, char **argv, Options &options);

} // namespace gist::compile

#endif // GIST_TOOLS_GIST_COMPILE_COMMANDLINE_H
