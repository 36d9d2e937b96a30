//===- gist-plan.cpp - Finds where a model can do less work ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/gist-plan/Commands.h"

#include <csignal>
#include <cstdio>
#include <exception>

using namespace gist;
using namespace gist::plan;

#ifndef GIST_VERSION
#define GIST_VERSION "unknown"
#endif

static constexpr const char *kFooter =
    R"(Example, from a model to a smaller one:
  gist-compile model.gguf -o wide.gist --plan=calibration
  gist-plan calibrate wide.gist --text prose.txt --text code.py -o calibration.json
  gist-plan solve wide.gist calibration.json --quality 1.01 -o plan.json
  gist-compile model.gguf -o small.gist --plan plan.json

Exit status: 0 done, 1 failed, 2 wrong usage. A file is written whole or not at all.
'gist-plan COMMAND --help' explains a command.)";

static int runTool(int argc, char **argv) {
  CLI::App app("Finds where a model can do less work at a named quality.\n");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.set_version_flag("--version", "gist-plan " GIST_VERSION);
  Action action;
  addCalibrate(app, action);
  addSolve(app, action);
  addReport(app, action);
#ifdef GIST_PLAN_LINEARS
  addLinears(app, action);
  addSolveLinears(app, action);
#endif
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // Help and version are not errors; everything else is wrong usage.
    return app.exit(error) == 0 ? 0 : 2;
  }
  Status status = action();
  if (std::fflush(stdout) != 0 && status.ok())
    status = Status::error(Code::Io, "cannot write the output");
  if (status.ok())
    return 0;
  std::fprintf(stderr, "gist-plan: error: %s\n", status.text.c_str());
  return 1;
}

int main(int argc, char **argv) {
  // A limit on file sizes is a write that fails, not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  // Nothing of ours throws; what is left is memory that the system refuses.
  try {
    return runTool(argc, argv);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "gist-plan: error: %s\n", error.what());
    return 1;
  }
}
