//===- LinearSolve.h - Which linear layers take how many bits ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_LINEARSOLVE_H
#define GIST_TOOLS_PLANNING_LINEARSOLVE_H

#include "passes/Plan/File/LinearPlan.h"

#include <functional>

namespace gist::plan {

/// One way to do the linear layers of a group.
struct LinearOption {
  LinearChoice choice;
  int64_t bytes = 0; ///< read for a token
  double error = 0;  ///< of what the layers compute, relative to its size
};

/// The ways of one group, the stored weights first.
struct LinearMenu {
  int64_t layer = -1; ///< -1 is the head
  LinearGroup group = LinearGroup::Qkv;
  double sensitivity = 1; ///< what an error costs here
  std::vector<LinearOption> options;
};

/// Reads the output of `gist-plan linears` (LinearMenus.cpp).
Status parseMenus(std::string_view text, std::vector<LinearMenu> &menus);
Status readMenus(const std::string &path, std::vector<LinearMenu> &menus);

/// The bytes that the options numbered `chosen` read.
int64_t countBytes(const std::vector<LinearMenu> &menus,
                   const std::vector<size_t> &chosen);

/// What loses least and reads at most `bytes` (Solver.h); refuses fewer bytes
/// than the smallest options read.
Status chooseWithin(const std::vector<LinearMenu> &menus, int64_t bytes,
                    std::vector<size_t> &chosen);

/// The predicted loss of the options numbered `chosen`, in nats, if errors add
/// up.
double predictLoss(const std::vector<LinearMenu> &menus,
                   const std::vector<size_t> &chosen);

/// Measures the loss of a plan with these options, in nats.
using MeasureLoss =
    std::function<Status(const std::vector<size_t> &chosen, double &loss)>;

/// The fewest bytes that are measured to lose at most `limit`: choices by their
/// predicted loss are tried, beginning with the limit, until two neighbours
/// differ by little more than a thousandth of the bytes, in at most `tries`
/// measurements of different choices. The stored weights lose nothing, so there
/// is always one.
Status chooseForLoss(const std::vector<LinearMenu> &menus, double limit,
                     int tries, const MeasureLoss &measure,
                     std::vector<size_t> &chosen);

/// The plan with the options numbered `chosen`.
LinearPlan makePlan(const std::vector<LinearMenu> &menus,
                    const std::vector<size_t> &chosen,
                    const std::string &bases);

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_LINEARSOLVE_H
