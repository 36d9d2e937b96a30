//===- Solver.h - The cheapest choices within budgets -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Every head, layer or weight has options; each costs some work and spends
// something of every budget (a budget is what one text may lose in one
// respect). What is spent adds up over heads. The cheapest options within all
// budgets are a knapsack with several weights: prices on the budgets turn it
// into a choice per head, and the prices are searched.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_SOLVER_H
#define GIST_TOOLS_PLANNING_SOLVER_H

#include <cstddef>
#include <vector>

namespace gist {

struct HeadOption {
  double work = 0;
  std::vector<double> spends; ///< of each budget; may be negative
};

/// For each head the number of an option. The first option of a head must spend
/// nothing, so that there is always an answer. Budgets are positive. The same
/// input gives the same answer.
std::vector<size_t>
chooseOptions(const std::vector<std::vector<HeadOption>> &heads,
              const std::vector<double> &budgets);

/// The largest share of a budget that the choices spend.
double largestShare(const std::vector<std::vector<HeadOption>> &heads,
                    const std::vector<size_t> &choices,
                    const std::vector<double> &budgets);

double totalWork(const std::vector<std::vector<HeadOption>> &heads,
                 const std::vector<size_t> &choices);

} // namespace gist

#endif // GIST_TOOLS_PLANNING_SOLVER_H
