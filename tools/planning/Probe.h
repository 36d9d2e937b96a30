//===- Probe.h - A model with a plan, on a text -----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_PROBE_H
#define GIST_TOOLS_PLANNING_PROBE_H

#include "passes/Plan/File/Plan.h"
#include "passes/Plan/File/PlannedModule.h"
#include "tools/running/Limit.h"
#include "tools/running/Observer.h"
#include "tools/running/Options.h"

#include <functional>
#include <map>
#include <optional>

namespace gist::plan {

/// What one pass over a sequence gave.
struct ProbeRun {
  /// -log p of each token; nothing predicts the first, which has 0.
  std::vector<float> losses;
  /// Up to each checkpoint, by layer and KV head.
  std::vector<std::vector<HeadWork>> work;
  std::vector<std::vector<double>> clusters;
  /// Of an encoder: a text's embedding, and multiply-adds of scores, values and
  /// selection relative to dense attention.
  std::vector<float> embedding;
  double attention = 0;
};

/// A session in which any plan can be tried.
class Prober {
public:
  /// `hasHeads`: the module is for trying plans of heads, or it is an encoder,
  /// in which each head attends to means of clusters of its keys. How coarse
  /// they are is a tau, which is a weight.
  Status open(const run::ModelOptions &options, bool hasHeads = true);

  /// Predicts `tokens` with a plan. Checkpoints ascend, up to their number.
  /// Tokens before `firstCounted` are read and not predicted, which takes less
  /// time: their losses are 0.
  Status run(const Plan &plan, std::span<const int32_t> tokens,
             std::span<const int64_t> checkpoints, ProbeRun &result,
             size_t firstCounted = 1);

  /// Predicts `tokens` as the session is now, from its start. Tokens before
  /// `firstCounted` are a prompt.
  Status predict(std::span<const int32_t> tokens, size_t firstCounted,
                 std::vector<float> &losses);

  /// Embeds a text. `taus` are those of all layers' heads; 0 is dense.
  Status embed(std::span<const double> taus, std::span<const int32_t> tokens,
               ProbeRun &result);
  /// Heads with a tau; 0: a decoder's module.
  size_t countTaus() const { return tauWeights.size() * tausOfLayer; }
  size_t tausPerLayer() const { return tausOfLayer; }

  /// Gives what the module shows of each call of a sequence with a plan, with
  /// the tokens before it and its own.
  using Watch = std::function<void(const run::Observer::Shown &shown,
                                   size_t past, size_t count)>;
  Status observe(const Plan &plan, std::span<const int32_t> tokens,
                 const Watch &watch);

  /// A run that is not done when this is over fails.
  void stopAt(const run::Limit *when) { limit = when; }

  const PlannedModule &module() const { return planned; }
  run::Runner &model() { return runner; }

private:
  /// Forgets every token and does as the plan says from now on.
  Status begin(const Plan &plan, std::vector<float> &table);
  void afterCall(const Session &session, int64_t before, int64_t tokens);
  Status findTaus(const std::string &path);

  run::Runner runner;
  std::vector<std::string> tauWeights; ///< of an encoder, by layer
  size_t tausOfLayer = 0;
  PlannedModule planned;
  const run::Limit *limit = nullptr;
  // Of the run at hand.
  std::optional<WorkMeter> meter;
  std::span<const int64_t> checkpoints;
  ProbeRun current;
};

/// Several sessions that work at once.
class ProbePool {
public:
  Status open(const run::ModelOptions &options, unsigned sessions,
              bool hasHeads = true);

  /// Runs jobs 0 ... count - 1, each in one session. Stops at an error, and
  /// returns that of the first job that has one.
  Status forEach(size_t count,
                 const std::function<Status(Prober &prober, size_t job)> &job);

  void stopAt(const run::Limit &limit) {
    for (auto &prober : probers)
      prober->stopAt(&limit);
  }

  Prober &first() { return *probers.front(); }

private:
  std::vector<std::unique_ptr<Prober>> probers;
};

/// Whether a module gives embeddings alone.
bool isEncoder(const Session &session);

/// The plan in which all heads are dense; of a module without heads it is
/// empty.
Plan makeDense(const PlannedModule &module);

/// Reads a text and appends its tokens to what the model expects before any.
Status readTokens(Prober &prober, const std::string &path,
                  std::vector<int32_t> &tokens);

/// The first half of a sequence of `count` tokens from `begin` on, twice.
std::vector<int32_t> repeatHalf(std::span<const int32_t> tokens, size_t begin,
                                size_t count);

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_PROBE_H
