//===- Scorer.h - What a model answers --------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_TASKS_SCORER_H
#define GIST_TOOLS_TASKS_SCORER_H

#include "tools/running/Options.h"
#include "tools/tasks/Sample.h"

#include <memory>

namespace gist::tasks {

/// How a model did on one sample.
struct Score {
  double logLikelihood = 0; ///< of the right answers' tokens, nats
  size_t tokens = 0;        ///< of the right answers
  size_t asked = 0, found = 0;
  std::vector<std::string> written; ///< for each turn, without its line's end

  bool isRight() const { return found == asked; }
  /// Mean of the tokens of the right answers.
  double meanLog() const { return logLikelihood / static_cast<double>(tokens); }
};

/// Asks a model. The most likely tokens are its answer, up to the end of a
/// line; an answer is found when what it wrote contains it.
class Scorer {
public:
  /// `runner` outlives this.
  explicit Scorer(run::Runner &runner) : runner(runner) {}

  Status score(const Sample &sample, Score &score);

private:
  Status answer(const TurnTokens &turn, Score &score,
                std::vector<int32_t> &written);
  Status writeOn(Session &session, int32_t token, size_t most,
                 std::vector<int32_t> &written);
  bool isEnd(int32_t token) const;
  Status spare(Session *&result);

  run::Runner &runner;
  /// Goes on with the right answer where the model wrote another.
  std::unique_ptr<Session> other;
  /// The one of the two sessions that has seen the right answers so far.
  Session *current = nullptr;
};

/// How many of the answers a text contains, small and capital letters alike.
size_t countFound(std::string_view text,
                  const std::vector<std::string> &answers);

} // namespace gist::tasks

#endif // GIST_TOOLS_TASKS_SCORER_H
