//===- SolverTest.cpp - The cheapest choices, against all of them ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/Solver.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>

using namespace gist;

namespace {
/// Heads whose options cost less the more they spend, as those of models do.
Places makeHeads(std::mt19937 &random, size_t count, size_t options,
                 size_t budgets) {
  std::uniform_real_distribution<> uniform(0, 1);
  Places heads;
  for (size_t i = 0; i < count; ++i) {
    // Option 0 is dense: all of the work, and nothing is spent.
    heads.push_back({{{.work = 1, .spends = std::vector<double>(budgets)}}});
    // Some heads mind being cut fifty times as much as others.
    double scale = std::exp(4 * uniform(random) - 2);
    for (size_t j = 1; j < options; ++j) {
      PlaceOption option{.work = uniform(random)};
      for (size_t k = 0; k < budgets; ++k)
        option.spends.push_back(scale * (1 - option.work) * uniform(random));
      heads.back().options.push_back(option);
    }
  }
  return heads;
}

/// The least work within the budgets, by trying everything.
double tryAll(const Places &heads, const std::vector<double> &budgets) {
  std::vector<size_t> choices(heads.size());
  double least = totalWork(heads, choices);
  while (true) {
    size_t i = 0;
    while (i < heads.size() && ++choices[i] == heads[i].options.size())
      choices[i++] = 0;
    if (i == heads.size())
      return least;
    if (largestShare(heads, choices, budgets) <= 1)
      least = std::min(least, totalWork(heads, choices));
  }
}
} // namespace

// The solver is a heuristic; trying everything is possible for seven heads.
TEST(Solver, NearTheBestOfAllChoices) {
  std::mt19937 random(5);
  double worst = 0, sum = 0;
  constexpr int kCases = 40;
  for (int i = 0; i < kCases; ++i) {
    size_t budgets = 1 + static_cast<size_t>(i % 4);
    Places heads = makeHeads(random, 7, 5, budgets);
    std::vector<double> limits(budgets, 0.7);
    std::vector<size_t> choices = chooseOptions(heads, limits);
    EXPECT_LE(largestShare(heads, choices, limits), 1);
    double gap = totalWork(heads, choices) / tryAll(heads, limits) - 1;
    EXPECT_GE(gap, -1e-12);
    worst = std::max(worst, gap);
    sum += gap;
  }
  // Prices reach the hull of the choices, and moves of single heads most of the
  // rest: with seven heads one of them may be a step away.
  EXPECT_LE(worst, 0.2);
  EXPECT_LE(sum / kCases, 0.03);
}

// Option 0 is dense and spends nothing.
TEST(Solver, NothingIsSpentWithoutABudget) {
  std::mt19937 random(6);
  Places heads = makeHeads(random, 9, 4, 2);
  std::vector<size_t> choices = chooseOptions(heads, {1e-12, 1e-12});
  EXPECT_EQ(choices, std::vector<size_t>(9));
}

// With enough to spend each head takes its cheapest option.
TEST(Solver, EverythingIsCheapWithLargeBudgets) {
  std::mt19937 random(7);
  Places heads = makeHeads(random, 9, 4, 3);
  std::vector<size_t> choices = chooseOptions(heads, {1e9, 1e9, 1e9});
  for (size_t i = 0; i < heads.size(); ++i)
    for (const PlaceOption &option : heads[i].options)
      EXPECT_LE(heads[i].options[choices[i]].work, option.work);
}

TEST(Solver, OneScarceBudgetAmongSeveralIsFound) {
  // The first budget is spent by odd heads alone, the second by even ones. A
  // single price on the sum would treat them alike.
  Places heads;
  for (size_t i = 0; i < 20; ++i) {
    double odd = i % 2 ? 1 : 0;
    heads.push_back({{{.work = 1, .spends = {0, 0}},
                      {.work = 0.5, .spends = {odd, 1 - odd}}}});
  }
  std::vector<size_t> choices = chooseOptions(heads, {2, 100});
  // Two of the odd heads and all ten even ones are cut.
  EXPECT_DOUBLE_EQ(totalWork(heads, choices), 20 - 0.5 * 12);
}

// Plans must not depend on the order of memory or on chance.
TEST(Solver, TheSameEveryTime) {
  std::mt19937 random(8);
  Places heads = makeHeads(random, 50, 8, 6);
  std::vector<double> limits(6, 3);
  EXPECT_EQ(chooseOptions(heads, limits), chooseOptions(heads, limits));
}

// A layer that is left out computes nothing in its heads, so nothing is spent
// to make them cheaper.
TEST(Solver, PlacesInsideOfOthers) {
  Places places;
  for (size_t i = 0; i < 2; ++i) {
    places.push_back(
        {{{.work = 10, .spends = {0}},
          // Leaving out the first layer is cheap, the second far too dear.
          {.work = 1, .spends = {i == 0 ? 1.0 : 100}, .state = 1}}});
  }
  for (size_t i = 0; i < 2; ++i)
    places.push_back({{{.work = 1, .spends = {0}, .inner = {8, 0}},
                       {.work = 1, .spends = {1}, .inner = {2, 0}}},
                      i});
  std::vector<size_t> choices = chooseOptions(places, {2});
  EXPECT_EQ(choices, (std::vector<size_t>{1, 0, 0, 1}));
  // 1 + 10 of the layers, 1 and 1 + 2 of their heads.
  EXPECT_DOUBLE_EQ(totalWork(places, choices), 15);
}

// The solver against trying everything where half of the places have one around
// them.
TEST(Solver, NearTheBestOfNestedChoices) {
  std::mt19937 random(9);
  double sum = 0;
  constexpr int kCases = 40;
  for (int i = 0; i < kCases; ++i) {
    Places places = makeHeads(random, 7, 4, 2);
    for (size_t k = 0; k < 3; ++k)
      places[k].options[3].state = 1;
    for (size_t k = 3; k < 7; ++k) {
      places[k].around = k % 3;
      for (PlaceOption &option : places[k].options)
        option.inner = {std::exchange(option.work, 0), 0};
      // This one is not to be had while its layer is whole.
      places[k].options[2].inner[0] = INFINITY;
    }
    std::vector<size_t> choices = chooseOptions(places, {0.7, 0.7});
    EXPECT_LE(largestShare(places, choices, {0.7, 0.7}), 1);
    EXPECT_TRUE(std::isfinite(totalWork(places, choices)));
    double gap = totalWork(places, choices) / tryAll(places, {0.7, 0.7}) - 1;
    EXPECT_GE(gap, -1e-12);
    sum += gap;
  }
  EXPECT_LE(sum / kCases, 0.05);
}
