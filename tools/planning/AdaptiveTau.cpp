//===- AdaptiveTau.cpp - A threshold for each layer, by turnover ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/AdaptiveTau.h"

#include <algorithm>
#include <cmath>

using namespace gist;

/// Turnover is measured at one tau and says little about ones far from it.
static constexpr double kLargestStep = 2;

double gist::adaptTau(double tau, const SelectionCounts &counts,
                      const TauRule &rule) {
  // A tau of 0 keeps everything and stays so: no factor changes it.
  if (tau == 0 || counts.before <= 0)
    return tau;
  double turnover = counts.turnover();
  double step = turnover > 0 ? std::pow(rule.target / turnover, rule.strength)
                             : kLargestStep;
  step = std::clamp(step, 1 / kLargestStep, kLargestStep);
  return std::clamp(tau * step, rule.least, rule.most);
}
