//===- PlanMenuTest.cpp - What options of a plan take of a job ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/PlanMenu.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace gist;
using namespace gist::plan;

namespace {
// Six query heads on two KV heads, rows of 64 and 32 numbers.
constexpr AttentionShape kShape = {3, 2, 6, 64, 32};
constexpr PartRates kRates = {.product = 2,
                              .dense = 3,
                              .looked = 4,
                              .ring = 5,
                              .cluster = 7,
                              .joined = 11,
                              .denseKept = 13,
                              .lookedKept = 14,
                              .ringKept = 17,
                              .clusterKept = 19,
                              .ends = 23};

/// Heads that see `keys` more keys with each token, measured on sequences of
/// 1,024 tokens.
Calibration makeCalibration(double keys) {
  Calibration calibration;
  calibration.model = "tiny";
  calibration.layers = 3;
  calibration.kvHeads = 2;
  calibration.block = 128;
  calibration.tokens = 1024;
  calibration.candidates = {
      {.kind = HeadKind::Window, .window = 128, .sinks = 4},
      {.kind = HeadKind::Clusters, .window = 128, .theta = 0.7, .room = 1}};
  calibration.texts = {{"a.txt", "", {1, 1, 1}}};
  for (size_t layer = 0; layer < 3; ++layer)
    for (size_t head = 0; head < 2; ++head)
      for (size_t candidate = 0; candidate < 2; ++candidate) {
        HeadRun run;
        for (int64_t tokens : calibration.checkpoints()) {
          run.losses.push_back(1);
          run.divergences.push_back(0);
          run.work.push_back({.keys = keys * static_cast<double>(tokens)});
          run.clusters.push_back(0);
        }
        calibration.runs[{layer, head, candidate}] = {run};
      }
  return calibration;
}

PlannedModule makeModule() {
  PlannedModule module;
  module.shape = kShape;
  module.block = 128;
  module.context = 4096;
  CacheLayout layout;
  EXPECT_TRUE(layOutCache(makeCalibrationPlan(3, 2), 4096, layout).ok());
  module.table = layout.table;
  return module;
}
} // namespace

// Each query head of three reads keys and values; joining is once for all.
TEST(JobTime, HeadsByWhatTheyKeep) {
  JobTime time({.prompt = 100, .answer = 10}, kShape, kRates);
  HeadPart part{HeadKind::Dense, {.keys = 8}, 4};
  EXPECT_DOUBLE_EQ(time.ofPrompt(part, false), 3 * 8 * 3 * (64 + 32));
  EXPECT_DOUBLE_EQ(time.ofAnswer(part, false), 13 * 4 * (64 + 32) * 10);
  // In a layer with a plan all rows are looked up.
  EXPECT_DOUBLE_EQ(time.ofPrompt(part, true), 4 * 8 * 3 * (64 + 32));
  EXPECT_DOUBLE_EQ(time.ofAnswer(part, true), 14 * 4 * (64 + 32) * 10);
  part.kind = HeadKind::Window;
  EXPECT_DOUBLE_EQ(time.ofPrompt(part, true), 5 * 8 * 3 * (64 + 32));
  EXPECT_DOUBLE_EQ(time.ofAnswer(part, true), 17 * 4 * (64 + 32) * 10);
  part.kind = HeadKind::Clusters;
  part.work.compared = 2;
  EXPECT_DOUBLE_EQ(time.ofPrompt(part, true),
                   7 * 8 * 3 * (64 + 32) + 11 * 2 * 64);
  EXPECT_DOUBLE_EQ(time.ofAnswer(part, true), 19 * 4 * (64 + 32) * 10);
}

// Without rates a prompt's multiply-adds count, and an answer is free.
TEST(JobTime, CountsWorkWithoutRates) {
  JobTime time({.prompt = 100, .answer = 10}, kShape);
  HeadPart part{HeadKind::Clusters, {.keys = 8, .compared = 2}, 4};
  EXPECT_DOUBLE_EQ(time.ofPrompt(part, true),
                   countMultiplyAdds(part.work, kShape));
  EXPECT_DOUBLE_EQ(time.ofAnswer(part, true), 0);
  EXPECT_DOUBLE_EQ(time.ofProducts(6, 50), 300);
}

// Heads were measured up to 1,024 tokens, and their work grew by the token.
TEST(HeadMenu, WorkGoesOnBeyondWhatWasMeasured) {
  Calibration calibration = makeCalibration(10);
  PlannedModule module = makeModule();
  HeadMenu menu(calibration, module, {});
  ASSERT_TRUE(menu.check("tiny").ok());
  Contract terms;
  JobTime time({.prompt = 4000, .answer = 7}, kShape, kRates);
  Places places = menu.makePlaces(terms, time);
  ASSERT_EQ(places.size(), 6u);
  ASSERT_EQ(places[0].options.size(), 3u);
  const PlaceOption &dense = places[0].options[0],
                    &window = places[0].options[1];
  double answer = 13.0 * 4000 * 96 * 7;
  EXPECT_DOUBLE_EQ(dense.inner[layerState(false, true)],
                   answer + 3.0 * 4000 * 4001 / 2 * 3 * 96);
  EXPECT_DOUBLE_EQ(dense.inner[layerState(false, false)], answer);
  EXPECT_NEAR(window.inner[layerState(true, true)],
              17.0 * 10 * 96 * 7 + 5.0 * 40000 * 3 * 96, 1e-3);
  EXPECT_NEAR(window.inner[layerState(true, false)], 17.0 * 10 * 96 * 7, 1e-6);
  EXPECT_TRUE(std::isinf(window.inner[layerState(false, true)]));
}

// What saves no time is no option: each token sees as many keys as it would
// without a plan, at rates that are higher.
TEST(HeadMenu, OptionsThatSaveNothingAreLeftOut) {
  Calibration calibration = makeCalibration(2100);
  PlannedModule module = makeModule();
  HeadMenu menu(calibration, module, {});
  Contract terms;
  Places places = menu.makePlaces(
      terms, JobTime({.prompt = 4000, .answer = 0}, kShape, kRates));
  EXPECT_EQ(places[0].options.size(), 1u);
}

TEST(HeadMenu, RefusesACalibrationOfAnotherModel) {
  Calibration calibration = makeCalibration(10);
  PlannedModule module = makeModule();
  EXPECT_FALSE(HeadMenu(calibration, module, {}).check("other").ok());
  module.block = 64;
  EXPECT_FALSE(HeadMenu(calibration, module, {}).check("tiny").ok());
}

TEST(PlanMenu, HeadsAloneAreOneVariant) {
  Calibration calibration = makeCalibration(10);
  PlannedModule module = makeModule();
  HeadMenu heads(calibration, module, {});
  PlanMenu menu(&heads, nullptr);
  menu.build(Contract(),
             JobTime({.prompt = 4000, .answer = 7}, kShape, kRates));
  ASSERT_EQ(menu.variants().size(), 1u);
  // Layers with a plan, and their heads.
  PlanChoice choice{0, {1, 1, 1, 0, 1, 2, 0, 0, 1}};
  TrialPlan plan = menu.makePlan(choice);
  EXPECT_FALSE(plan.depths.isNeeded());
  ASSERT_EQ(plan.heads.layers.size(), 3u);
  EXPECT_EQ(plan.heads.layers[0][1].kind, HeadKind::Window);
  EXPECT_EQ(plan.heads.layers[1][0].kind, HeadKind::Clusters);
  PlanChoice again;
  ASSERT_TRUE(menu.findHeads(plan.heads, again).ok());
  EXPECT_EQ(again, choice);
}
