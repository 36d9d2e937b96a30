//===- Calibration.h - What each head costs and loses alone -----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The outcome of `gist-plan calibrate`, kept in a JSON file. A sequence is a
// piece of text and the same piece again: its first copy is text as it comes,
// its second asks what the model remembers. Losses and work are kept up to
// checkpoints, N, N/2, N/4 and so on tokens, so that they are known for shorter
// contexts too.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_CALIBRATION_H
#define GIST_TOOLS_PLANNING_CALIBRATION_H

#include "passes/Plan/File/Plan.h"
#include "passes/Plan/File/Work.h"
#include "tools/planning/MeanLoss.h"

#include <map>
#include <tuple>

namespace gist {

/// One sequence with one head changed.
struct HeadRun {
  /// Between checkpoints: the sum of -log p over the tokens.
  std::vector<double> losses;
  /// Between checkpoints: the sum of divergenceOf() over the tokens.
  std::vector<double> divergences;
  /// Up to each checkpoint.
  std::vector<HeadWork> work;
  /// At each checkpoint.
  std::vector<double> clusters;
};

struct CalibrationText {
  std::string path;
  std::string hash; ///< of its tokens, in hexadecimal
  /// Losses of the model as it is, or 0 where losses are relative to it.
  std::vector<double> dense;
};

struct Calibration {
  /// A head by layer and number, and a candidate by its place in the list.
  using Key = std::tuple<size_t, size_t, size_t>;

  std::string model;
  size_t layers = 0, kvHeads = 0;
  int64_t block = 0;
  int64_t tokens = 0; ///< of a sequence, both copies together
  std::vector<HeadChoice> candidates;
  std::vector<CalibrationText> texts;
  /// One run for each text. A candidate that is missing was not measured.
  std::map<Key, std::vector<HeadRun>> runs;

  /// N, N/2, ... in ascending order; the last but one ends the first copy.
  std::vector<int64_t> checkpoints() const;

  /// How much more the head loses per token than the model as it is, over the
  /// first copy up to a checkpoint, or over the second copy.
  MeanLoss firstCopyLoss(const HeadRun &run, size_t text,
                         size_t checkpoint) const;
  MeanLoss secondCopyLoss(const HeadRun &run, size_t text) const;
};

/// Checkpoints of a sequence of `tokens`.
std::vector<int64_t> makeCheckpoints(int64_t tokens);

std::string printCalibration(const Calibration &calibration);
Status parseCalibration(std::string_view text, Calibration &calibration);
Status readCalibration(const std::string &path, Calibration &calibration);

/// Reads what heads may do from a list of heads in a JSON file, as a plan has
/// them. Dense is always a choice, and not in the list.
Status readCandidates(const std::string &path,
                      std::vector<HeadChoice> &candidates);

} // namespace gist

#endif // GIST_TOOLS_PLANNING_CALIBRATION_H
