//===- Summary.h - Scores of many samples, task by task ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_TASKS_SUMMARY_H
#define GIST_TOOLS_TASKS_SUMMARY_H

#include "tools/running/Intervals.h"
#include "tools/tasks/Scorer.h"

#include "nlohmann/json_fwd.hpp"

#include <optional>

namespace gist::tasks {

/// A sample's score, and that of the module compared with.
struct ScoredSample {
  const Task *task = nullptr;
  size_t number = 0;
  Score score;
  std::optional<Score> against;
};

/// One task.
struct TaskSummary {
  std::string task;
  size_t samples = 0, right = 0, againstRight = 0;
  double found = 0; ///< share of the single answers
  /// Logarithm of the probability of a token of a right answer, each sample
  /// counting once; of the difference to the module compared with.
  run::Mean log, difference;
  bool isCompared = false;

  double share() const {
    return static_cast<double>(right) / static_cast<double>(samples);
  }
  /// How likely a token of a right answer is, relative to the other module.
  double ratio() const;
};

/// The worst first: by the likelihood relative to the other module, or by the
/// share of right answers where nothing is compared.
std::vector<TaskSummary> summarise(std::span<const ScoredSample> samples);

nlohmann::json toJson(const TaskSummary &summary, double confidence);
nlohmann::json toJson(const ScoredSample &sample);
void print(std::span<const TaskSummary> summaries, double confidence);

} // namespace gist::tasks

#endif // GIST_TOOLS_TASKS_SUMMARY_H
