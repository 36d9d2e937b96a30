//===- AdaptiveTau.h - A threshold for each layer, by turnover --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How much of a selection changes from one layer to the next, its turnover,
// comes with every run of a cascade. Where little changes a layer may let more
// tokens go, with a larger tau; where much changes it should keep more of them
// (section 8.1 of the cascade paper).
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_ADAPTIVETAU_H
#define GIST_TOOLS_PLANNING_ADAPTIVETAU_H

#include "passes/Plan/File/SelectionCounts.h"

namespace gist {

struct TauRule {
  double target = 0.1;   ///< the turnover at which a tau stays as it is
  double strength = 0.5; ///< exponent of target over turnover; 0: none
  double least = 0.05, most = 0.6;
};

/// The tau of a layer that had `tau` and was seen to do `counts`:
/// tau (target / turnover)^strength, within the bounds. A set that did not
/// change at all gives the largest step that is taken, a factor of 2. A tau of
/// 0, which keeps every token, stays.
double adaptTau(double tau, const SelectionCounts &counts, const TauRule &rule);

} // namespace gist

#endif // GIST_TOOLS_PLANNING_ADAPTIVETAU_H
