//===- gist-plan.cpp - Finds where a model can do less work ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/gist-plan/Commands.h"

using namespace gist;
using namespace gist::plan;

#ifndef GIST_VERSION
#define GIST_VERSION "unknown"
#endif

static constexpr const char *kFooter =
    R"(Example, from a model to a plan, its page, and the line to compile with:
  gist-plan auto model.gguf --quality 1.01

With each head measured alone, by texts of your own:
  gist-compile model.gguf -o wide.gist --plan=calibration
  gist-plan calibrate wide.gist --text prose.txt --text code.py -o calibration.json
  gist-plan auto model.gguf --calibration calibration.json --quality 1.01 --seconds 0

Exit status: 0 done, 1 failed, 2 wrong usage. A file is written whole or not at all.
'gist-plan COMMAND --help' explains a command.)";

/// In the order in which they are used.
static void describe(CLI::App &app, Action &action) {
  app.description("Finds where a model can do less work at a named quality.\n");
  app.footer(kFooter);
  app.set_version_flag("--version", "gist-plan " GIST_VERSION);
  addAuto(app, action);
  addCalibrate(app, action);
  addVerify(app, action);
  addCombine(app, action);
  addCompare(app, action);
  addReport(app, action);
  addDepths(app, action);
}

int main(int argc, char **argv) {
  return runCommandLine("gist-plan", argc, argv, describe);
}
