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
#include "tools/running/Options.h"

#include "runtime/module/Trust.h"

#include <memory>

using namespace gist;
using namespace gist::run;

namespace {
struct Options {
  std::vector<std::string> paths;
  std::string list;
  bool remove = false, system = false;
};
} // namespace

static Status runTrust(const Options &options) {
  TrustScope scope = options.system ? TrustScope::System : TrustScope::User;
  if (!options.list.empty()) {
    std::string text;
    size_t count = 0;
    GIST_TRY(readText(options.list, text));
    GIST_TRY(trustList(text, scope, count).in(options.list));
    std::fprintf(stderr, "gist-run: note: %zu module%s of %s may run\n", count,
                 count == 1 ? "" : "s", options.list.c_str());
  }
  for (const std::string &path : options.paths) {
    std::shared_ptr<const Module> module;
    GIST_TRY(Module::open(path, module));
    GIST_TRY((options.remove ? distrustModule(*module, scope)
                             : trustFingerprint(module->fingerprint(), scope))
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
  auto *modules = command->add_option("module", options->paths, "Module files")
                      ->type_name("MODULE");
  auto *list =
      addSetting(*command, "--list", options->list, "FILE",
                 "Trust all modules of FILE, whose lines begin with "
                 "fingerprints, as this command prints them: for modules "
                 "of your own builds; - for standard input");
  command->add_flag("--system", options->system,
                    "For all users of this machine, in /etc/gist/trusted: for "
                    "administrators");
  command
      ->add_flag("--remove", options->remove,
                 "Forget modules, also those that were compiled here")
      ->excludes(list);
  command->footer(
      "A module contains native code, which can do whatever you can. Modules "
      "that you compile on this machine need no trust command. Prints "
      "the fingerprint of each module: SHA-256 of its code, metadata, "
      "tokenizer "
      "and tables.");
  command->callback([options, modules, list, &action] {
    if (modules->count() + list->count() == 0)
      throw CLI::RequiredError("MODULE or --list");
    action = [options] { return runTrust(*options); };
  });
}
