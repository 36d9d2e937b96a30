//===- EvalTasks.cpp - gist-run eval --tasks ------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-run eval --tasks`: questions with known answers, asked of a module and
// perhaps of another one, task by task.
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/EvalTasks.h"

#include "runtime/support/AtomicFile.h"
#include "tools/running/CommandLine.h"
#include "tools/running/Limit.h"
#include "tools/running/Progress.h"
#include "tools/tasks/Summary.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <future>

using namespace gist;
using namespace gist::run;
using gist::tasks::Task;

static std::string nameAll() {
  std::vector<std::string> names;
  for (const Task &task : tasks::allTasks())
    names.emplace_back(task.name);
  return tasks::join(names);
}

static Status findTasks(const std::vector<std::string> &names,
                        std::vector<const Task *> &found) {
  for (const std::string &name : names) {
    if (name == "all") {
      for (const Task &task : tasks::allTasks())
        found.push_back(&task);
      continue;
    }
    const Task *task = tasks::findTask(name);
    if (!task)
      return Status::error(Code::BadArgument,
                           "--tasks: there is no task '%s'; expected all or "
                           "some of %s",
                           name.c_str(), nameAll().c_str());
    found.push_back(task);
  }
  // A task that is named twice would have each sample twice.
  for (size_t i = 0; i < found.size(); ++i)
    if (std::find(found.begin(), found.begin() + static_cast<ptrdiff_t>(i),
                  found[i]) != found.begin() + static_cast<ptrdiff_t>(i))
      return Status::error(Code::BadArgument, "--tasks: '%s' appears twice",
                           found[i]->name);
  return {};
}

namespace {
/// A sample that is ready to be asked, or why it could not be made.
struct Made {
  Status status;
  tasks::Sample sample;
  tasks::ScoredSample result;
};

class TaskEvaluation {
public:
  explicit TaskEvaluation(const TaskOptions &options) : options(options) {}

  Status run();

private:
  Status open();
  Status write(const std::vector<const Task *> &wanted) const;
  Status ask(const std::vector<const Task *> &wanted);
  void printJson() const;
  void printText() const;

  const TaskOptions &options;
  tasks::Filler filler;
  Runner runner;
  std::unique_ptr<Runner> other;
  std::vector<tasks::ScoredSample> scored;
};
} // namespace

/// Both modules have room for a sample and for nothing more, so that a cache is
/// laid out for its length.
Status TaskEvaluation::open() {
  if (!options.text.empty()) {
    std::string text;
    GIST_TRY(readText(options.text, text));
    filler = tasks::Filler(text);
  }
  ModelOptions model = options.model;
  model.writes = true;
  model.context = std::max(model.context, options.samples.length);
  GIST_TRY(runner.openWithTokenizer(model));
  return openAgainst(options.against, model, runner, other);
}

/// Writes the samples as lines of JSON, without asking a model.
Status TaskEvaluation::write(const std::vector<const Task *> &wanted) const {
  std::string lines;
  for (const Task *task : wanted)
    for (size_t i = 0; i < options.count; ++i) {
      tasks::Sample sample;
      GIST_TRY(tasks::makeSample(runner.tokenizer, *task, filler,
                                 options.samples, i, sample));
      lines += tasks::printSample(sample, options.samples) + "\n";
    }
  return writeWhole(options.written, lines);
}

/// Task after task, both modules on each sample. Control-C and --seconds end it
/// with what was asked so far.
Status TaskEvaluation::ask(const std::vector<const Task *> &wanted) {
  Limit limit(options.seconds);
  plan::Progress progress("samples", wanted.size() * options.count);
  tasks::Scorer scorer(runner);
  std::unique_ptr<tasks::Scorer> otherScorer;
  if (other)
    otherScorer = std::make_unique<tasks::Scorer>(*other);
  // Samples of all tasks take turns, so that what was stopped has some of each.
  auto make = [&](size_t turn) {
    Made made;
    made.result = {wanted[turn % wanted.size()], turn / wanted.size(), {}, {}};
    made.status =
        tasks::makeSample(runner.tokenizer, *made.result.task, filler,
                          options.samples, made.result.number, made.sample);
    return made;
  };
  size_t count = wanted.size() * options.count;
  // A sample is made while the model answers the one before: the tokenizer
  // takes about as long as a GPU needs to read it.
  auto next = std::async(std::launch::async, make, 0);
  for (size_t turn = 0; turn < count; ++turn) {
    Made made = next.get();
    if (turn + 1 < count)
      next = std::async(std::launch::async, make, turn + 1);
    if (limit.isOver())
      return scored.empty()
                 ? Status::error(Code::Io, "stopped before the first sample")
                 : Status();
    GIST_TRY(std::move(made.status));
    tasks::ScoredSample &result = made.result;
    GIST_TRY(scorer.score(made.sample, result.score).in(options.model.path));
    if (otherScorer)
      GIST_TRY(otherScorer->score(made.sample, result.against.emplace())
                   .in(options.against.path));
    scored.push_back(std::move(result));
    progress.advance();
  }
  return {};
}

void TaskEvaluation::printJson() const {
  nlohmann::json list = nlohmann::json::array(),
                 samples = nlohmann::json::array();
  for (const tasks::TaskSummary &summary : tasks::summarise(scored))
    list.push_back(tasks::toJson(summary, options.confidence));
  for (const tasks::ScoredSample &sample : scored)
    samples.push_back(tasks::toJson(sample));
  nlohmann::json json = {{"module", options.model.path},
                         {"length", options.samples.length},
                         {"seed", options.samples.seed},
                         {"confidence", options.confidence},
                         {"kv_bytes", runner.session->memoryUse().state},
                         {"tasks", list},
                         {"samples", samples}};
  if (other) {
    json["against"] = options.against.path;
    json["against_kv_bytes"] = other->session->memoryUse().state;
  }
  std::printf("%s\n",
              json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
                  .c_str());
}

void TaskEvaluation::printText() const {
  tasks::print(tasks::summarise(scored), options.confidence);
  std::printf("KV cache  %s",
              sizeText(runner.session->memoryUse().state).c_str());
  if (other)
    std::printf(", the other %s",
                sizeText(other->session->memoryUse().state).c_str());
  std::printf("\n");
}

Status TaskEvaluation::run() {
  std::vector<const Task *> wanted;
  GIST_TRY(findTasks(options.tasks, wanted));
  if (!options.written.empty())
    GIST_TRY(checkWritable(options.written));
  GIST_TRY(open());
  if (!options.written.empty())
    return write(wanted);
  GIST_TRY(ask(wanted));
  if (options.json)
    printJson();
  else
    printText();
  return runner.finish();
}

Status run::runTasks(const TaskOptions &options) {
  return TaskEvaluation(options).run();
}

void run::addTaskOptions(CLI::App &command, TaskOptions &options) {
  command
      .add_option("--tasks", options.tasks,
                  "Ask questions with known answers instead: all, or some of " +
                      nameAll())
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  addSetting(command, "--samples", options.count, "N", "Samples of each task")
      ->check(CLI::Range(size_t{1}, size_t{1} << 20));
  addSetting(command, "--length", options.samples.length, "N",
             "Tokens of a sample with its answer")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30));
  addSetting(command, "--confidence", options.confidence,
             "Of the intervals: Wilson's of shares, Student's of means")
      ->check(CLI::Range(0.5, 0.9999));
  command
      .add_option("--seconds", options.seconds,
                  "Ask no more after this time; 0: no limit. Samples of all "
                  "tasks take turns, so each task has about as many")
      ->check(CLI::NonNegativeNumber);
  addSetting(command, "--write-samples", options.written, "FILE",
             "Write the samples to FILE, one line of JSON each, and ask "
             "no model");
}
