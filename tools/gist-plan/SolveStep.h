//===- SolveStep.h - The search for a plan, as a step -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_PLAN_SOLVESTEP_H
#define GIST_TOOLS_GIST_PLAN_SOLVESTEP_H

#include "tools/planning/Planner.h"

namespace gist::plan {

/// The options of a search by `gist-plan solve` or `gist-plan auto`.
struct SolveOptions {
  run::ModelOptions model;
  PlannerOptions planner;
  std::string calibration, output;
  std::string start;              ///< a plan to go on from; empty: none
  std::vector<std::string> texts; ///< empty: those of the calibration
  std::vector<std::string> heldOut;
  std::vector<int64_t> lengths; ///< empty: up to the context
  int64_t tokensOfTerm = 4096;  ///< as Contract::tokensOfTerm
  /// Questions of all tasks to search with, and of each task to judge by; 0:
  /// none. Samples of the search and those of the judgement have other seeds.
  size_t searchSamples = 36, heldOutSamples = 8;
  bool judgesEach = true; ///< false: the latter are of all tasks together
  uint64_t seed = 1;
  bool asksForTasks = false; ///< by name, and not by default
  unsigned sessions = 1;
  double seconds = 0;       ///< after which the best plan so far is the plan
  bool keepsTrials = false; ///< also when the search is done
};

/// Searches a plan and writes it. What was measured is in OUTPUT.partial while
/// the search is not done. A limit that ends before a plan is found is an
/// error, unless `hasPlan` is there to be told.
Status runSolve(const SolveOptions &options, bool *hasPlan = nullptr);

} // namespace gist::plan

#endif // GIST_TOOLS_GIST_PLAN_SOLVESTEP_H
