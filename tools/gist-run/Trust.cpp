//===- Trust.cpp - gist-run trust -----------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-run trust`: modules of other machines whose code may run here.
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/Commands.h"

#include "runtime/module/Trust.h"

#include <memory>

using namespace gist;
using namespace gist::run;

namespace {
struct Options {
  std::vector<std::string> paths;
  bool remove = false;
};
} // namespace

static Status runTrust(const Options &options) {
  for (const std::string &path : options.paths) {
    std::shared_ptr<const Module> module;
    GIST_TRY(Module::open(path, module));
    GIST_TRY((options.remove ? distrustModule(*module) : trustModule(*module))
                 .in(path));
    // As sha256sum prints: what was trusted can be compared with what its
    // maker says.
    std::printf("%s  %s\n", module->fingerprint().c_str(), path.c_str());
  }
  return {};
}

void run::addTrust(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "trust", "Let the code of modules from other machines run here");
  command->add_option("module", options->paths, "Module files")
      ->required()
      ->type_name("MODULE");
  command->add_flag("--remove", options->remove,
                    "Forget modules, also those that were compiled here");
  command->footer(
      "A module contains native code, which can do whatever you can. Modules "
      "that gist-compile makes on this machine need no trust command. Prints "
      "the fingerprint of each module: SHA-256 of its code, metadata, "
      "tokenizer "
      "and tables.");
  command->callback([options, &action] {
    action = [options] { return runTrust(*options); };
  });
}
