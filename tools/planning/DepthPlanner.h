//===- DepthPlanner.h - Searches which layers a prompt needs ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every kind of every layer is measured alone, and so is a tail from every
// layer on. Losses are added up, and the cheapest kinds within the budgets
// follow (Solver.h), for each tail. What they lose together, with maps that
// were fitted together, is measured, and each budget is corrected by it.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_DEPTHPLANNER_H
#define GIST_TOOLS_PLANNING_DEPTHPLANNER_H

#include "tools/planning/Contract.h"
#include "tools/planning/DepthFit.h"
#include "tools/planning/Solver.h"

namespace gist::plan {

struct DepthSearch {
  double confidence = 0.9;
  int64_t prompt = 2048; ///< tokens, that work is counted for
  int tries = 8;         ///< plans that are fitted and measured together
  /// Thin layers have one of so many of their neurons.
  std::vector<int64_t> shares = {2, 4};
};

/// A plan with its maps, and what it was measured to lose.
struct FoundDepths {
  DepthPlan plan;
  MapSet maps;
  Measurement measured;
  double work = 1; ///< of a prompt, relative to the model as it is
};

/// The work of a prompt of so many tokens, relative to the model as it is:
/// multiply-adds of linear layers, maps and attention.
double countWork(const DepthModel &model, const DepthPlan &plan,
                 int64_t prompt);

/// What a session does with prompts now.
Attempt tryDepths(bool isWhole);

class DepthPlanner {
public:
  /// All of these outlive this. Plans are measured by `terms`, which has texts
  /// and perhaps questions, single kinds by `kinds`, which has the same terms
  /// and perhaps fewer questions.
  DepthPlanner(const DepthSearch &options, ProbePool &pool, DepthModel &model,
               DepthFitter &fitter, Contract &kinds, Contract &terms,
               run::Limit &limit)
      : options(options), pool(pool), model(model), fitter(fitter),
        kinds(kinds), terms(terms), limit(limit) {}

  /// Measures each kind of each layer alone. Kinds that lose far more than
  /// `loosest` allows are left out.
  Status measureKinds(const Promise &loosest);
  /// The least work that keeps the promise; without any layer left out where
  /// nothing does, or where the time was over before. May be called for several
  /// promises.
  Status solve(const Promise &promise, FoundDepths &found);

private:
  /// One change of the model as it is.
  struct Choice {
    size_t layer;
    DepthChoice depth;
    MapSet maps;
    std::vector<double> spends; ///< of each term; empty: not measured
  };

  DepthPlan planOf(const Choice &choice) const;
  void collectChoices();
  Status measureAlone();
  bool isHopeless(const Choice &choice) const;
  std::vector<double> spendsOf(const Measurement &measured) const;
  /// What the kinds of a plan spend alone, summed up.
  std::vector<double> addSpends(const DepthPlan &plan) const;
  using IsKept = std::function<bool(const Measurement &texts)>;
  /// Questions are asked where texts are kept.
  Status measure(const Contract &by, const DepthPlan &plan, const MapSet &maps,
                 const IsKept &isKept, Measurement &result);
  /// The plan with the least work whose sum of losses is within the budgets.
  DepthPlan choose(const std::vector<double> &budgets, MapSet &maps) const;
  /// What each kind spends alone, layer by layer.
  void printAlone() const;
  /// What is lost of each term's allowance, where it was measured.
  struct Shares {
    std::vector<double> terms;
    size_t worst = 0;
    double largest() const { return terms.empty() ? 0 : terms[worst]; }
  };
  Status tryPlan(const DepthPlan &plan, MapSet maps, Shares &shares);
  void judge(const Measurement &measured, Shares &shares) const;
  Status search();
  /// The largest part of what any term may lose.
  double shareOf(const std::vector<double> &spends) const;
  double limitOf(size_t term) const {
    return promise.allowance(terms.terms()[term].kind);
  }

  DepthSearch options;
  Promise promise;
  ProbePool &pool;
  DepthModel &model;
  DepthFitter &fitter;
  Contract &kinds, &terms;
  run::Limit &limit;
  std::vector<Choice> choices;
  FoundDepths best;
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_DEPTHPLANNER_H
