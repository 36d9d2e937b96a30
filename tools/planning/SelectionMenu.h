//===- SelectionMenu.h - Which keys of an encoder may be one ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An encoder sees a text at once, and every head may attend to means of
// clusters of its keys. A place for each head, with the taus that were measured
// alone.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_SELECTIONMENU_H
#define GIST_TOOLS_PLANNING_SELECTIONMENU_H

#include "passes/Plan/File/SelectionPlan.h"
#include "tools/planning/Contract.h"
#include "tools/planning/Solver.h"

namespace gist::plan {

class SelectionMenu {
public:
  SelectionMenu(size_t heads, std::vector<double> taus)
      : taus(std::move(taus)), options(heads) {}

  /// Measures each head alone with one tau after the other, as far as there is
  /// time. `terms` knows the model as it is.
  Status measure(ProbePool &pool, const Contract &terms,
                 const run::Limit &limit);

  /// Work is that of attention, relative to that of the model as it is.
  const Places &places() const { return options; }
  /// The taus of all heads; 0 is dense.
  std::vector<double> makePlan(std::span<const size_t> choices) const;

private:
  std::vector<double> taus;
  Places options;                             ///< the first is dense
  std::vector<std::vector<double>> tausThere; ///< as the options
};

/// The same as a plan's file has it, with so many heads in a layer.
SelectionPlan makeSelections(std::span<const double> taus, size_t heads);

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_SELECTIONMENU_H
