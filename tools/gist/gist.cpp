//===- gist.cpp - One command for all tools -------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist chat model.gguf` is `gist-run chat model.gguf`, and `gist compile` is
// `gist-compile`. This program becomes the tool, which reads everything else.
//
//===----------------------------------------------------------------------===//

#include "tools/running/Compiler.h"
#include "tools/running/Suggest.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace gist;

namespace {
struct Command {
  const char *name, *tool, *description;
  /// The tool has commands of its own, and this is one of them.
  bool isPassedOn;
};
} // namespace

/// The order is that of --help: what most people want comes first.
static constexpr Command kCommands[] = {
    {"chat", "gist-run", "talk to a model", true},
    {"generate", "gist-run", "continue a text, or answer one question", true},
    {"serve", "gist-serve", "serve models with the OpenAI API and a page",
     false},
    {"compile", "gist-compile", "compile a model to a module", false},
    {"plan", "gist-plan", "find where a model can do less work", false},
    {"embed", "gist-run", "turn texts into vectors", true},
    {"eval", "gist-run", "measure the quality of a model", true},
    {"bench", "gist-run", "measure the speed of a model", true},
    {"call", "gist-run", "run one entry of a module on arrays", true},
    {"info", "gist-run", "show what a module contains", true},
    {"devices", "gist-run", "list what this machine can run modules on", true},
    {"selftest", "gist-run", "compare a device with the CPU", true},
    {"trust", "gist-run", "let modules from other machines run here", true},
    {"cache", "gist-run", "list the models that were compiled and kept", true},
    {"run", "gist-run", "gist-run itself", false},
    {"opt", "gist-opt", "run passes on .mlir files", false},
    {"reduce", "gist-reduce", "shrink an .mlir file that shows a problem",
     false},
    {"lsp-server", "gist-lsp-server", "serve editors of .mlir files", false},
};

static void printHelp(std::FILE *file) {
  std::fputs("usage: gist COMMAND [arguments]\n\n"
             "Compiles and runs transformer models.\n\ncommands:\n",
             file);
  for (const Command &command : kCommands)
    std::fprintf(file, "  %-12s %s\n", command.name, command.description);
  std::fputs("\n'gist COMMAND --help' explains a command.\n", file);
}

static int refuse(const std::string &word) {
  std::vector<std::string> names;
  for (const Command &command : kCommands)
    names.emplace_back(command.name);
  std::string nearest = nearestName(word, names);
  // A name of a file where a command is expected: most want to talk to it.
  std::string advice = access(word.c_str(), F_OK) == 0
                           ? "did you mean gist chat " + word + "?"
                       : nearest.empty() ? "gist --help lists them"
                                         : "did you mean " + nearest + "?";
  std::fprintf(stderr, "gist: error: there is no command %s; %s\n",
               word.c_str(), advice.c_str());
  return 2;
}

/// Returns only on an error.
static int become(const Command &command, char **words) {
  std::string path;
  Status status = run::findProgram(command.tool, "", path);
  if (!status.ok()) {
    std::fprintf(stderr, "gist: error: %s; install the package that has it\n",
                 status.text.c_str());
    return 1;
  }
  // The word before the tool's own is its name.
  char **arguments = command.isPassedOn ? words - 1 : words;
  arguments[0] = path.data();
  execv(path.c_str(), arguments);
  std::fprintf(stderr, "gist: error: %s: %s\n", path.c_str(),
               std::strerror(errno));
  return 1;
}

int main(int argc, char **argv) {
  std::string word = argc > 1 ? argv[1] : "";
  if (word == "--version") {
    std::puts("gist " GIST_VERSION);
    return 0;
  }
  bool wantsHelp = word == "--help" || word == "-h" || word == "help";
  if (wantsHelp || word.empty()) {
    printHelp(wantsHelp ? stdout : stderr);
    return wantsHelp ? 0 : 2;
  }
  for (const Command &command : kCommands)
    if (word == command.name)
      return become(command, argv + 1);
  return refuse(word);
}
