//===- CommandLine.h - Tools that have subcommands --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_COMMANDLINE_H
#define GIST_TOOLS_RUNNING_COMMANDLINE_H

#include "runtime/support/Status.h"

#include "CLI/CLI.hpp"

#include <functional>

namespace gist {

/// What to do once the command line is understood.
using Action = std::function<Status()>;

/// The whole of a tool: `describe` adds subcommands, which leave what to do in
/// the action. Returns the exit status: 0 done, 1 failed, 2 wrong usage.
int runCommandLine(
    const char *tool, int argc, char **argv,
    const std::function<void(CLI::App &app, Action &action)> &describe);

/// Adds an option whose help shows the value that it has without it. `type` is
/// what the help calls its argument; without it, the kind of number.
template <typename T>
CLI::Option *addSetting(CLI::App &command, const char *names, T &value,
                        const char *help) {
  return command.add_option(names, value, help)->capture_default_str();
}
template <typename T>
CLI::Option *addSetting(CLI::App &command, const char *names, T &value,
                        const char *type, const char *help) {
  return addSetting(command, names, value, help)->type_name(type);
}

} // namespace gist

#endif // GIST_TOOLS_RUNNING_COMMANDLINE_H
