//===- CommandLine.cpp - Tools that have subcommands ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/CommandLine.h"
#include "tools/running/Ranks.h"
#include "tools/running/Suggest.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <unistd.h>

using namespace gist;

static int
runTool(const char *tool, int argc, char **argv,
        const std::function<void(CLI::App &app, Action &action)> &describe) {
  CLI::App app("", tool); // Not by the path it was called with.
  // Exactly one command; it fills `action` while it is parsed.
  app.require_subcommand(1);
  Action action;
  describe(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return exitUsage(app, error);
  }
  // Parsing is over before anything runs, so that wrong usage has no effects.
  Status status = action();
  // A reader of only the first lines closes the pipe: also a failure.
  bool isWritten = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!isWritten && status.ok())
    status = Status::error(Code::Io, "standard output: cannot write");
  if (status.ok())
    return 0;
  if (run::mayTellError())
    std::fprintf(stderr, "%s: error: %s\n", tool, status.text.c_str());
  return 1;
}

int gist::runCommandLine(
    const char *tool, int argc, char **argv,
    const std::function<void(CLI::App &app, Action &action)> &describe) {
  // Where standard output is closed, the next file would take its number, and
  // what is printed would go there. This one refuses to be written.
  if (::fcntl(STDOUT_FILENO, F_GETFD) < 0 && errno == EBADF) {
    int refusing = ::open("/dev/null", O_RDONLY);
    if (refusing >= 0 && refusing != STDOUT_FILENO) {
      ::dup2(refusing, STDOUT_FILENO);
      ::close(refusing);
    }
  }
  // A limit on file sizes is a write that fails, not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  // Our code throws nothing but std::bad_alloc.
  try {
    if (std::optional<int> status = run::followRank0(tool))
      return *status;
    return run::endRanks(runTool(tool, argc, argv, describe));
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: error: %s\n", tool, error.what());
    return 1;
  }
}
