//===- WorkTest.cpp - Work is what a loop counts --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/Work.h"
#include "passes/Plan/File/Plan.h"

#include <gtest/gtest.h>

#include <random>

using namespace gist;

namespace {
/// A head that is followed token by token: keys are angles on a circle.
struct Simulation {
  HeadChoice choice;
  int64_t block;
  std::vector<double> angles;

  /// What is kept of tokens that left: clusters by their direction, or sinks.
  std::vector<double> units = {};
  HeadWork work = {};

  /// Tokens from `begin` to `end` leave the window.
  void absorb(int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      if (choice.kind == HeadKind::Window) {
        if (static_cast<int64_t>(units.size()) < choice.sinks)
          // Sinks are counted; their direction is never asked for.
          units.push_back(0);
        continue;
      }
      double best = -2;
      for (double unit : units) {
        best = std::max(best, std::cos(unit - angles[static_cast<size_t>(t)]));
        ++work.compared;
      }
      ++work.absorbed;
      if (best < choice.theta)
        units.push_back(angles[static_cast<size_t>(t)]);
    }
  }

  int64_t firstExact(int64_t at) const {
    return choice.kind == HeadKind::Dense
               ? 0
               : std::max<int64_t>(0, at - choice.window);
  }

  void run(WorkMeter &meter) {
    auto count = static_cast<int64_t>(angles.size());
    for (int64_t past = 0; past < count; past += block) {
      // Tokens leave a block at a time, when the next block begins.
      if (past > 0)
        absorb(firstExact(past - block), firstExact(past));
      int64_t tokens = std::min(block, count - past);
      for (int64_t i = 0; i < tokens; ++i) {
        work.keys += static_cast<double>(units.size());
        for (int64_t t = firstExact(past); t <= past + i; ++t)
          ++work.keys;
      }
      double clusters[] = {static_cast<double>(units.size())};
      meter.add(past, tokens, clusters);
    }
  }
};
} // namespace

/// Sizes that all differ, so that a swap shows.
static constexpr AttentionShape kShape{
    .layers = 1, .kvHeads = 1, .queryHeads = 3, .keySize = 5, .valueSize = 7};

class WorkTest : public ::testing::TestWithParam<HeadChoice> {};

// The meter computes from the number of clusters what the simulation counts one
// by one.
TEST_P(WorkTest, AgreesWithCounting) {
  constexpr int64_t kBlock = 16, kTokens = 300;
  std::mt19937 random(3);
  Simulation simulation{.choice = GetParam(), .block = kBlock, .angles = {}};
  // A walk: neighbours are alike, as keys are.
  double angle = 0;
  for (int64_t t = 0; t < kTokens; ++t) {
    angle += std::normal_distribution<>(0, 0.2)(random);
    simulation.angles.push_back(angle);
  }
  Plan plan{.block = kBlock, .layers = {{GetParam()}}};
  CacheLayout layout;
  ASSERT_TRUE(layOutCache(plan, kTokens, layout).ok());
  WorkMeter meter(kShape, kBlock, layout.table);
  simulation.run(meter);
  const HeadWork &counted = simulation.work, &metered = meter.heads().front();
  EXPECT_EQ(metered.keys, counted.keys);
  EXPECT_EQ(metered.absorbed, counted.absorbed);
  // Clusters that a block founds are counted from its start: too many, by at
  // most a block's tokens for each cluster.
  EXPECT_GE(metered.compared, counted.compared);
  EXPECT_LE(metered.compared,
            counted.compared +
                static_cast<double>(simulation.units.size() * kBlock));
  // By hand: 3 query heads, rows of 5 and 7 numbers.
  double expected = metered.keys * 3 * 12 + metered.compared * 5 +
                    metered.absorbed * (5 + 12);
  EXPECT_DOUBLE_EQ(meter.multiplyAdds(), expected);
  EXPECT_DOUBLE_EQ(meter.denseMultiplyAdds(), 300 * 301 / 2 * 3 * 12);
  EXPECT_DOUBLE_EQ(meter.relative(), expected / meter.denseMultiplyAdds());
  if (GetParam().kind == HeadKind::Dense)
    EXPECT_DOUBLE_EQ(meter.relative(), 1);
  else
    EXPECT_LT(meter.relative(), 0.6);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, WorkTest,
    ::testing::Values(
        HeadChoice{},
        HeadChoice{.kind = HeadKind::Window, .window = 32, .sinks = 4},
        HeadChoice{.kind = HeadKind::Window, .window = 0, .sinks = 0},
        HeadChoice{.kind = HeadKind::Clusters, .window = 32, .theta = 0.9},
        HeadChoice{.kind = HeadKind::Clusters, .window = 10, .theta = 0.5}));

// Decode and prefill of the same tokens do the same work.
TEST(WorkMeter, CallsOfOneTokenAreTheSame) {
  // Absorbing happens at the first token of a block alone.
  Plan plan{
      .block = 4,
      .layers = {{{.kind = HeadKind::Clusters, .window = 4, .theta = .5}}}};
  CacheLayout layout;
  ASSERT_TRUE(layOutCache(plan, 64, layout).ok());
  WorkMeter whole(kShape, 4, layout.table), single(kShape, 4, layout.table);
  for (int64_t past = 0; past < 20; past += 4) {
    double clusters[] = {past < 8 ? 0.0 : static_cast<double>(past / 4)};
    whole.add(past, 4, clusters);
    for (int64_t i = 0; i < 4; ++i)
      single.add(past + i, 1, clusters);
  }
  EXPECT_EQ(whole.multiplyAdds(), single.multiplyAdds());
  EXPECT_EQ(whole.relative(), single.relative());
  whole.reset();
  EXPECT_EQ(whole.multiplyAdds(), 0);
}
