//===- Task.h - Questions whose answers are known ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tasks in the manner of RULER: a long text with something in it to find,
// follow or count, and a question at its end. They are made here, of any
// length, and need no files; the same seed makes the same text everywhere.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_TASKS_TASK_H
#define GIST_TOOLS_TASKS_TASK_H

#include "tools/tasks/Filler.h"
#include "tools/tasks/Random.h"

#include <span>
#include <string>
#include <vector>

namespace gist::tasks {

/// A text, a question after it up to the place where its answer begins, and the
/// answer. The model reads the text before it knows the question.
struct Turn {
  std::string text, question;
  std::string target;               ///< the right answer as it goes on
  std::vector<std::string> answers; ///< what an answer must contain
};

/// One or more turns; each goes on where the one before was answered rightly.
using Turns = std::vector<Turn>;

struct Task {
  const char *name;
  const char *summary;
  /// Writes a sample around `units` pieces of what is not asked for: sentences,
  /// words or pairs. The more of them, the longer it is.
  Turns (*make)(Random &random, const Filler &filler, size_t units);
};

std::span<const Task> allTasks();
/// Null if there is no such task.
const Task *findTask(std::string_view name);

// One function for each, in files by family.
Turns makeNeedle(Random &, const Filler &, size_t units);
Turns makeNeedleOfKeys(Random &, const Filler &, size_t units);
Turns makeNeedleValues(Random &, const Filler &, size_t units);
Turns makeNeedleQueries(Random &, const Filler &, size_t units);
Turns makeTurns(Random &, const Filler &, size_t units);
Turns makeVariables(Random &, const Filler &, size_t units);
Turns makeCommonWords(Random &, const Filler &, size_t units);
Turns makeFrequentWords(Random &, const Filler &, size_t units);
Turns makeKeyValues(Random &, const Filler &, size_t units);

/// "a, b and c", or with `last` ", " "a, b, c".
std::string join(const std::vector<std::string> &parts,
                 const char *last = ", ");

} // namespace gist::tasks

#endif // GIST_TOOLS_TASKS_TASK_H
