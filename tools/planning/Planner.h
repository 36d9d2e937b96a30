//===- Planner.h - Searches the plan that keeps a contract ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Losses of heads measured alone are added up, and the cheapest choices within
// the budgets follow (tools/planning/Solver.h). What heads lose together is
// measured; budgets are corrected until the measured loss is what is allowed.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_PLANNER_H
#define GIST_TOOLS_PLANNING_PLANNER_H

#include "tools/planning/Calibration.h"
#include "tools/planning/Contract.h"
#include "tools/planning/Solver.h"
#include "tools/running/Progress.h"

#include <map>
#include <optional>

namespace gist::plan {

enum class HeadKinds { All, Windows, Representatives };

struct PlannerOptions {
  Promise promise;
  /// The confidence with which the promise has to hold on other texts.
  double confidence = 0.9;
  HeadKinds kinds = HeadKinds::All;
  int rounds = 0; ///< in which every head is measured again, in the plan
  int tries = 24; ///< plans with less work in some heads, at the end
  /// The loss of a head is taken to be at least this share of its divergence:
  /// on few tokens, chance would be taken for a gain.
  double caution = 0;
};

class Planner {
public:
  /// All of these outlive this. The search ends when the limit does, with the
  /// best plan so far; `trials` keeps what was measured.
  Planner(const PlannerOptions &options, const Calibration &calibration,
          ProbePool &pool, run::Limit &limit, Trials &trials)
      : options(options), calibration(calibration), pool(pool), limit(limit) {
    terms.trials = &trials;
  }

  /// Fails if the calibration is of another model.
  Status check() const;

  /// Texts that plans are measured on; empty: those of the calibration.
  std::vector<std::string> texts;
  /// Questions that plans are measured with.
  TaskTerms tasks;
  /// Goes on from this plan instead of a search, if it keeps the contract.
  /// Rooms of clusters are chosen anew.
  std::optional<Plan> start;
  /// Tokens that are measured after the search, for which time is kept.
  size_t tokensAfter = 0;
  /// As Contract::tokensOfTerm.
  void measureTermsOn(int64_t tokens) { terms.tokensOfTerm = tokens; }

  /// False: the limit ended the search.
  bool isComplete() const { return complete; }
  /// Whether a plan with less work than the model as it is was found.
  bool hasPlan() const { return !best.choices.empty() && best.work < 1; }
  size_t countTrials() const { return trials.size(); }

  /// The plan, and what it was measured to lose on the calibration's texts. A
  /// search that ended before it found one gives that of the model as it is.
  Status solve(const std::vector<int64_t> &lengths, Plan &plan,
               Measurement &measured);

  int64_t context() const { return pool.first().module().context; }
  const Contract &contract() const { return terms; }
  /// By the sum of heads measured alone, at the longest sequences.
  double predictedWork() const { return totalWork(heads, best.choices); }

private:
  using Choices = std::vector<size_t>;
  /// A plan that was measured.
  struct Trial {
    Choices choices;
    Measurement measured;
    double work = 0;  ///< relative, at the longest sequences
    double share = 0; ///< the largest spent share of an allowance
  };

  /// The length whose work is to be least.
  int64_t longest() const;
  void collectOptions();
  double workAt(const std::vector<HeadRun> &runs, int64_t tokens) const;
  double spend(const std::vector<HeadRun> &runs, const Term &term) const;
  bool isAllowed(const HeadChoice &choice) const;
  Plan makePlan(const Choices &choices) const;
  Status measure(const Choices &choices, Trial &trial);
  Status search();
  /// Options of every head next to what it does in a plan, with what they
  /// change there.
  Status measureNeighbours(const Trial &start,
                           std::vector<std::vector<HeadOption>> &moves,
                           std::vector<std::vector<size_t>> &options);
  Status refine();
  /// A head with less work.
  struct Move {
    size_t head, option;
    double saved, spent; ///< of work, and of what is allowed
  };
  /// Those from the best plan so far, the best bargains first, one for each
  /// head.
  std::vector<Move> collectMoves() const;
  Status tryMoves();
  /// The options that make up a plan.
  Status findChoices(const Plan &plan, Choices &choices) const;
  Status giveRoom(Plan &plan, Measurement &measured);
  Status measureDense();
  Status searchAll();
  /// Plans that a search measures, about.
  size_t expectTrials() const;
  double limitOf(size_t term) const {
    return options.promise.allowance(terms.terms()[term].kind);
  }
  /// The loss of a plan in a term, as its bound on other texts.
  double judge(const Measurement &measured, size_t term) const {
    return terms.boundOfOthers(measured, term, options.confidence);
  }

  PlannerOptions options;
  const Calibration &calibration;
  ProbePool &pool;
  run::Limit &limit;
  Contract terms;
  Progress *progress = nullptr;
  bool complete = false;
  bool asksAlways = false; ///< questions, of plans that lose too much as well
  double denseSeconds = 0; ///< of one measurement; 0: it was known
  std::vector<std::vector<HeadOption>> heads;
  std::vector<std::vector<HeadChoice>> choicesOf; ///< as `heads`
  std::map<Choices, Trial> trials;                ///< all so far
  Trial best; ///< the least work that keeps the contract
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_PLANNER_H
