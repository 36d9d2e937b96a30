//===- Commands.h - The subcommands of gist-run -----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each subcommand is one file: it adds its options to the command line and
// leaves the function that runs it. Data goes to stdout, words to stderr.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_RUN_COMMANDS_H
#define GIST_TOOLS_GIST_RUN_COMMANDS_H

#include "tools/running/CommandLine.h"

namespace gist::run {

void addGenerate(CLI::App &app, Action &action);
void addChat(CLI::App &app, Action &action);
void addEmbed(CLI::App &app, Action &action);
void addEval(CLI::App &app, Action &action);
void addBench(CLI::App &app, Action &action);
void addCall(CLI::App &app, Action &action);
void addInfo(CLI::App &app, Action &action);
void addDevices(CLI::App &app, Action &action);
void addSelftest(CLI::App &app, Action &action);
void addTrust(CLI::App &app, Action &action);
void addCache(CLI::App &app, Action &action);

} // namespace gist::run

#endif // GIST_TOOLS_GIST_RUN_COMMANDS_H
