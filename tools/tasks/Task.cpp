//===- Task.cpp - Questions whose answers are known -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tasks/Task.h"

using namespace gist::tasks;

static constexpr Task kTasks[] = {
    {"needle", "one number in a long text", makeNeedle},
    {"needle-keys", "one of four numbers, by its name", makeNeedleOfKeys},
    {"needle-values", "four numbers of one name", makeNeedleValues},
    {"needle-queries", "four names at once", makeNeedleQueries},
    {"turns", "four questions, one after the other", makeTurns},
    {"variables", "which variables have a value, over four steps",
     makeVariables},
    {"common-words", "the ten most common words of a list", makeCommonWords},
    {"frequent-words", "the three most frequent of made-up words",
     makeFrequentWords},
    {"key-values", "one of many pairs", makeKeyValues},
};

std::span<const Task> gist::tasks::allTasks() { return kTasks; }

const Task *gist::tasks::findTask(std::string_view name) {
  for (const Task &task : kTasks)
    if (name == task.name)
      return &task;
  return nullptr;
}

std::string gist::tasks::join(const std::vector<std::string> &parts,
                              const char *last) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? last : ", ") + parts[i];
  return text;
}
