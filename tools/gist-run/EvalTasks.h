//===- EvalTasks.h - gist-run eval --tasks ----------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_RUN_EVALTASKS_H
#define GIST_TOOLS_GIST_RUN_EVALTASKS_H

#include "tools/running/Pair.h"
#include "tools/tasks/Sample.h"

namespace gist::run {

struct TaskOptions {
  ModelOptions model;
  AgainstOptions against;
  std::string text;               ///< text whose sentences are filler, or empty
  std::vector<std::string> tasks; ///< names, or "all"
  tasks::SampleOptions samples;
  size_t count = 20; ///< samples of each task
  double confidence = 0.95;
  double seconds = 0;  ///< time limit for starting samples; 0: none
  std::string written; ///< where samples go instead of to the model, or empty
  bool json = false;
};

/// Adds --tasks and what belongs to it.
void addTaskOptions(CLI::App &command, TaskOptions &options);

/// Asks one module or two the same questions and tells how they did.
Status runTasks(const TaskOptions &options);

} // namespace gist::run

#endif // GIST_TOOLS_GIST_RUN_EVALTASKS_H
