//===- DepthsOptions.h - Options of `gist-plan depths` ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_PLAN_DEPTHSOPTIONS_H
#define GIST_TOOLS_GIST_PLAN_DEPTHSOPTIONS_H

#include "tools/planning/DepthFit.h"
#include "tools/planning/PlanSearch.h"
#include "tools/running/Compiler.h"

namespace gist::plan {

struct DepthsOptions {
  run::ModelOptions model; ///< device and threads; its path is made
  std::string compiler, source, plan, heads, output;
  std::vector<std::string> texts, heldOut;
  SearchOptions search = {
      .promise = {}, .corrections = 2, .steps = 6, .tries = 0};
  bool isQualityGiven = false, isWindowGiven = false;
  int64_t prompt = 2048; ///< tokens
  /// Thin layers have one of so many of their neurons.
  std::vector<int64_t> shares = {2, 4};
  FitOptions fit;
  int64_t maxTokens = 65536, answer = 512, windows = 1;
  size_t kindSamples = 9, searchSamples = 18, heldOutSamples = 4;
  std::vector<double> also; ///< more qualities
  uint64_t seed = 1;
  double seconds = 0;

  /// The file of maps beside a plan.
  static std::string mapsOf(const std::string &output);
  /// "plan.json" of one more quality: "plan-1.05.json".
  static std::string nameOf(const std::string &output, double quality);
  /// All that plans are asked for, the first one `usual` unless it is given.
  /// Refuses what is not between `least` and `most`.
  Status listQualities(double usual, double least, double most,
                       std::vector<double> &qualities) const;
};

/// The command for an encoder. `module` has layers in which plans can be tried.
Status findEncoderDepths(const DepthsOptions &options,
                         const std::string &module);

} // namespace gist::plan

#endif // GIST_TOOLS_GIST_PLAN_DEPTHSOPTIONS_H
