//===- LinearPlanTest.cpp - Plans of linear layers ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/PlanFile.h"
#include "tools/planning/BitsMenu.h"

#include <gtest/gtest.h>

using namespace gist;

namespace {

/// What reading a plan with these linear layers complains about.
std::string complain(const std::string &linears) {
  LinearPlan plan;
  return parseLinearPlan("{\"layers\": [{\"linears\": " + linears + "}]}", "",
                         plan)
      .text;
}

// Each kind of choice once, with numbers that differ.
TEST(LinearPlanTest, PlansAreReadAsTheyArePrinted) {
  LinearPlan plan;
  plan.bases = "bases.safetensors";
  plan.head = {
      .bits = 4, .isCompensated = true, .exactRows = 64, .exactBits = 8};
  plan.layers.resize(2);
  // The second index is a LinearGroup: qkv, o, gate_up, down.
  plan.layers[0][1] = {.bits = 3};
  plan.layers[0][2] = {.bits = 2, .isCompensated = true, .k = 32};
  plan.layers[1][3] = {.k = 64, .epsilon = 0.25};
  plan.layers[1][0] = {.bits = 3, .k = 8, .epsilon = 0.5, .epsilonLow = 0.125};
  LinearPlan read;
  Status status =
      parseLinearPlan(printPlanFile({}, {}, plan, ""), "folder", read);
  ASSERT_TRUE(status.ok()) << status.text;
  EXPECT_EQ(read.bases, "folder/bases.safetensors");
  EXPECT_EQ(read.head, plan.head);
  EXPECT_EQ(read.layers, plan.layers);
  EXPECT_TRUE(read.isNeeded());
}

// Plans of heads alone are plans too.
TEST(LinearPlanTest, APlanWithoutLinearsIsDense) {
  LinearPlan plan;
  ASSERT_TRUE(
      parseLinearPlan("{\"layers\": [{\"heads\": [\"dense\"]}]}", "", plan)
          .ok());
  EXPECT_FALSE(plan.isNeeded());
  ASSERT_EQ(plan.layers.size(), 1u);
}

// People edit plans by hand: each mistake names its layer and its part.
TEST(LinearPlanTest, MistakesAreNamed) {
  EXPECT_EQ(complain("3"), "layer 0: expected an object 'linears'");
  EXPECT_EQ(complain(R"({"kv": "dense"})"),
            "layer 0: 'kv' is unknown; linear layers are qkv, o, gate_up and "
            "down");
  EXPECT_EQ(complain(R"({"o": {"bits": 5}})"),
            "layer 0: o: 'bits' is 5, expected 2, 3, 4 or 8");
  EXPECT_EQ(complain(R"({"o": {"epsilon": 0.1}})"),
            "layer 0: o: a gate needs a subspace: 'k'");
  EXPECT_EQ(complain(R"({"o": {"k": 4}})"),
            "layer 0: o: 'k' needs 'bits', 'epsilon' or both");
  EXPECT_EQ(complain(R"({"o": {"k": 4, "epsilon": 1.5}})"),
            "layer 0: o: 'epsilon' is 1.5; expected a number from 0 to 1");
  EXPECT_EQ(
      complain(
          R"({"o": {"k": 4, "bits": 3, "epsilon": 0.1, "epsilon_low": 0.1}})"),
      "layer 0: o: 'epsilon_low' is 0.1, expected less than 'epsilon'");
  EXPECT_EQ(complain(R"({"o": {"bits": 3, "rounding": "up"}})"),
            "layer 0: o: expected \"nearest\" or \"compensated\" as "
            "'rounding'");
  EXPECT_EQ(complain(R"({"o": {"bits": 3, "exact_rows": 1}})"),
            "layer 0: o: only the head may have 'exact_rows'");
  EXPECT_EQ(complain(R"({"o": {"width": 3}})"),
            "layer 0: o: 'width' is unknown; linear layers have bits, "
            "rounding, k, epsilon and epsilon_low, a head exact_rows and "
            "exact_bits");
  EXPECT_EQ(complain(R"({"o": {"bits": 3, "exact_bits": 8}})"),
            "layer 0: o: 'exact_bits' needs 'exact_rows', and must be 8");
}

/// A layer that has 16 levels a block already: rounding it to the nearest is
/// better than anything that moves weights.
plan::InputResult makeLayer() {
  plan::InputResult layer;
  layer.name = "0.o";
  layer.size = 64;
  layer.weights = {{"o", 32, 64, 1280, 2, {}}};
  layer.weights[0].rounded[3] = {320, 0.4, 0.2, {{32, 0.1}}};
  layer.weights[0].rounded[4] = {400, 0, 0.02, {}};
  layer.probedBits = 3;
  layer.divergence = 0.5;
  return layer;
}

plan::InputResult makeHead() {
  plan::InputResult head;
  head.name = "head";
  head.size = 64;
  head.weights = {{"w", 100, 64, 12800, 1, {}}};
  head.weights[0].rounded[4] = {4000, 0.5, 0.25, {}};
  head.weights[0].rounded[8] = {6800, 0.001, 0.001, {}};
  head.probedBits = 4;
  head.divergence = 0.125;
  head.exactRows = {{10, 0.0625}};
  return head;
}

void expectOptions(const std::vector<plan::LinearOption> &found,
                   const std::vector<plan::LinearOption> &wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(found[i].choice, wanted[i].choice);
    EXPECT_EQ(found[i].bytes, wanted[i].bytes);
    EXPECT_DOUBLE_EQ(found[i].loss, wanted[i].loss);
  }
}

TEST(LinearOptions, RoundingIsOfferedBothWays) {
  // The probe was of the compensated weights: 0.5 nats for 0.2 of 2, so an
  // error costs five times its size. The subspace has 32 x (64 + 32) numbers in
  // 8 bits, 34 bytes for 32.
  expectOptions(
      plan::listOptions(makeLayer()),
      {{{}, 1280, 0},
       {{.bits = 3}, 320, 1},
       {{.bits = 3, .isCompensated = true}, 320, 0.5},
       {{.bits = 3, .isCompensated = true, .k = 32}, 320 + 96 * 34, 0.25},
       {{.bits = 4}, 400, 0},
       {{.bits = 4, .isCompensated = true}, 400, 0.05}});
}

TEST(LinearOptions, RowsOfCommonTokensStay) {
  // 0.125 nats for an error of 0.25. Rows in 8 bits: 68 bytes instead of 40.
  expectOptions(
      plan::listOptions(makeHead()),
      {{{}, 12800, 0},
       {{.bits = 4}, 4000, 0.25},
       {{.bits = 4, .isCompensated = true}, 4000, 0.125},
       {{.bits = 4, .isCompensated = true, .exactRows = 10, .exactBits = 8},
        4000 + 10 * 28,
        0.0625},
       {{.bits = 8}, 6800, 0.0005}});
}

// Weights of a group are one product: they have the same bits, and what they
// lose adds up relative to what they compute together.
TEST(LinearOptions, LayersOfAGroupTakeTheSame) {
  plan::InputResult layer = makeLayer();
  layer.weights.push_back({"p", 16, 64, 640, 3, {}});
  layer.weights[1].rounded[3] = {160, 0.6, 0.3, {{32, 0.15}}};
  layer.divergence = 0; // not measured: an error costs its size
  expectOptions(
      plan::listOptions(layer),
      {{{}, 1920, 0},
       {{.bits = 3}, 480, 0.2},
       {{.bits = 3, .isCompensated = true}, 480, 0.1},
       {{.bits = 3, .isCompensated = true, .k = 32}, 480 + 112 * 34, 0.05}});
}

// A layer that reads only zeros loses nothing, and is no division by zero.
TEST(LinearOptions, ALayerThatReadsOnlyZeros) {
  plan::InputResult layer = makeLayer();
  for (plan::WeightResult &weight : layer.weights) {
    weight.energy = 0;
    for (auto &[bits, rounded] : weight.rounded)
      rounded = {rounded.bytes, 0, 0, {}};
  }
  layer.divergence = 0;
  for (const plan::LinearOption &option : plan::listOptions(layer))
    EXPECT_EQ(option.loss, 0);
}

} // namespace
