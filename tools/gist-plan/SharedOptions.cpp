//===- SharedOptions.cpp - Options of several commands --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/gist-plan/SharedOptions.h"

#include "runtime/support/Json.h"

#include "nlohmann/json.hpp"

#include <algorithm>

using namespace gist;
using namespace gist::plan;

void plan::addPromiseOptions(CLI::App &command, SearchOptions &options) {
  command
      .add_option("-q,--quality", options.promise.perplexity,
                  "Largest ratio of perplexities to the model as it is")
      ->check(CLI::Range(1.0001, 2.0))
      ->capture_default_str();
  auto *recall =
      command
          .add_option("--recall", options.promise.recall,
                      "Largest ratio of the perplexities of a text's second "
                      "copy; default: five times what --quality allows")
          ->check(CLI::Range(1.0001, 10.0))
          ->type_name("RATIO");
  auto *tasks =
      command
          .add_option("--tasks", options.promise.tasks,
                      "Smallest likelihood of a right answer's token, relative "
                      "to the model as it is; 0: nothing is asked; default: "
                      "twice what --quality allows")
          ->check(CLI::Range(0.0, 0.9999))
          ->type_name("RATIO");
  command
      .add_option("--confidence", options.confidence,
                  "Confidence with which the promise holds on other texts, by "
                  "how much the measured ones differ")
      ->check(CLI::Range(0.5, 0.9999))
      ->capture_default_str();
  command.parse_complete_callback([&options, recall, tasks] {
    Promise defaults = Promise::of(options.promise.perplexity);
    if (recall->count() == 0)
      options.promise.recall = defaults.recall;
    if (tasks->count() == 0)
      // A quality of 1.5 or more promises nothing about answers.
      options.promise.tasks = std::max(defaults.tasks, 0.0);
  });
}

void plan::addSessionsOption(CLI::App &command, unsigned &sessions) {
  command
      .add_option("--sessions", sessions,
                  "Measurements at once, each with --threads threads")
      ->type_name("N")
      ->check(CLI::Range(1u, 256u))
      ->capture_default_str();
}

Status plan::readPromise(const PlanFile &file, Promise &promise) {
  nlohmann::json json;
  GIST_TRY(parseJsonObject(file.text, json));
  auto contract = json.find("contract");
  if (contract == json.end() || !contract->is_object() ||
      !contract->contains("quality"))
    return {};
  constexpr double kLeastTasks = 1e-4; // that a certificate can promise
  double quality = 0;
  GIST_TRY(readNumber(*contract, "quality", 1.0001, 2, quality));
  promise = Promise::of(quality);
  if (contract->contains("recall"))
    GIST_TRY(readNumber(*contract, "recall", 1.0001, 10, promise.recall));
  if (contract->contains("tasks"))
    GIST_TRY(readNumber(*contract, "tasks", 0, 0.9999, promise.tasks));
  promise.tasks = std::max(promise.tasks, kLeastTasks);
  return {};
}

void plan::addPlaceOptions(CLI::App &command, std::string &device,
                           unsigned &threads, std::string &compiler) {
  command
      .add_option("--device", device,
                  "Where to measure: cpu, hip (AMD) or cuda (NVIDIA)")
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("-t,--threads", threads,
                  "CPU threads; 0: all that this process may use")
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--compiler", compiler,
                  "The program that compiles modules; default: gist-compile "
                  "beside this one or in PATH")
      ->type_name("PATH");
}
