//===- DepthPlanTest.cpp - Plans of depths as files -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/PlanFile.h"

#include <gtest/gtest.h>

using namespace gist;

/// A thin layer, a linear one, and one of a tail if there is a bulk.
static DepthPlan makePlan(bool hasBulk, bool thinForAll) {
  DepthPlan plan;
  plan.hasBulk = hasBulk;
  plan.thinForAll = thinForAll;
  plan.first = 7;
  plan.last = 9;
  plan.maps = "maps";
  if (hasBulk)
    plan.least = {{"cpu", 77}, {"cuda", 5}};
  plan.layers = {{LayerDepth::Thin, 5},
                 {LayerDepth::Linear, 0},
                 {hasBulk ? LayerDepth::Tail : LayerDepth::Full, 0}};
  return plan;
}

static std::string print(const DepthPlan &plan) {
  std::string layers;
  for (const DepthChoice &choice : plan.layers)
    layers += (layers.empty() ? "" : ", ") + std::string("{\"depth\": ") +
              printDepth(choice) + "}";
  return R"({"gist_plan": 1, "block": 8, "depth": )" + printDepth(plan) +
         ", \"layers\": [" + layers + "]}";
}

TEST(DepthPlan, WrittenAndReadAgain) {
  for (auto [hasBulk, thinForAll] :
       {std::pair(true, false), {true, true}, {false, false}}) {
    DepthPlan plan = makePlan(hasBulk, thinForAll);
    PlanFile read;
    Status status = parsePlanFile(print(plan), "", read);
    ASSERT_TRUE(status.ok()) << status.text;
    EXPECT_EQ(read.depths.hasBulk, hasBulk);
    EXPECT_EQ(read.depths.thinForAll, thinForAll);
    EXPECT_EQ(read.depths.maps, "maps");
    EXPECT_EQ(read.depths.layers, plan.layers);
    if (!hasBulk)
      continue;
    EXPECT_EQ(read.depths.first, 7);
    EXPECT_EQ(read.depths.last, 9);
    EXPECT_EQ(read.depths.least, plan.least);
  }
}

// Each layer is in one of the two parts.
TEST(DepthPlan, PartsForAllTokensAndForTheBulk) {
  auto kinds = [](const DepthPlan &plan, bool allTokens) {
    std::vector<LayerDepth> found;
    for (const DepthChoice &choice : plan.partFor(allTokens).layers)
      found.push_back(choice.kind);
    return found;
  };
  using enum LayerDepth;
  using Kinds = std::vector<LayerDepth>;
  EXPECT_EQ(kinds(makePlan(true, false), true), Kinds({Full, Full, Full}));
  EXPECT_EQ(kinds(makePlan(true, false), false), Kinds({Thin, Linear, Tail}));
  EXPECT_EQ(kinds(makePlan(true, true), true), Kinds({Thin, Full, Full}));
  EXPECT_EQ(kinds(makePlan(true, true), false), Kinds({Full, Linear, Tail}));
  EXPECT_EQ(kinds(makePlan(false, false), true), Kinds({Thin, Linear, Full}));
  EXPECT_EQ(kinds(makePlan(false, false), false), Kinds({Full, Full, Full}));
}
