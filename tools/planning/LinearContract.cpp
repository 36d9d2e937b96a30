//===- LinearContract.cpp - What plans of linear layers lose --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/LinearContract.h"

#include "tools/running/Compiler.h"
#include "tools/running/Evaluation.h"

#include <algorithm>
#include <cmath>

using namespace gist;
using namespace gist::plan;

Status LinearContract::open() {
  GIST_TRY(folder.make());
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
    // NaN counts as the largest loss, and stays.
    loss = std::isnan(loss) || more <= loss ? loss : more;
  }
  return {};
}

Status LinearContract::predict(const std::string &plan,
                               std::vector<double> &losses) {
  run::TemporaryModule module;
  std::vector<std::string> more;
  if (!plan.empty())
    more.push_back("--plan=" + plan);
  if (!options.compute.empty())
    more.push_back("--compute=" + options.compute);
  GIST_TRY(module.make(options.compiler, options.model, "cpu", more));
  run::ModelOptions chosen;
  chosen.path = module.path;
  chosen.trust = true; // It was compiled a moment ago.
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
