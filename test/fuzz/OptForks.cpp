//===- OptForks.cpp - gist-opt, for thousands of small inputs -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Does what gist-opt does, without the time that it takes to load LLVM: one
// process has loaded everything, and each command runs in a copy of it, which
// may crash. A command is a line of gist-opt's arguments with tabs between; the
// answer is a line too:
//
//   exit N      it ended by itself; 0 yes, 1 no
//   signal N    it died
//   slow        it took more processor time than the first argument says
//
// Processor time and not the clock's: a busy machine makes no difference.
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/// Memory of one command: a small file that asks for more is a finding.
static constexpr rlim_t kMostBytes = rlim_t(4) << 30;

static void limit(int resource, rlim_t most) {
  rlimit value{most, most};
  setrlimit(resource, &value);
}

/// Runs in the copy.
static int runCommand(std::string line, rlim_t seconds,
                      mlir::DialectRegistry &registry) {
  limit(RLIMIT_CPU, seconds);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_AS, kMostBytes);
  llvm::SmallVector<llvm::StringRef> words;
  llvm::StringRef(line).split(words, '\t');
  std::vector<std::string> texts{"gist-opt", "-mlir-disable-threading"};
  for (llvm::StringRef word : words)
    texts.push_back(word.str());
  std::vector<char *> arguments;
  for (std::string &text : texts)
    arguments.push_back(text.data());
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      static_cast<int>(arguments.size()), arguments.data(), "", registry));
}

static std::string describe(int status) {
  if (WIFEXITED(status))
    return "exit " + std::to_string(WEXITSTATUS(status));
  if (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)
    return "slow";
  return "signal " + std::to_string(WTERMSIG(status));
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fputs("usage: gist-opt-forks SECONDS < COMMANDS\n", stderr);
    return 2;
  }
  auto seconds = static_cast<rlim_t>(std::strtoul(argv[1], nullptr, 10));
  mlir::DialectRegistry registry;
  gist::registerDialects(registry);
  gist::registerPassesAndPipelines();
  for (std::string line; std::getline(std::cin, line);) {
    pid_t child = fork();
    if (child < 0) {
      std::perror("gist-opt-forks: fork");
      return 1;
    }
    if (child == 0) {
      // What is still to be read is the parent's, and so are the answers.
      if (!std::freopen("/dev/null", "r", stdin) ||
          !std::freopen("/dev/null", "w", stdout))
        _exit(3);
      // Without destructors: what they would free is the copy's.
      int result = runCommand(line, seconds, registry);
      std::fflush(nullptr);
      _exit(result);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("%s\n", describe(status).c_str());
    std::fflush(stdout);
  }
  return 0;
}
