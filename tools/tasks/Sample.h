//===- Sample.h - One question of a wanted length ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_TASKS_SAMPLE_H
#define GIST_TOOLS_TASKS_SAMPLE_H

#include "runtime/support/Status.h"
#include "runtime/text/Tokenizer.h"
#include "tools/tasks/Task.h"

namespace gist::tasks {

/// Which samples: each is made from the task's name, the seed and its number.
struct SampleOptions {
  uint64_t seed = 1;
  /// Tokens of a sample with its answers and some to write more than they have.
  int64_t length = 2048;
};

/// Tokens that a model may write beyond those of the right answer.
inline constexpr size_t kMoreTokens = 16;

/// A turn as tokens. The first one's text begins with what the model expects
/// before any.
struct TurnTokens {
  std::vector<int32_t> text, question, target;
};

struct Sample {
  const Task *task = nullptr;
  size_t number = 0;
  Turns turns;
  std::vector<TurnTokens> parts; ///< as `turns`

  /// Of the turns with their right answers.
  size_t countTokens() const;
  /// The same one after the other, and for each whether it is of an answer.
  std::vector<int32_t> join(std::vector<bool> *areAnswers = nullptr) const;
};

/// The longest sample within the length, or an error.
Status makeSample(const Tokenizer &tokenizer, const Task &task,
                  const Filler &filler, const SampleOptions &options,
                  size_t number, Sample &sample);

/// One line of JSON, for programs that ask the same of other models.
std::string printSample(const Sample &sample, const SampleOptions &options);

} // namespace gist::tasks

#endif // GIST_TOOLS_TASKS_SAMPLE_H
