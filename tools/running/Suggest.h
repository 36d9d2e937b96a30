//===- Suggest.h - What a user may have meant -------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_SUGGEST_H
#define GIST_TOOLS_RUNNING_SUGGEST_H

#include "CLI/CLI.hpp"

#include <string>
#include <vector>

namespace gist {

/// The name that is most like `word`, or empty where none is like it: one that
/// it begins, or one that few changes of letters make of it.
std::string nearestName(const std::string &word,
                        const std::vector<std::string> &names);

/// Why the command line was refused, in a sentence. Names what is nearest to an
/// option or a command that does not exist.
std::string explainUsage(const CLI::App &app, const CLI::ParseError &error);

/// Prints what help, --version or wrong usage asks for. Returns the exit
/// status: 0, or 2 for wrong usage.
int exitUsage(const CLI::App &app, const CLI::ParseError &error);

} // namespace gist

#endif // GIST_TOOLS_RUNNING_SUGGEST_H
