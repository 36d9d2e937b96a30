//===- LinearContract.cpp - What plans of linear layers lose --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/gist-plan/LinearContract.h"

#include "tools/gist-run/Evaluation.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

using namespace gist;
using namespace gist::plan;

std::string plan::findCompiler() {
  std::error_code failed;
  std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? "gist-compile" : self.replace_filename("gist-compile");
}

/// Runs a program and waits for it; what it says goes where our words go.
static Status runProgram(const std::vector<std::string> &command) {
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  int failed = posix_spawnp(&child, arguments[0], nullptr, nullptr,
                            arguments.data(), environ);
  if (failed != 0)
    return Status::error(Code::NotFound, "%s: cannot be run: %s", arguments[0],
                         std::strerror(failed));
  int state = 0;
  while (waitpid(child, &state, 0) < 0)
    if (errno != EINTR)
      return Status::error(Code::Io, "%s: was lost: %s", arguments[0],
                           std::strerror(errno));
  if (!WIFEXITED(state) || WEXITSTATUS(state) != 0)
    return Status::error(Code::BadArgument, "%s: failed", arguments[0]);
  return {};
}

LinearContract::~LinearContract() {
  std::error_code unused;
  if (!folder.empty())
    std::filesystem::remove_all(folder, unused);
}

Status LinearContract::open() {
  std::error_code failed;
  std::string name =
      (std::filesystem::temp_directory_path(failed) / "gist-plan-XXXXXX")
          .string();
  if (failed || !mkdtemp(name.data()))
    return Status::error(Code::Io, "there is no folder for temporary files: %s",
                         std::strerror(errno));
  folder = name;
  return predict("", dense);
}

Status LinearContract::measure(const std::string &plan, double &loss) {
  std::vector<double> losses;
  GIST_TRY(predict(plan, losses));
  lastRatios.clear();
  loss = -INFINITY;
  for (size_t i = 0; i < losses.size(); ++i) {
    double more = losses[i] - dense[i];
    lastRatios.push_back(std::exp(more));
    // Not std::max, which would pass over NaN.
    loss = more <= loss ? loss : more;
  }
  return {};
}

Status LinearContract::predict(const std::string &plan,
                               std::vector<double> &losses) {
  std::string module = folder + "/planned.gist";
  std::vector<std::string> command = {options.compiler, options.model, "-o",
                                      module, "--progress=off"};
  if (!plan.empty())
    command.push_back("--plan=" + plan);
  GIST_TRY(runProgram(command));
  run::ModelOptions chosen;
  chosen.path = module;
  chosen.threads = options.threads;
  run::Runner runner;
  GIST_TRY(runner.openWithTokenizer(chosen));
  run::Evaluator evaluator(runner, nullptr);
  int64_t window = std::min(options.window, runner.session->capacity());
  losses.clear();
  for (const std::string &path : options.texts) {
    std::string text;
    GIST_TRY(run::readText(path, text));
    std::vector<int32_t> tokens;
    runner.tokenizer.encode(text, tokens,
                            {.addSpecial = false, .parseSpecial = false});
    tokens.resize(std::min<size_t>(tokens.size(), options.tokens));
    std::vector<run::Comparison> windows;
    GIST_TRY(evaluator.windows(tokens, window, window, windows).in(path));
    run::Comparison all;
    for (const run::Comparison &each : windows)
      all += each;
    losses.push_back(all.meanNll());
  }
  return {};
}
