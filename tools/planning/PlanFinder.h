//===- PlanFinder.h - From a menu to a plan that keeps a contract -*- C++ -*-=//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_PLANFINDER_H
#define GIST_TOOLS_PLANNING_PLANFINDER_H

#include "tools/planning/PlanMenu.h"

#include <optional>

namespace gist::plan {

/// A plan, and what it was measured to lose.
struct FoundPlan {
  TrialPlan plan;
  Measurement measured;
  double work = 1;  ///< predicted, relative to the model as it is
  double share = 0; ///< of what is allowed that it spends
};

class PlanFinder {
public:
  /// All of these outlive this. Plans are measured by `terms`. A search ends
  /// when the limit does, with the best plan so far.
  PlanFinder(ProbePool &pool, PlanMenu &menu, PlanTrier &trier, Contract &terms,
             run::Limit &limit)
      : pool(pool), menu(menu), trier(trier), terms(terms), limit(limit) {}

  /// Goes on from this plan of heads instead of a search, if it keeps the
  /// contract. Rooms of clusters are chosen anew.
  std::optional<Plan> start;
  /// Tokens that are measured after the search, for which time is kept.
  size_t tokensAfter = 0;

  /// The plan that takes least of a job's time and keeps the promise. A search
  /// that ended before it found one gives the model as it is. May be called for
  /// several promises.
  Status find(const SearchOptions &options, const JobTime &time,
              FoundPlan &found);

  /// Another plan of the last search's menu, which loses clearly less than
  /// `found`, or than those that lost too much where the search has no plan;
  /// false: there is none.
  bool retreat(FoundPlan &found);

  /// False: the limit ended the search.
  bool isComplete() const { return complete; }

private:
  /// Measures the model as it is, which plans are compared with.
  Status measureDense();
  /// Makes the plan that was tried.
  Status take(const PlanSearch::Trial &trial, FoundPlan &found);
  Status giveRoom(FoundPlan &found);

  ProbePool &pool;
  PlanMenu &menu;
  PlanTrier &trier;
  Contract &terms;
  run::Limit &limit;
  std::unique_ptr<PlanSearch> search; ///< the last one
  PlanChoice taken;                   ///< of it
  bool complete = false, isDenseKnown = false;
  double denseSeconds = 0; ///< of one measurement
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_PLANFINDER_H
