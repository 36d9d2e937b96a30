//===- LinearPlanTest.cpp - Plans of linear layers ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/PlanFile.h"
#include "tools/planning/LinearSolve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>

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

/// What 'gist-plan linears' says of a head of 100 rows and of a layer that has
/// 16 levels a block already: rounding it to the nearest is better than
/// anything that moves weights.
TEST(LinearSolveTest, RoundingIsOfferedBothWays) {
  std::string path = testing::TempDir() + "gist-linears.json";
  std::ofstream(path) << R"({"gist_linears": 1, "inputs": [
    {"name": "0.o", "size": 64, "probed_bits": 3, "divergence": 0.5,
     "exact_rows": {}, "weights": [{"rows": 10, "bytes": 1280, "energy": 2,
      "rounded": {
       "3": {"bytes": 320, "nearest": 0.4, "compensated": 0.2, "corrected": {"32": 0.1}},
       "4": {"bytes": 400, "nearest": 0, "compensated": 0.02, "corrected": {}}}}]},
    {"name": "head", "size": 64, "probed_bits": 4, "divergence": 0.125,
     "exact_rows": {"10": 0.0625}, "weights": [{"rows": 100, "bytes": 12800,
      "energy": 1, "rounded": {
       "4": {"bytes": 4000, "nearest": 0.5, "compensated": 0.25, "corrected": {}},
       "8": {"bytes": 6800, "nearest": 0.001, "compensated": 0.001, "corrected": {}}}}]}]})";
  std::vector<plan::LinearMenu> menus;
  Status status = plan::readMenus(path, menus);
  ASSERT_TRUE(status.ok()) << status.text;
  ASSERT_EQ(menus.size(), 2u);
  // The probe was of the compensated weights: 0.5 nats for 0.2 of 2.
  EXPECT_DOUBLE_EQ(menus[0].sensitivity, 5);
  auto choice = [&](int64_t bytes) {
    std::vector<size_t> chosen;
    EXPECT_TRUE(plan::chooseWithin(menus, bytes, chosen).ok());
    return plan::makePlan(menus, chosen, "");
  };
  // Bytes of the layer at 4 bits and of the head at 8.
  LinearPlan four = choice(400 + 6800);
  EXPECT_EQ(four.layers[0][1], (LinearChoice{.bits = 4}));
  EXPECT_EQ(four.head, (LinearChoice{.bits = 8}));
  LinearPlan three = choice(320 + 4000);
  EXPECT_EQ(three.layers[0][1],
            (LinearChoice{.bits = 3, .isCompensated = true}));
  EXPECT_EQ(three.head, (LinearChoice{.bits = 4, .isCompensated = true}));
  // Rows of common tokens in 8 bits: 68 bytes instead of 40.
  LinearPlan common = choice(400 + 4000 + 10 * 28);
  EXPECT_EQ(
      common.head,
      (LinearChoice{
          .bits = 4, .isCompensated = true, .exactRows = 10, .exactBits = 8}));
}

// A file may say anything: sizes that divide by zero, that no memory holds or
// that are not integers.
TEST(LinearSolveTest, DamagedMenusAreASentence) {
  const std::string text = R"({"gist_linears": 1, "inputs": [
    {"name": "0.o", "size": 64, "probed_bits": 3, "divergence": 0.5,
     "exact_rows": {}, "weights": [{"rows": 10, "bytes": 1280, "energy": 2,
      "rounded": {"3": {"bytes": 320, "nearest": 0.4, "compensated": 0.2,
                        "corrected": {"32": 0.1}}}}]},
    {"name": "head", "size": 64, "probed_bits": 4, "divergence": 0.125,
     "exact_rows": {"10": 0.0625}, "weights": [{"rows": 100, "bytes": 12800,
      "energy": 1, "rounded": {"4": {"bytes": 4000, "nearest": 0.5,
                                     "compensated": 0.25,
                                     "corrected": {}}}}]}]})";
  std::vector<plan::LinearMenu> menus;
  ASSERT_TRUE(plan::parseMenus(text, menus).ok());
  auto damage = [&](const std::string &from, const std::string &to) {
    std::string copy = text;
    size_t at = copy.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    copy.replace(at, from.size(), to);
    Status status = plan::parseMenus(copy, menus);
    EXPECT_FALSE(status.ok()) << from << " -> " << to;
    EXPECT_FALSE(status.text.empty());
  };
  for (const char *value : {"2e85", "-1", "1.5", "true", "null", "\"1\""}) {
    damage("\"gist_linears\": 1", std::string("\"gist_linears\": ") + value);
    damage("\"rows\": 100", std::string("\"rows\": ") + value);
    damage("\"bytes\": 320", std::string("\"bytes\": ") + value);
    damage("\"size\": 64", std::string("\"size\": ") + value);
  }
  damage("\"rows\": 100", "\"rows\": 0");
  damage("\"rows\": 100", "\"rows\": 9");
  damage("\"0.o\"", "\"9223372036854775807.o\"");
  damage("\"0.o\"", "\"0.x\"");
  damage("\"0.o\"", "\"0\"");
  damage("\"0.o\"", "\"\"");
  damage("\"3\": {", "\"x\": {");
  damage("\"32\": 0.1", "\"99999999999999999999\": 0.1");
  damage("\"10\": 0.0625", "\"10\": []");
  damage("\"compensated\": 0.2,", "");
  EXPECT_EQ(menus.size(), 2u); // left as it was
}

/// Two groups of which the second minds errors ten times as much.
std::vector<plan::LinearMenu> makeMenus() {
  plan::LinearMenu menu;
  menu.layer = 0;
  menu.group = LinearGroup::O;
  menu.options = {{{}, 100, 0}, {{.bits = 3}, 80, 1}, {{.bits = 2}, 60, 4}};
  std::vector<plan::LinearMenu> menus = {menu, menu};
  menus[1].group = LinearGroup::Down;
  menus[1].sensitivity = 10;
  return menus;
}

// Options are bytes and error. The insensitive group gives up its bytes first.
TEST(LinearSolveTest, BytesComeFromWhereTheyCostLeast) {
  std::vector<plan::LinearMenu> menus = makeMenus();
  std::vector<size_t> chosen;
  ASSERT_TRUE(plan::chooseWithin(menus, 200, chosen).ok());
  EXPECT_EQ(chosen, (std::vector<size_t>{0, 0}));
  ASSERT_TRUE(plan::chooseWithin(menus, 180, chosen).ok());
  EXPECT_EQ(chosen, (std::vector<size_t>{1, 0}));
  ASSERT_TRUE(plan::chooseWithin(menus, 160, chosen).ok());
  EXPECT_EQ(chosen, (std::vector<size_t>{2, 0}));
  EXPECT_EQ(plan::countBytes(menus, chosen), 160);
  EXPECT_EQ(plan::chooseWithin(menus, 100, chosen).text,
            "100 bytes were asked for, but the smallest plan reads 120");
  LinearPlan made = plan::makePlan(menus, {2, 1}, "b");
  ASSERT_EQ(made.layers.size(), 1u);
  EXPECT_EQ(made.layers[0][1].bits, 2);
  EXPECT_EQ(made.layers[0][3].bits, 3);
}

/// No price asks for the option in the middle, which is off the hull; the bytes
/// that are there do.
TEST(LinearSolveTest, WhatIsLeftIsSpent) {
  plan::LinearMenu menu;
  menu.layer = 0;
  menu.options = {{{}, 100, 0}, {{.bits = 3}, 70, 3.5}, {{.bits = 2}, 60, 4}};
  std::vector<plan::LinearMenu> menus = {menu, menu};
  std::vector<size_t> chosen;
  ASSERT_TRUE(plan::chooseWithin(menus, 165, chosen).ok());
  EXPECT_EQ(chosen, (std::vector<size_t>{0, 2}));
  ASSERT_TRUE(plan::chooseWithin(menus, 155, chosen).ok());
  EXPECT_EQ(plan::countBytes(menus, chosen), 140);
  EXPECT_EQ(chosen, (std::vector<size_t>{1, 1}));
}

/// Many groups, of which each is a little less sensitive than the one before.
std::vector<plan::LinearMenu> makeManyMenus(int count) {
  std::vector<plan::LinearMenu> menus;
  for (int i = 0; i < count; ++i) {
    menus.push_back(makeMenus().front());
    menus.back().layer = i;
    menus.back().sensitivity = 1.0 / (1 + i);
  }
  return menus;
}

/// What is measured decides, whatever was predicted: the choice holds, and the
/// next one with fewer bytes does not.
TEST(LinearSolveTest, MeasuredLossesAreKept) {
  std::vector<plan::LinearMenu> menus = makeManyMenus(40);
  for (double truth : {0.2, 1.0, 7.0}) {
    std::set<std::vector<size_t>> measured;
    auto measure = [&](const std::vector<size_t> &chosen, double &loss) {
      EXPECT_TRUE(measured.insert(chosen).second) << "measured before";
      loss = truth * plan::predictLoss(menus, chosen);
      return Status();
    };
    std::vector<size_t> chosen, within;
    constexpr double kLimit = 1.5;
    ASSERT_TRUE(plan::chooseForLoss(menus, kLimit, 30, measure, chosen).ok());
    EXPECT_LE(measured.size(), 30u);
    EXPECT_LE(truth * plan::predictLoss(menus, chosen), kLimit);
    int64_t bytes = plan::countBytes(menus, chosen);
    // 40 groups of 100 bytes would be the model as it is.
    EXPECT_LT(bytes, 4000);
    // Options of a group are 20 bytes apart.
    ASSERT_TRUE(plan::chooseWithin(menus, bytes - 20, within).ok());
    EXPECT_GT(truth * plan::predictLoss(menus, within), kLimit);
    // The same again.
    measured.clear();
    std::vector<size_t> again;
    ASSERT_TRUE(plan::chooseForLoss(menus, kLimit, 30, measure, again).ok());
    EXPECT_EQ(again, chosen);
  }
}

// A measurement that is not a number counts as not kept; an error of the
// measurement ends the search.
TEST(LinearSolveTest, WhereNothingHoldsEverythingStaysStored) {
  std::vector<plan::LinearMenu> menus = makeManyMenus(5);
  auto measure = [](const std::vector<size_t> &, double &loss) {
    loss = std::nan("");
    return Status();
  };
  std::vector<size_t> chosen;
  ASSERT_TRUE(plan::chooseForLoss(menus, 1, 6, measure, chosen).ok());
  EXPECT_EQ(chosen, std::vector<size_t>(5, 0));
  auto refuse = [](const std::vector<size_t> &, double &) {
    return Status::error(Code::Io, "gone");
  };
  EXPECT_EQ(plan::chooseForLoss(menus, 1, 6, refuse, chosen).text, "gone");
}

} // namespace
