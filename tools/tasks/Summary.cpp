//===- Summary.cpp - Scores of many samples, task by task -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tasks/Summary.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <cmath>

using namespace gist;
using namespace gist::tasks;
using nlohmann::json;

double TaskSummary::ratio() const { return std::exp(difference.value); }

static TaskSummary summariseOne(const std::string &task,
                                std::span<const ScoredSample> samples) {
  TaskSummary result;
  result.task = task;
  std::vector<double> logs, differences;
  for (const ScoredSample &sample : samples) {
    if (task != sample.task->name)
      continue;
    ++result.samples;
    const Score &score = sample.score;
    result.right += score.isRight();
    result.found +=
        static_cast<double>(score.found) / static_cast<double>(score.asked);
    logs.push_back(score.meanLog());
    if (!sample.against)
      continue;
    result.isCompared = true;
    result.againstRight += sample.against->isRight();
    differences.push_back(score.meanLog() - sample.against->meanLog());
  }
  result.found /= static_cast<double>(result.samples);
  result.log = run::meanOf(logs);
  result.difference = run::meanOf(differences);
  return result;
}

std::vector<TaskSummary>
tasks::summarise(std::span<const ScoredSample> samples) {
  std::vector<TaskSummary> result;
  for (const Task &task : allTasks()) {
    bool isThere = std::any_of(
        samples.begin(), samples.end(),
        [&](const ScoredSample &sample) { return sample.task == &task; });
    if (isThere)
      result.push_back(summariseOne(task.name, samples));
  }
  std::sort(result.begin(), result.end(),
            [](const TaskSummary &a, const TaskSummary &b) {
              double first = a.isCompared ? a.ratio() : a.share(),
                     second = b.isCompared ? b.ratio() : b.share();
              return first != second ? first < second : a.task < b.task;
            });
  return result;
}

/// JSON has no infinity: one sample has an interval of null.
static json toJson(run::Interval interval) {
  return json::array({interval.low, interval.high});
}

static run::Interval ratioInterval(const TaskSummary &summary,
                                   double confidence) {
  run::Interval logs = summary.difference.interval(confidence);
  return {std::exp(logs.low), std::exp(logs.high)};
}

json tasks::toJson(const TaskSummary &summary, double confidence) {
  json result = {{"task", summary.task},
                 {"samples", summary.samples},
                 {"right", summary.share()},
                 {"right_interval",
                  ::toJson(run::wilsonInterval(summary.right, summary.samples,
                                               confidence))},
                 {"found", summary.found},
                 {"answer_nll", -summary.log.value},
                 {"answer_nll_error", summary.log.error}};
  if (!summary.isCompared)
    return result;
  result["against_right"] = static_cast<double>(summary.againstRight) /
                            static_cast<double>(summary.samples);
  result["against_right_interval"] = ::toJson(
      run::wilsonInterval(summary.againstRight, summary.samples, confidence));
  result["likelihood_ratio"] = summary.ratio();
  result["likelihood_ratio_interval"] =
      ::toJson(ratioInterval(summary, confidence));
  return result;
}

static json toJson(const Score &score) {
  return {{"log_likelihood", score.logLikelihood},
          {"tokens", score.tokens},
          {"found", score.found},
          {"asked", score.asked},
          {"written", score.written}};
}

json tasks::toJson(const ScoredSample &sample) {
  json result = {{"task", sample.task->name}, {"number", sample.number}};
  result.update(::toJson(sample.score));
  if (sample.against)
    result["against"] = ::toJson(*sample.against);
  return result;
}

void tasks::print(std::span<const TaskSummary> summaries, double confidence) {
  bool isCompared = !summaries.empty() && summaries.front().isCompared;
  std::printf("%-15s %7s  %-20s %6s %8s", "task, worst first", "samples",
              "right", "found", "nll");
  if (isCompared)
    std::printf("  %-20s  %-24s", "right, the other", "likelihood ratio");
  std::printf("\n");
  for (const TaskSummary &summary : summaries) {
    auto share = [&](size_t right) {
      run::Interval interval =
          run::wilsonInterval(right, summary.samples, confidence);
      char text[64];
      std::snprintf(text, sizeof text, "%.3f [%.3f, %.3f]",
                    static_cast<double>(right) /
                        static_cast<double>(summary.samples),
                    interval.low, interval.high);
      return std::string(text);
    };
    std::printf("%-17s %7zu  %-20s %6.3f %8.4f", summary.task.c_str(),
                summary.samples, share(summary.right).c_str(), summary.found,
                -summary.log.value);
    if (summary.isCompared) {
      run::Interval interval = ratioInterval(summary, confidence);
      std::printf("  %-20s  %.4f [%.4f, %.4f]",
                  share(summary.againstRight).c_str(), summary.ratio(),
                  interval.low, interval.high);
    }
    std::printf("\n");
  }
}
