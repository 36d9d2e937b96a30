//===- Solver.h - The cheapest choices within budgets -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A plan is made of places: a head, the kind of a layer, a weight. Each has
// options; each option costs some work and spends something of every budget (a
// budget is what one text may lose in one respect). What is spent adds up over
// places. The cheapest options within all budgets are a knapsack with several
// weights: prices on the budgets turn it into a choice per place, and the
// prices are searched.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_SOLVER_H
#define GIST_TOOLS_PLANNING_SOLVER_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gist {

struct PlaceOption {
  double work = 0;
  std::vector<double> spends = {}; ///< of each budget; may be negative
  /// More work, by the state of the place around this one; infinite where this
  /// option is not to be had then. A layer that is left out computes nothing in
  /// its heads. Empty: nothing depends on it.
  std::vector<double> inner = {};
  size_t state = 0; ///< for places inside of this one
};

struct Place {
  /// The first option must spend nothing and be to be had in every state, so
  /// that there is always an answer.
  std::vector<PlaceOption> options;
  /// The place around this one, which is in no place itself and comes before
  /// it.
  size_t around = SIZE_MAX;
};

using Places = std::vector<Place>;

/// For each place the number of an option. Budgets are positive. The same input
/// gives the same answer.
std::vector<size_t> chooseOptions(const Places &places,
                                  const std::vector<double> &budgets);

/// The largest share of a budget that the choices spend.
double largestShare(const Places &places, const std::vector<size_t> &choices,
                    const std::vector<double> &budgets);

double totalWork(const Places &places, const std::vector<size_t> &choices);

} // namespace gist

#endif // GIST_TOOLS_PLANNING_SOLVER_H
