//===- Evaluation.h - How well a model predicts a text ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_EVALUATION_H
#define GIST_TOOLS_RUNNING_EVALUATION_H

#include "tools/running/Options.h"

#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace gist {
class ThreadPool;
} // namespace gist

namespace gist::run {

/// Sums over predicted tokens; "reference" is the module compared with.
struct Comparison {
  uint64_t count = 0;
  double nll = 0, nllSquares = 0, referenceNll = 0;
  uint64_t right = 0;       ///< the most likely token was the next one
  uint64_t equal = 0;       ///< both models find the same token most likely
  double kl = 0, klMax = 0; ///< KL(reference || model), nats
  /// |logits - reference| / |reference|, lengths of vectors.
  double error = 0, errorMax = 0;
  /// How far the reference's most likely token is ahead of its second, at most,
  /// where the models do not agree.
  double lostLead = 0;

  double meanNll() const { return nll / static_cast<double>(count); }
  /// Standard error of the mean, tokens taken as independent.
  double nllError() const {
    auto n = static_cast<double>(count);
    double variance = nllSquares / n - meanNll() * meanNll();
    return std::sqrt(std::max(0.0, variance) / n);
  }
  double perplexity() const { return std::exp(meanNll()); }
  double referencePerplexity() const {
    return std::exp(referenceNll / static_cast<double>(count));
  }
  double accuracy() const { return fraction(right); }
  double agreement() const { return fraction(equal); }
  double ratio() const { return perplexity() / referencePerplexity(); }
  double meanKl() const { return kl / static_cast<double>(count); }
  double meanError() const { return error / static_cast<double>(count); }

  /// Adds one prediction. `reference` is empty when nothing is compared.
  void add(std::span<const float> logits, std::span<const float> reference,
           int32_t next);
  /// Adds one prediction for each of `next`. Every row is summed by one thread,
  /// and rows are added in their order: the result has the same bits with any
  /// number of threads.
  void addRows(std::span<const float> logits, std::span<const float> reference,
               std::span<const int32_t> next, ThreadPool &pool);
  Comparison &operator+=(const Comparison &other);

private:
  void addDistance(std::span<const float> logits,
                   std::span<const float> reference);
  void addDivergence(std::span<const float> logits, double normalizer,
                     std::span<const float> reference, double largest,
                     int32_t next);
  double fraction(uint64_t part) const {
    return static_cast<double>(part) / static_cast<double>(count);
  }
};

/// How much a number differs from window to window.
struct Spread {
  double mean = 0, deviation = 0; ///< of a sample; 0 for a single window
};

/// Seconds that calls of a model take.
class Stopwatch {
public:
  void start() { begun = Profile::now(); }
  void stop() { total += Profile::now() - begun; }
  double seconds() const { return static_cast<double>(total) / 1e9; }

private:
  int64_t begun = 0, total = 0;
};

class Evaluator {
public:
  /// `reference` may be null. Both outlive this. Logits are summed by as many
  /// threads as `model` was opened with.
  Evaluator(Runner &model, Runner *reference);
  ~Evaluator();

  /// Predicts every token once, each with at least `window - stride` tokens
  /// before it, except at the beginning. If that is 0, the first token of a
  /// window is not predicted. One result for each window.
  Status windows(const std::vector<int32_t> &tokens, int64_t window,
                 int64_t stride, std::vector<Comparison> &results);

  /// Predicts the second copy of the first `count` tokens.
  Status recall(const std::vector<int32_t> &tokens, int64_t count,
                Comparison &result);

  /// Called after calls that took a whole sequence at once, for which
  /// ModelOptions::afterCall is not called.
  std::function<void(const Session &session, int64_t tokens)> afterWhole = {};
  /// Called with the tokens of each window, without the prefix.
  std::function<Status(std::span<const int32_t> tokens)> afterWindow = {};

  /// The time of all calls so far, without the processing of their results.
  const Stopwatch &time() const { return watch; }
  const Stopwatch &referenceTime() const { return referenceWatch; }

private:
  /// Feeds `tokens` into fresh sessions and adds the predictions of those from
  /// number `first` on.
  Status predict(std::span<const int32_t> tokens, size_t first,
                 Comparison &result);
  /// Makes the session ready for logits after token `start` of `fed`. Those of
  /// a module that only sees whole sequences are then all in `whole`.
  Status begin(Runner &runner, std::span<const int32_t> fed, size_t start,
               std::vector<uint8_t> &whole);
  /// Hands out the logits after `count` tokens of `fed` from number `from` on:
  /// those in `whole`, or what the session computes now.
  Status eachRows(Runner &runner, const std::vector<uint8_t> &whole,
                  std::span<const int32_t> fed, size_t from, size_t count,
                  const Session::RowsSink &sink);
  Stopwatch &getClock(const Runner &runner) {
    return &runner == &model ? watch : referenceWatch;
  }

  Runner &model;
  Runner *reference;
  std::unique_ptr<ThreadPool> pool;
  Stopwatch watch, referenceWatch;
};

/// The spread of `of` over the windows.
Spread spreadOf(const std::vector<Comparison> &windows,
                double (Comparison::*of)() const);

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_EVALUATION_H
