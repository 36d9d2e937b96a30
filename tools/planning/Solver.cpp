//===- Solver.cpp - The cheapest choices within budgets -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/Solver.h"

#include <algorithm>
#include <cmath>

using namespace gist;
using Heads = std::vector<std::vector<HeadOption>>;
using Choices = std::vector<size_t>;

namespace {
class Search {
public:
  Search(const Heads &heads, const std::vector<double> &budgets)
      : heads(heads), budgets(budgets), best(heads.size(), 0),
        // Option 0 of every head spends nothing, so that a choice within the
        // budgets is always known.
        bestWork(totalWork(heads, best)) {}

  Choices run();

private:
  std::vector<double> shares(const Choices &choices) const;
  Choices chooseAt(const std::vector<double> &weights, double price) const;
  Choices chooseFor(const std::vector<double> &weights);
  void keep(Choices choices);
  void improve(Choices &choices) const;

  const Heads &heads;
  const std::vector<double> &budgets;
  Choices best;
  double bestWork;
};
} // namespace

/// What the choices spend of each budget, as a share.
std::vector<double> Search::shares(const Choices &choices) const {
  std::vector<double> result(budgets.size());
  for (size_t i = 0; i < heads.size(); ++i)
    for (size_t k = 0; k < budgets.size(); ++k)
      result[k] += heads[i][choices[i]].spends[k] / budgets[k];
  return result;
}

/// The cheapest choice of each head when budgets cost `price` by `weights`.
/// With the budgets as prices, heads do not depend on one another any more:
/// this is the Lagrangian relaxation of the choice.
Choices Search::chooseAt(const std::vector<double> &weights,
                         double price) const {
  Choices choices(heads.size(), 0);
  for (size_t i = 0; i < heads.size(); ++i) {
    double least = 0;
    for (size_t j = 0; j < heads[i].size(); ++j) {
      double spent = 0;
      for (size_t k = 0; k < budgets.size(); ++k)
        spent += weights[k] * heads[i][j].spends[k] / budgets[k];
      double cost = heads[i][j].work + price * spent;
      if (j == 0 || cost < least) {
        least = cost;
        choices[i] = j;
      }
    }
  }
  return choices;
}

/// The lowest price at which the weighted budgets hold together.
Choices Search::chooseFor(const std::vector<double> &weights) {
  auto isWithin = [&](const Choices &choices) {
    std::vector<double> spent = shares(choices);
    double sum = 0;
    for (size_t k = 0; k < spent.size(); ++k)
      sum += weights[k] * spent[k];
    return sum <= 1;
  };
  double total = 0;
  for (const std::vector<HeadOption> &options : heads)
    total += std::abs(options.front().work);
  // Prices as powers of two of the whole work: from nearly free to nearly
  // prohibitive.
  double low = -30, high = 30;
  Choices found(heads.size(), 0);
  constexpr int kSteps = 40;
  for (int i = 0; i < kSteps; ++i) {
    double middle = (low + high) / 2;
    Choices choices = chooseAt(weights, total * std::exp2(middle));
    if (isWithin(choices)) {
      high = middle;
      found = choices;
    } else {
      low = middle;
    }
    // A choice outside of the weighted sum may still hold each budget by
    // itself.
    keep(std::move(choices));
  }
  return found;
}

/// Moves single heads to less work while all budgets hold.
/// A price finds only choices on the convex hull, which may leave some of the
/// budgets unspent.
void Search::improve(Choices &choices) const {
  std::vector<double> spent = shares(choices);
  while (true) {
    size_t head = heads.size(), option = 0;
    double mostSaved = 0;
    for (size_t i = 0; i < heads.size(); ++i)
      for (size_t j = 0; j < heads[i].size(); ++j) {
        const HeadOption &now = heads[i][choices[i]], &next = heads[i][j];
        double saved = now.work - next.work;
        bool holds = saved > mostSaved;
        for (size_t k = 0; holds && k < budgets.size(); ++k)
          holds = spent[k] + (next.spends[k] - now.spends[k]) / budgets[k] <= 1;
        if (!holds)
          continue;
        head = i;
        option = j;
        mostSaved = saved;
      }
    if (head == heads.size())
      return;
    choices[head] = option;
    spent = shares(choices);
  }
}

void Search::keep(Choices choices) {
  if (largestShare(heads, choices, budgets) > 1)
    return;
  improve(choices);
  double work = totalWork(heads, choices);
  if (work < bestWork) {
    bestWork = work;
    best = std::move(choices);
  }
}

Choices Search::run() {
  // Budgets that are overspent get more weight, those with room less, in ever
  // smaller steps.
  std::vector<double> weights(budgets.size(),
                              1.0 / static_cast<double>(budgets.size()));
  constexpr int kRounds = 60;
  // A single budget has all the weight.
  int rounds = budgets.size() == 1 ? 1 : kRounds;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> spent = shares(chooseFor(weights));
    double most = *std::max_element(spent.begin(), spent.end());
    double sum = 0, step = 1 / std::sqrt(1.0 + round);
    for (size_t k = 0; k < weights.size(); ++k) {
      double below = std::clamp(spent[k] - most, -4.0, 0.0);
      // Never 0: a weight that is gone could not come back.
      weights[k] = std::max(weights[k] * std::exp(step * below), 1e-9);
      sum += weights[k];
    }
    for (double &weight : weights)
      weight /= sum;
  }
  return best;
}

std::vector<size_t> gist::chooseOptions(const Heads &heads,
                                        const std::vector<double> &budgets) {
  return Search(heads, budgets).run();
}

double gist::largestShare(const Heads &heads, const Choices &choices,
                          const std::vector<double> &budgets) {
  double most = 0;
  for (size_t k = 0; k < budgets.size(); ++k) {
    double spent = 0;
    for (size_t i = 0; i < heads.size(); ++i)
      spent += heads[i][choices[i]].spends[k];
    most = std::max(most, spent / budgets[k]);
  }
  return most;
}

double gist::totalWork(const Heads &heads, const Choices &choices) {
  double sum = 0;
  for (size_t i = 0; i < heads.size(); ++i)
    sum += heads[i][choices[i]].work;
  return sum;
}
