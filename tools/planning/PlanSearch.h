//===- PlanSearch.h - Searches the plan that keeps a contract ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What options lose alone is added up, and the cheapest choices within the
// budgets follow (Solver.h). What they lose together is measured; budgets are
// corrected until the measured loss is what is allowed.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_PLANSEARCH_H
#define GIST_TOOLS_PLANNING_PLANSEARCH_H

#include "tools/planning/Contract.h"
#include "tools/planning/Solver.h"
#include "tools/running/Progress.h"

#include <map>

namespace gist::plan {

/// Places that a plan may be made of, and what all plans of them cost and
/// spend.
struct MenuVariant {
  Places places;
  double work = 0;
  std::vector<double> spends = {}; ///< of each term; empty: nothing
};

/// A plan by the numbers of its options.
struct PlanChoice {
  size_t variant = 0;
  std::vector<size_t> options;

  auto operator<=>(const PlanChoice &) const = default;
};

struct SearchOptions {
  Promise promise;
  /// The confidence with which the promise has to hold on other texts.
  double confidence = 0.9;
  /// Plans that are measured while budgets are corrected, each by what its term
  /// lost and then all by one factor.
  int corrections = 3, steps = 9;
  int tries = 24; ///< plans with less work in some places, at the end
};

class PlanSearch {
public:
  using WantsQuestions = std::function<bool(const Measurement &texts)>;
  /// Measures a plan on texts, and on questions where that is wanted.
  using Measure =
      std::function<Status(const PlanChoice &choice,
                           const WantsQuestions &wanted, Measurement &result)>;

  /// All of these outlive this. The first option of every place of the first
  /// variant is the model as it is.
  PlanSearch(const SearchOptions &options, const Contract &terms,
             const std::vector<MenuVariant> &menu, run::Limit &limit,
             Measure measure)
      : options(options), terms(terms), menu(menu), limit(limit),
        measurePlan(std::move(measure)) {}

  /// A plan that was measured.
  struct Trial {
    PlanChoice choice;
    Measurement measured = {};
    double work = 0;
    double share = 0; ///< the largest spent share of an allowance
  };

  /// Seconds that the model as it is took for one measurement; 0: not known.
  double denseSeconds = 0;

  /// Goes on from `start`, where there is one that keeps the contract, instead
  /// of a search from nothing.
  Status run(Progress &progress, const PlanChoice *start = nullptr);

  /// The least work that keeps the contract so far; the model as it is where
  /// there is nothing better.
  const Trial &best() const { return least; }
  /// The least work of the plans that spend at most this share of what is
  /// allowed and do more work, relative to the model as it is, than `above`;
  /// null: no plan was measured that does.
  const Trial *bestWithin(double share, double above) const;
  /// The plan that spends least of those that spend too much; null: none does.
  const Trial *leastBroken() const;
  /// Measures a plan that should lose so many times what another one loses.
  Status measureLess(Progress &progress, const PlanChoice &than, double times,
                     Trial &trial);
  /// Whether a plan with less work than the model as it is was found.
  bool hasPlan() const { return least.choice != none(); }
  /// Relative to the model as it is.
  double relativeWork(const Trial &trial) const {
    return trial.work / workOf(none());
  }
  /// The largest share of what is allowed that a plan was measured to lose.
  double shareOf(const Measurement &measured) const;
  /// Plans that are measured, at most.
  size_t expectTrials() const {
    return static_cast<size_t>(options.corrections + options.steps +
                               options.tries);
  }

private:
  PlanChoice none() const {
    return {0, std::vector<size_t>(menu.front().places.size())};
  }
  double workOf(const PlanChoice &choice) const;
  double predict(const PlanChoice &choice, size_t term) const;
  /// The cheapest choice whose losses add up to no more than the budgets.
  PlanChoice choose(const std::vector<double> &budgets) const;
  Status measure(const PlanChoice &choice, Trial &trial);
  double shareOf(const Measurement &measured, bool areQuestions) const;
  Status correct();
  /// A place with less work.
  struct Move {
    size_t place, option;
    double saved, spent; ///< of work, and of what is allowed
  };
  /// Makes a move. An option that is not to be had in the state of the place
  /// around it takes the cheapest state in which it is.
  void apply(const Move &move, PlanChoice &choice) const;
  /// Those from the best plan so far, the best bargains first, one for each
  /// place.
  std::vector<Move> collectMoves() const;
  Status tryMoves();
  double limitOf(size_t term) const {
    return options.promise.allowance(terms.terms()[term].kind);
  }

  SearchOptions options;
  const Contract &terms;
  const std::vector<MenuVariant> &menu;
  run::Limit &limit;
  Measure measurePlan;
  Progress *progress = nullptr;
  std::map<PlanChoice, Trial> trials; ///< all so far
  Trial least;
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_PLANSEARCH_H
