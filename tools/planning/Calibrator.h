//===- Calibrator.h - Measures every head alone -----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What each head would cost and lose if it alone did less. The sequences are a
// text and the same text again: the first half shows the perplexity, the second
// how much of the past is still found (recall).
//
// A calibration of a large model takes hours. It is written while it goes on,
// and a second call takes up where the first ended. Heads are measured with the
// cheapest candidate of each kind first, so that a calibration which ends early
// says something of every head.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_CALIBRATOR_H
#define GIST_TOOLS_PLANNING_CALIBRATOR_H

#include "tools/planning/Calibration.h"
#include "tools/planning/HeadErrors.h"
#include "tools/planning/Probe.h"
#include "tools/running/Limit.h"
#include "tools/running/Progress.h"

#include <array>
#include <chrono>
#include <mutex>

namespace gist::plan {

/// Lengths are in tokens; 0 is as long as the context.
struct CalibratorOptions {
  run::ModelOptions model;
  std::vector<std::string> texts;
  std::vector<HeadChoice> candidates; ///< of each kind the cheapest first
  std::string output;
  int64_t tokens = 0;
  unsigned sessions = 1;
  /// In nats per token.
  double negligible = 1e-5;
  /// The heads of a layer are changed at once, in one run, and each candidate
  /// of each is taken to lose as its result moves (HeadErrors.h): a few minutes
  /// where single heads take hours. The module has the entry `observe`, and
  /// candidates are windows and clusters.
  bool isByLayer = false;
  int64_t runTokens = 0; ///< of a sequence of these runs; 0: as the others
};

/// One calibration, from the first measurement to the last.
class Calibrator {
public:
  Calibrator(const CalibratorOptions &options, const run::Limit &limit)
      : options(options), limit(limit) {}

  /// Ends when the limit does, with what was measured until then in the file.
  Status run();

  /// False: the limit ended it.
  bool isComplete() const { return complete; }
  /// The number of measurements, and how many of them are in the file or
  /// needless.
  size_t countAll() const;
  size_t countDone() const { return done; }

private:
  Status prepare();
  Status resume();
  Status measureDense();
  Status measureHead(Prober &prober, size_t head, size_t candidate);
  Status measureAll();
  /// A sequence, and what heads move and do in it.
  struct Moves {
    std::vector<int32_t> tokens;
    std::vector<HeadChoice> candidates;
    std::vector<int64_t> checkpoints;
    HeadErrors::Found errors = {};
    std::vector<ProbeRun> work = {}; ///< of all heads with each candidate
    std::vector<float> dense = {};   ///< losses of each token
  };
  Status measureMoves(Moves &moves);
  Status countWork(Moves &moves);
  /// What all heads of some layers lose together, each with the candidate of
  /// least work that moves its result little, for each unit that results move:
  /// in text, and in its copy.
  Status measureCosts(Prober &prober, size_t begin, size_t end,
                      const Moves &moves, std::array<MeanLoss, 2> &costs);
  Status measureLayers();
  /// Runs a text with a plan that changes this head.
  Status measure(Prober &prober, const Plan &plan, size_t text, size_t head,
                 HeadRun &run);
  bool isNegligible(const std::vector<HeadRun> &runs) const;
  Status write();

  const CalibratorOptions &options;
  const run::Limit &limit;
  ProbePool pool;
  Calibration data;
  std::vector<std::vector<int32_t>> sequences;
  std::vector<std::vector<float>> dense; ///< losses of each token
  std::vector<int64_t> checkpoints;
  std::vector<size_t> heads; ///< that a plan may choose for
  /// By head and kind of candidate: one is good enough, so dearer ones are too.
  std::vector<std::array<bool, 4>> isEnough;
  std::mutex mutex; ///< for `data.runs`, `isEnough`, the file and the progress
  std::chrono::steady_clock::time_point written;
  Progress *progress = nullptr;
  size_t done = 0;
  bool complete = false;
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_CALIBRATOR_H
