//===- gist-run.cpp - Runs compiled models --------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/Commands.h"

#include "runtime/Format.h"

#include <csignal>
#include <cstdio>
#include <exception>

using namespace gist;
using namespace gist::run;

#ifndef GIST_VERSION
#define GIST_VERSION "unknown"
#endif

static int runTool(int argc, char **argv) {
  CLI::App app("Runs models that gist-compile made: modules, files that end in "
               ".gist.\n");
  app.footer("Exit status: 0 done, 1 failed, 2 wrong usage.\n"
             "'gist-run COMMAND --help' explains a command.");
  app.require_subcommand(1);
  std::string version = "gist-run " GIST_VERSION ", reads module format " +
                        std::to_string(kFormatMajor) + ".x";
  app.set_version_flag("--version", version);

  Action action;
  addGenerate(app, action);
  addChat(app, action);
  addEmbed(app, action);
  addEval(app, action);
  addBench(app, action);
  addCall(app, action);
  addInfo(app, action);
  addDevices(app, action);
  addSelftest(app, action);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // Help and version are not errors; everything else is wrong usage.
    return app.exit(error) == 0 ? 0 : 2;
  }
  Status status = action();
  // Somebody who reads only the first lines closes the pipe: also a failure.
  if (std::fflush(stdout) != 0 && status.ok())
    status = Status::error(Code::Io, "cannot write the output");
  if (status.ok())
    return 0;
  std::fprintf(stderr, "gist-run: error: %s\n", status.text.c_str());
  return 1;
}

int main(int argc, char **argv) {
  // A limit on file sizes is a write that fails, not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  // Nothing of ours throws; what is left is memory that the system refuses.
  try {
    return runTool(argc, argv);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "gist-run: error: %s\n", error.what());
    return 1;
  }
}
