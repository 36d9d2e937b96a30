//===- PlanCostTest.cpp - What plans cost, and machines -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/PlanCost.h"
#include "passes/Plan/File/PlanFile.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <algorithm>

using namespace gist;

static constexpr DecoderSize kSmolLM2 = {30, 576, 9, 3, 64, 1536, 49152, true};
static constexpr DecoderSize kLlama8B = {32,  4096,  32,     8,
                                         128, 14336, 128256, true};

/// The heads of the sample's plan in their order, over the layers of a model:
/// what bench/gpu/gpu_models.py measures.
static Plan spreadPlan(const DecoderSize &size, int64_t block = 2048,
                       const char *name = "plan-1.01.json") {
  PlanFile file;
  Status status = readPlanFile(
      std::string(GIST_SOURCE_DIR "/samples/04-less-work/") + name, file);
  EXPECT_TRUE(status.ok()) << status.text;
  std::vector<HeadChoice> heads;
  for (const std::vector<HeadChoice> &layer : file.heads.layers)
    heads.insert(heads.end(), layer.begin(), layer.end());
  Plan plan;
  plan.block = block;
  auto kvHeads = static_cast<size_t>(size.kvHeads);
  size_t count = static_cast<size_t>(size.layers) * kvHeads;
  for (size_t i = 0; i < count; ++i) {
    if (i % kvHeads == 0)
      plan.layers.emplace_back();
    plan.layers.back().push_back(heads[i * heads.size() / count]);
  }
  return plan;
}

static std::vector<bool> markDense(const Plan &plan) {
  std::vector<bool> dense;
  for (size_t layer = 0; layer < plan.layers.size(); ++layer)
    dense.push_back(plan.isDense(layer));
  return dense;
}

namespace {
struct Measured {
  DecoderSize size;
  int64_t context;
  PlanText text;
  double speed; ///< with the plan in all layers, relative to none
};
} // namespace

/// One H200, f16, random weights; docs/performance/sm_90.md.
static constexpr Measured kMeasured[] = {
    {kSmolLM2, 8192, {512, false}, 0.93},
    {kSmolLM2, 8192, {2000, false}, 0.95},
    {kSmolLM2, 8192, {8000, false}, 0.84},
    {kSmolLM2, 8192, {64, true}, 0.96},
    {kSmolLM2, 8192, {1900, true}, 0.97},
    {kSmolLM2, 8192, {8000, true}, 0.98},
    {kLlama8B, 33000, {2000, false}, 1.00},
    {kLlama8B, 33000, {8000, false}, 0.99},
    {kLlama8B, 33000, {32000, false}, 1.16},
    {kLlama8B, 33000, {64, true}, 1.00},
    {kLlama8B, 33000, {8000, true}, 0.98},
    {kLlama8B, 33000, {31000, true}, 1.11},
    {kLlama8B, 131072, {131072, false}, 1.47},
    {kLlama8B, 131072, {128000, true}, 1.32},
};

static void expectSpeed(const PlanCost &cost, const std::vector<bool> &dense,
                        const Measured &measured, double tolerance) {
  EXPECT_NEAR(cost.estimateSpeed(dense, measured.text), measured.speed,
              tolerance)
      << measured.text.tokens << (measured.text.isDecode ? " decode" : "");
}

TEST(PlanCostTest, SpeedIsNearWhatWasMeasured) {
  for (const Measured &measured : kMeasured) {
    Plan plan = spreadPlan(measured.size);
    PlanCost cost(measured.size, plan, measured.context, kSm90Rates);
    expectSpeed(cost, markDense(plan), measured, 0.045);
  }
}

/// Times of a later run. What the model says of prompts was fitted before it;
/// what it says of tokens was fitted again with it. SmolLM2 has other blocks
/// here, and the 8B shape another context, with one dense layer. A prompt of
/// 512 tokens of that shape is not among them: the first of a run takes longer,
/// and the module without a plan ran first.
static constexpr Measured kSmallBlocks[] = {
    {kSmolLM2, 8192, {512, false}, 0.94},
    {kSmolLM2, 8192, {2000, false}, 0.60},
    {kSmolLM2, 8192, {8000, false}, 0.63},
    {kSmolLM2, 8192, {64, true}, 0.96},
    {kSmolLM2, 8192, {1900, true}, 0.96},
    {kSmolLM2, 8192, {8000, true}, 1.00},
};
static constexpr size_t kDenseLayer = 5;
static constexpr Measured kOneDense[] = {
    {kLlama8B, 131072, {2000, false}, 1.00},
    {kLlama8B, 131072, {8000, false}, 0.97},
    {kLlama8B, 131072, {32000, false}, 1.08},
    {kLlama8B, 131072, {64, true}, 0.98},
    {kLlama8B, 131072, {8000, true}, 0.96},
    {kLlama8B, 131072, {31000, true}, 1.05},
};

/// The choice that stands, in a run after attention on clusters had become
/// faster. Nothing was fitted to it.
static constexpr size_t kElevenLayers[] = {3,  5,  6,  7,  8, 9,
                                           10, 15, 20, 25, 26};
static constexpr Measured kElevenDense[] = {
    {kLlama8B, 33000, {2000, false}, 1.00},
    {kLlama8B, 33000, {8000, false}, 1.03},
    {kLlama8B, 33000, {32000, false}, 1.17},
    {kLlama8B, 33000, {64, true}, 0.99},
    {kLlama8B, 33000, {8000, true}, 1.00},
    {kLlama8B, 33000, {31000, true}, 1.09},
};

TEST(PlanCostTest, SpeedOfTheChoiceIsNearWhatWasMeasured) {
  Plan plan = spreadPlan(kLlama8B);
  PlanCost cost(kLlama8B, plan, 33000, kSm90Rates);
  std::vector<bool> dense = cost.choose().dense;
  for (size_t layer = 0; layer < dense.size(); ++layer)
    EXPECT_EQ(dense[layer], llvm::is_contained(kElevenLayers, layer)) << layer;
  for (const Measured &measured : kElevenDense)
    expectSpeed(cost, dense, measured, 0.04);
}

TEST(PlanCostTest, SpeedIsNearWhatWasHeldOut) {
  for (const Measured &measured : kSmallBlocks) {
    Plan plan = spreadPlan(measured.size, 1024);
    PlanCost cost(measured.size, plan, measured.context, kSm90Rates);
    expectSpeed(cost, markDense(plan), measured, 0.06);
  }
  for (const Measured &measured : kOneDense) {
    Plan plan = spreadPlan(measured.size);
    PlanCost cost(measured.size, plan, measured.context, kSm90Rates);
    std::vector<bool> dense = markDense(plan);
    dense[kDenseLayer] = true;
    expectSpeed(cost, dense, measured, 0.04);
  }
}

static PlanCost::Choice choose(const DecoderSize &size, const Plan &plan,
                               int64_t context) {
  return PlanCost(size, plan, context, kSm90Rates).choose();
}

/// Where blocks alone cost a sixth of the time no layer is worth having them.
TEST(PlanCostTest, SmallModelStaysDense) {
  Plan plan = spreadPlan(kSmolLM2);
  PlanCost::Choice choice = choose(kSmolLM2, plan, 8192);
  EXPECT_EQ(std::count(choice.dense.begin(), choice.dense.end(), true), 30);
  EXPECT_FALSE(choice.slowest.isDecode);
  EXPECT_LT(choice.speed, 0.9);
}

TEST(PlanCostTest, LargeModelFollowsItsPlan) {
  Plan plan = spreadPlan(kLlama8B);
  for (int64_t context : {33000, 131072}) {
    PlanCost::Choice choice = choose(kLlama8B, plan, context);
    EXPECT_LE(std::count(choice.dense.begin(), choice.dense.end(), true), 12)
        << context;
  }
}

/// What costs more than it saves in one layer does not take the others along.
TEST(PlanCostTest, LayersAreChosenOneByOne) {
  Plan plan = spreadPlan(kLlama8B);
  HeadChoice window{.kind = HeadKind::Window, .window = 512, .sinks = 4};
  // Clusters for all tokens: nothing is saved, and upkeep is dear.
  HeadChoice useless{
      .kind = HeadKind::Clusters, .window = 0, .theta = 0.9, .room = 1};
  for (size_t layer = 0; layer < plan.layers.size(); ++layer)
    plan.layers[layer].assign(8, layer % 8 == 3 ? useless : window);
  PlanCost::Choice choice = choose(kLlama8B, plan, 33000);
  for (size_t layer = 0; layer < plan.layers.size(); ++layer)
    if (choice.dense[layer]) {
      EXPECT_EQ(layer % 8, 3u) << layer;
    }
}

/// The choice keeps its promise by its own account.
TEST(PlanCostTest, NoTextIsSlower) {
  for (const DecoderSize &size : {kSmolLM2, kLlama8B})
    for (int64_t context : {1024, 4096, 8192, 33000, 131072}) {
      Plan plan = spreadPlan(size);
      PlanCost cost(size, plan, context, kSm90Rates);
      PlanCost::Choice choice = cost.choose();
      for (int64_t tokens = 512; tokens <= context; tokens *= 2)
        for (bool isDecode : {false, true})
          EXPECT_GE(cost.estimateSpeed(choice.dense, {tokens, isDecode}), 0.98)
              << context << " " << tokens;
    }
}

//===----------------------------------------------------------------------===//
// CPUs
//===----------------------------------------------------------------------===//

namespace {
struct MeasuredOnCpu {
  int64_t block, context;
  PlanText text;
  double speed;
};
} // namespace

static void expectSpeeds(llvm::ArrayRef<MeasuredOnCpu> measured,
                         const char *name, const PlanRates &rates,
                         double tolerance) {
  for (const MeasuredOnCpu &each : measured) {
    Plan plan = spreadPlan(kSmolLM2, each.block, name);
    PlanCost cost(kSmolLM2, plan, each.context, rates);
    EXPECT_NEAR(cost.estimateSpeed(markDense(plan), each.text), each.speed,
                tolerance)
        << name << " " << each.block << " " << each.text.tokens
        << (each.text.isDecode ? " decode" : "");
  }
}

/// SmolLM2 in 8 bits on one core of a Neoverse-V1; docs/performance/plans.md.
/// Factors of a plan were fitted to times of the plan for 1.01.
static constexpr MeasuredOnCpu kFewCores[] = {
    {256, 2048, {512, false}, 1.00},  {256, 2048, {1024, false}, 1.02},
    {256, 2048, {2048, false}, 1.10}, {256, 2048, {2000, true}, 1.32},
    {128, 2048, {512, false}, 1.00},  {128, 2048, {1024, false}, 1.01},
    {128, 2048, {2048, false}, 1.10}, {128, 2048, {2000, true}, 1.36},
};
/// The plan for 1.05, which nothing was fitted to.
static constexpr MeasuredOnCpu kFewCoresHeldOut[] = {
    {256, 2048, {512, false}, 1.02},  {256, 2048, {1024, false}, 1.08},
    {256, 2048, {2048, false}, 1.24}, {256, 2048, {2000, true}, 1.59},
    {128, 2048, {2048, false}, 1.26}, {128, 2048, {2000, true}, 1.69},
};

/// Prompts on two such cores, in a later run that nothing was fitted to.
static constexpr MeasuredOnCpu kTwoCores[] = {{256, 2048, {512, false}, 1.00},
                                              {256, 2048, {2048, false}, 1.07}};
static constexpr MeasuredOnCpu kTwoCoresLong[] = {
    {256, 8192, {8192, false}, 1.50}, {128, 8192, {8192, false}, 1.48}};
static constexpr MeasuredOnCpu kTwoCoresLess[] = {
    {256, 2048, {512, false}, 1.01}, {256, 2048, {2048, false}, 1.21}};

TEST(PlanCostTest, SpeedOnFewCoresIsNearWhatWasMeasured) {
  expectSpeeds(kTwoCores, "plan-1.01.json", kFewCoresRates, 0.04);
  expectSpeeds(kTwoCoresLong, "plan-1.01.json", kFewCoresRates, 0.08);
  expectSpeeds(kTwoCoresLess, "plan-1.05.json", kFewCoresRates, 0.04);
  expectSpeeds(kFewCores, "plan-1.01.json", kFewCoresRates, 0.04);
  expectSpeeds(kFewCoresHeldOut, "plan-1.05.json", kFewCoresRates, 0.06);
}

/// Prompts of SmolLM2 in 8 bits on 8 and 16 cores of a Xeon with AMX: means of
/// 12 rounds with each (8 with blocks of 128, 2 at 8192 tokens). The host is
/// shared, and rounds differ by a tenth. What upkeep costs comes from one
/// profile of the plan for 1.01 at 2048 tokens.
static constexpr MeasuredOnCpu kManyCores[] = {
    {256, 2048, {512, false}, 0.97},  {256, 2048, {1024, false}, 1.00},
    {256, 2048, {2048, false}, 1.03}, {256, 8192, {8192, false}, 1.43},
    {128, 2048, {512, false}, 0.77},  {128, 2048, {1024, false}, 0.76},
    {128, 2048, {2048, false}, 0.82},
};
/// The plan for 1.05, which nothing was fitted to.
static constexpr MeasuredOnCpu kManyCoresHeldOut[] = {
    {256, 2048, {512, false}, 1.01},
    {256, 2048, {1024, false}, 1.05},
    {256, 2048, {2048, false}, 1.17},
};
/// The model says more of a long prompt: 16 cores had 1.64 there and 8
/// had 1.97.
static constexpr MeasuredOnCpu kManyCoresFarOff[] = {
    {256, 8192, {8192, false}, 1.80}};

TEST(PlanCostTest, SpeedOnManyCoresIsNearWhatWasMeasured) {
  expectSpeeds(kManyCores, "plan-1.01.json", kManyCoresRates, 0.05);
  expectSpeeds(kManyCoresHeldOut, "plan-1.05.json", kManyCoresRates, 0.05);
  expectSpeeds(kManyCoresFarOff, "plan-1.05.json", kManyCoresRates, 0.2);
}

static PlanCost::Choice chooseOnCpus(const Plan &plan, int64_t context) {
  return chooseLayers(kSmolLM2, plan, context,
                      {&kFewCoresRates, &kManyCoresRates});
}

/// Calls of 64 tokens: .67 of the speed with eight cores and .42 with sixteen
/// were measured with a plan of .67 of the work, .97 with two and .99 with one.
TEST(PlanCostTest, SmallBlocksStayDenseOnCpus) {
  Plan plan = spreadPlan(kSmolLM2, 64);
  PlanCost::Choice choice = chooseOnCpus(plan, 512);
  EXPECT_EQ(std::count(choice.dense.begin(), choice.dense.end(), true), 30);
  EXPECT_FALSE(choice.slowest.isDecode);
  EXPECT_LT(choice.speed, 0.67);
  EXPECT_GT(choice.speed, 0.42);
}

TEST(PlanCostTest, LargeBlocksAreFollowedOnCpus) {
  for (const char *name : {"plan-1.01.json", "plan-1.05.json"})
    for (int64_t context : {2048, 8192}) {
      Plan plan = spreadPlan(kSmolLM2, 256, name);
      PlanCost::Choice choice = chooseOnCpus(plan, context);
      EXPECT_LE(std::count(choice.dense.begin(), choice.dense.end(), true), 3)
          << name << " " << context;
    }
}

/// Contexts of two and four blocks, compiled as chosen, on two cores of a
/// Neoverse-V1. Nothing was fitted to them.
TEST(PlanCostTest, ShortContextsAreNearWhatWasMeasured) {
  struct Measured {
    const char *plan;
    int64_t context;
    PlanText text;
    double speed;
  };
  for (const Measured &each :
       {Measured{"plan-1.01.json", 512, {512, false}, 1.00},
        {"plan-1.01.json", 512, {488, true}, 1.05},
        {"plan-1.01.json", 1024, {512, false}, 1.00},
        {"plan-1.01.json", 1024, {1024, false}, 1.01},
        {"plan-1.01.json", 1024, {1000, true}, 1.08},
        {"plan-1.05.json", 512, {512, false}, 1.01},
        {"plan-1.05.json", 512, {488, true}, 1.07},
        {"plan-1.05.json", 1024, {1024, false}, 1.06},
        {"plan-1.05.json", 1024, {1000, true}, 1.22}}) {
    Plan plan = spreadPlan(kSmolLM2, 256, each.plan);
    std::vector<bool> dense = chooseOnCpus(plan, each.context).dense;
    EXPECT_LT(std::count(dense.begin(), dense.end(), true), 30);
    PlanCost cost(kSmolLM2, plan, each.context, kFewCoresRates);
    EXPECT_NEAR(cost.estimateSpeed(dense, each.text), each.speed, 0.07)
        << each.plan << " " << each.context << " " << each.text.tokens
        << (each.text.isDecode ? " decode" : "");
  }
}

/// On every machine that was asked.
TEST(PlanCostTest, NoTextIsSlowerOnCpus) {
  for (int64_t block : {64, 128, 256})
    for (int64_t context : {512, 1024, 2048, 8192}) {
      Plan plan = spreadPlan(kSmolLM2, block);
      std::vector<bool> dense = chooseOnCpus(plan, context).dense;
      for (size_t layer = 0; layer < dense.size(); ++layer)
        if (dense[layer])
          plan.layers[layer].assign(plan.layers[layer].size(), HeadChoice());
      for (const PlanRates *rates : {&kFewCoresRates, &kManyCoresRates})
        for (int64_t tokens = 512; tokens <= context; tokens *= 2)
          for (bool isDecode : {false, true})
            EXPECT_GE(PlanCost(kSmolLM2, plan, context, *rates)
                          .estimateSpeed(dense, {tokens, isDecode}),
                      0.98)
                << block << " " << context << " " << tokens;
    }
}
