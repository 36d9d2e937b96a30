//===- Report.h - What generate and chat tell about a run -------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_REPORT_H
#define GIST_TOOLS_RUNNING_REPORT_H

#include "tools/running/Options.h"

namespace gist::run {

/// Prints speed and memory to standard error.
void printStatistics(const Runner &runner, const GenerateResult &result);

/// Prints to standard output at once, and says when that cannot be.
Status printText(std::string_view text);

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_REPORT_H
