//===- SharedOptions.h - Options of several commands ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_PLAN_SHAREDOPTIONS_H
#define GIST_TOOLS_GIST_PLAN_SHAREDOPTIONS_H

#include "passes/Plan/File/PlanFile.h"
#include "tools/planning/PlanSearch.h"

#include "CLI/CLI.hpp"

namespace gist::plan {

/// Adds --quality, --recall, --tasks and --confidence; what is not given
/// follows from the quality when the command is parsed.
void addPromiseOptions(CLI::App &command, SearchOptions &options);

/// Reads from a plan's file the promise that its search had to keep. A
/// handwritten plan has none, and `promise` stays as it is.
Status readPromise(const PlanFile &file, Promise &promise);

/// Adds --device, --threads and --compiler.
void addPlaceOptions(CLI::App &command, std::string &device, unsigned &threads,
                     std::string &compiler);

/// Adds --sessions.
void addSessionsOption(CLI::App &command, unsigned &sessions);

} // namespace gist::plan

#endif // GIST_TOOLS_GIST_PLAN_SHAREDOPTIONS_H
