//===- Solver.cpp - The cheapest choices within budgets -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/Solver.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace gist;
using Choices = std::vector<size_t>;

/// The work of an option where the place around it has a state.
static double workIn(const PlaceOption &option, size_t state) {
  return option.work + (option.inner.empty() ? 0 : option.inner[state]);
}

static size_t stateAround(const Places &places, const Choices &choices,
                          size_t place) {
  size_t around = places[place].around;
  return around == SIZE_MAX ? 0 : places[around].options[choices[around]].state;
}

namespace {
class Search {
public:
  Search(const Places &places, const std::vector<double> &budgets)
      : places(places), budgets(budgets), inside(places.size()),
        best(places.size(), 0),
        // Option 0 of every place spends nothing, so that a choice within the
        // budgets is always known.
        bestWork(totalWork(places, best)) {
    for (size_t i = 0; i < places.size(); ++i)
      if (places[i].around != SIZE_MAX)
        inside[places[i].around].push_back(i);
  }

  Choices run();

private:
  std::vector<double> shares(const Choices &choices) const;
  double spentAt(const PlaceOption &option,
                 const std::vector<double> &weights) const;
  Choices chooseAt(const std::vector<double> &weights, double price) const;
  Choices chooseFor(const std::vector<double> &weights);
  double savedBy(const Choices &choices, size_t place, size_t option) const;
  void keep(Choices choices);
  void improve(Choices &choices) const;

  const Places &places;
  const std::vector<double> &budgets;
  std::vector<std::vector<size_t>> inside; ///< places in each place
  Choices best;
  double bestWork;
};
} // namespace

/// What the choices spend of each budget, as a share.
std::vector<double> Search::shares(const Choices &choices) const {
  std::vector<double> result(budgets.size());
  for (size_t i = 0; i < places.size(); ++i)
    for (size_t k = 0; k < budgets.size(); ++k)
      result[k] += places[i].options[choices[i]].spends[k] / budgets[k];
  return result;
}

double Search::spentAt(const PlaceOption &option,
                       const std::vector<double> &weights) const {
  double spent = 0;
  for (size_t k = 0; k < budgets.size(); ++k)
    spent += weights[k] * option.spends[k] / budgets[k];
  return spent;
}

/// The cheapest choice of each place when budgets cost `price` by `weights`.
/// With the budgets as prices, places depend on no others any more but on those
/// around them: this is the Lagrangian relaxation of the choice.
Choices Search::chooseAt(const std::vector<double> &weights,
                         double price) const {
  Choices choices(places.size(), 0);
  auto cheapest = [&](size_t place, size_t state, size_t &choice) {
    double least = 0;
    const std::vector<PlaceOption> &options = places[place].options;
    for (size_t j = 0; j < options.size(); ++j) {
      double cost =
          workIn(options[j], state) + price * spentAt(options[j], weights);
      if (j == 0 || cost < least) {
        least = cost;
        choice = j;
      }
    }
    return least;
  };
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].around != SIZE_MAX)
      continue;
    // What is inside, at its best in each state.
    std::map<size_t, std::pair<double, Choices>> within;
    for (const PlaceOption &option : places[i].options) {
      auto [place, isNew] = within.try_emplace(option.state);
      auto &[cost, chosen] = place->second;
      for (size_t k = 0; isNew && k < inside[i].size(); ++k)
        cost += cheapest(inside[i][k], option.state, chosen.emplace_back());
    }
    double least = 0;
    for (size_t j = 0; j < places[i].options.size(); ++j) {
      const PlaceOption &option = places[i].options[j];
      double cost = workIn(option, 0) + price * spentAt(option, weights) +
                    within.at(option.state).first;
      if (j == 0 || cost < least) {
        least = cost;
        choices[i] = j;
      }
    }
    const Choices &chosen =
        within.at(places[i].options[choices[i]].state).second;
    for (size_t k = 0; k < inside[i].size(); ++k)
      choices[inside[i][k]] = chosen[k];
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
  for (const Place &place : places)
    total += std::abs(workIn(place.options.front(), 0));
  // Prices as powers of two of the whole work: from nearly free to nearly
  // prohibitive.
  double low = -30, high = 30;
  Choices found(places.size(), 0);
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

/// How much less work another option of a place makes.
double Search::savedBy(const Choices &choices, size_t place,
                       size_t option) const {
  size_t state = stateAround(places, choices, place);
  const PlaceOption &now = places[place].options[choices[place]],
                    &next = places[place].options[option];
  double saved = workIn(now, state) - workIn(next, state);
  for (size_t other : inside[place]) {
    const PlaceOption &chosen = places[other].options[choices[other]];
    saved += workIn(chosen, now.state) - workIn(chosen, next.state);
  }
  return saved;
}

/// Moves single places to less work while all budgets hold.
/// A price finds only choices on the convex hull, which may leave some of the
/// budgets unspent.
void Search::improve(Choices &choices) const {
  std::vector<double> spent = shares(choices);
  while (true) {
    size_t place = places.size(), option = 0;
    double mostSaved = 0;
    for (size_t i = 0; i < places.size(); ++i)
      for (size_t j = 0; j < places[i].options.size(); ++j) {
        const PlaceOption &now = places[i].options[choices[i]],
                          &next = places[i].options[j];
        double saved = savedBy(choices, i, j);
        bool holds = saved > mostSaved;
        for (size_t k = 0; holds && k < budgets.size(); ++k)
          holds = spent[k] + (next.spends[k] - now.spends[k]) / budgets[k] <= 1;
        if (!holds)
          continue;
        place = i;
        option = j;
        mostSaved = saved;
      }
    if (place == places.size())
      return;
    choices[place] = option;
    spent = shares(choices);
  }
}

void Search::keep(Choices choices) {
  if (largestShare(places, choices, budgets) > 1)
    return;
  improve(choices);
  double work = totalWork(places, choices);
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

std::vector<size_t> gist::chooseOptions(const Places &places,
                                        const std::vector<double> &budgets) {
  return Search(places, budgets).run();
}

double gist::largestShare(const Places &places, const Choices &choices,
                          const std::vector<double> &budgets) {
  double most = 0;
  for (size_t k = 0; k < budgets.size(); ++k) {
    double spent = 0;
    for (size_t i = 0; i < places.size(); ++i)
      spent += places[i].options[choices[i]].spends[k];
    most = std::max(most, spent / budgets[k]);
  }
  return most;
}

double gist::totalWork(const Places &places, const Choices &choices) {
  double sum = 0;
  for (size_t i = 0; i < places.size(); ++i)
    sum +=
        workIn(places[i].options[choices[i]], stateAround(places, choices, i));
  return sum;
}
