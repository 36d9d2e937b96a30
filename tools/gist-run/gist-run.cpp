//===- gist-run.cpp - Runs compiled models --------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/Commands.h"

#include "runtime/module/Format.h"

using namespace gist;
using namespace gist::run;

#ifndef GIST_VERSION
#define GIST_VERSION "unknown"
#endif

/// The order is that of --help: what most people want comes first.
static void describe(CLI::App &app, Action &action) {
  app.description("Runs models: modules that gist-compile made (.gist), GGUF "
                  "files and Hugging Face folders.\n");
  app.footer("Exit status: 0 done, 1 failed, 2 wrong usage.\n"
             "'gist-run COMMAND --help' explains a command.");
  app.set_version_flag("--version", "gist-run " GIST_VERSION
                                    ", reads module format " +
                                        std::to_string(kFormatMajor) + ".x");
  addGenerate(app, action);
  addChat(app, action);
  addEmbed(app, action);
  addEval(app, action);
  addBench(app, action);
  addCall(app, action);
  addInfo(app, action);
  addDevices(app, action);
  addSelftest(app, action);
  addTrust(app, action);
  addCache(app, action);
}

int main(int argc, char **argv) {
  return runCommandLine("gist-run", argc, argv, describe);
}
