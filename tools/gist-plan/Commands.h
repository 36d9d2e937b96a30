//===- Commands.h - The subcommands of gist-plan ----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_PLAN_COMMANDS_H
#define GIST_TOOLS_GIST_PLAN_COMMANDS_H

#include "tools/running/CommandLine.h"

namespace gist::plan {

void addAuto(CLI::App &app, Action &action);
void addCalibrate(CLI::App &app, Action &action);
void addVerify(CLI::App &app, Action &action);
void addCombine(CLI::App &app, Action &action);
void addCompare(CLI::App &app, Action &action);
void addReport(CLI::App &app, Action &action);
void addDepths(CLI::App &app, Action &action);

} // namespace gist::plan

#endif // GIST_TOOLS_GIST_PLAN_COMMANDS_H
