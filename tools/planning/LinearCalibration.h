//===- LinearCalibration.h - What linear layers could do without *- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One pass over a text takes the second moments of the rows that linear layers
// read. From them come, for each: a basis, its own or the one of the layer
// before where that still fits; weights in few bits, rounded with compensation;
// and how much either changes what the layer computes.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_LINEARCALIBRATION_H
#define GIST_TOOLS_PLANNING_LINEARCALIBRATION_H

#include "passes/Import/Files/ModelSource.h"
#include "runtime/session/Session.h"
#include "tools/planning/LinearMoments.h"

#include <functional>
#include <map>
#include <optional>

namespace gist::plan {

/// The error of a linear layer with a weight in `bits` bits.
struct RoundingResult {
  int64_t bytes = 0;
  double nearest = 0; ///< tr(E S E^T), rounded to the nearest
  /// The same, rounded with compensation; 8 bits need none.
  double compensated = 0;
  /// By k: the error that is left when the part inside a subspace is corrected.
  std::map<int64_t, double> corrected;
};

struct WeightResult {
  std::string name;
  int64_t rows = 0, columns = 0;
  int64_t bytes = 0;                     ///< as stored
  double energy = 0;                     ///< tr(W S W^T)
  std::map<int, RoundingResult> rounded; ///< by bits
};

struct InputResult {
  std::string name; ///< "3.qkv", or "head"
  int64_t size = 0;
  std::vector<WeightResult> weights;
  std::map<int64_t, double>
      captured; ///< share of the energy in the basis, by k
  /// How far the model's predictions move with these weights in `probedBits`
  /// bits, in nats; of the head, with its first rows exact, by their number.
  int probedBits = 0;
  double divergence = 0;
  std::map<int64_t, double> exactRows;
  bool isInherited = false; ///< the basis is that of the layer before
  /// How much less energy the basis of the layer before captures here than
  /// where it was made: the cost of inheriting it; empty in a first layer.
  std::optional<double> inheritanceLoss;
  /// By k, how many rows have a residual of less than (i + 1) / 20.
  std::map<int64_t, std::vector<int64_t>> residuals;
};

struct CalibrationOptions {
  bool isOfHeadAlone = false;
  /// Whether the ranges of a head's blocks are fitted to the rows that it reads
  /// once more: a few per cent of the error, and most of the time.
  bool refitsRanges = true;
  int64_t window = 512;
  int64_t maxTokens = 16384;
  /// Bits of rounded weights; only formats smaller than the stored one are
  /// tried.
  std::vector<int> bits = {2, 3, 4};
  std::vector<int> headBits = {3, 4, 8};
  int64_t maxK = 128; ///< 0: no bases
  /// A basis is inherited where it captures at most this much less energy than
  /// in the layer that it was made for; 0 makes every basis fresh.
  double inheritance = 0.02;
  /// Tokens on which predictions are compared; 0: they are not.
  int64_t probeTokens = 256;
  /// Tokens of the text whose residuals are counted.
  int64_t residualTokens = 1024;
};

struct LinearCalibration {
  int64_t tokens = 0;
  int64_t decompositions = 0; ///< eigen-decompositions made
  std::vector<InputResult> inputs;

  std::string print() const;
};

/// Says how far work has come: what is done, and how much of it.
using LinearProgress =
    std::function<void(const char *what, size_t done, size_t of)>;

/// A line on a terminal, rewritten as work goes on; a log gets one line at the
/// end of each step.
LinearProgress showLinearProgress();

/// Calibrates the linear layers of `session`'s module, which has an entry
/// `observe`, with the weights of `model`. Bases and rounded weights are
/// written to `path` as passes/Plan/File/LinearWeights.h says.
Status calibrateLinears(Session &session, const ModelSource &model,
                        const std::vector<int32_t> &tokens,
                        const CalibrationOptions &options,
                        const std::string &path, const LinearProgress &progress,
                        LinearCalibration &result);

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_LINEARCALIBRATION_H
