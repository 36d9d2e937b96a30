//===- PlanTest.cpp - Plans as files and as tables ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/Plan.h"
#include "passes/Plan/File/PlanFile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace gist;

/// One head of each kind.
static Plan makePlan() {
  return {.block = 8,
          .layers = {{{}, {.kind = HeadKind::Window, .window = 16, .sinks = 3}},
                     {{.kind = HeadKind::Clusters,
                       .window = 8,
                       .theta = 0.75,
                       .room = 0.5},
                      {.kind = HeadKind::Random, .window = 4, .room = 0.3}}}};
}

// A contract is what was measured, and is for people.
TEST(Plan, WrittenAndReadAgain) {
  Plan plan;
  ASSERT_TRUE(parsePlan(printPlan(makePlan()), plan).ok());
  EXPECT_EQ(plan.block, 8);
  EXPECT_EQ(plan.layers, makePlan().layers);
  // What the contract says changes nothing. People read each of its rows on a
  // line.
  std::string text =
      printPlan(makePlan(),
                R"({"quality": 1.01, "rows": [{"a": 1}, {"b": 2}], "no": []})");
  EXPECT_NE(text.find(R"("contract": {
    "quality": 1.01,
    "rows": [
      {"a":1},
      {"b":2}
    ],
    "no": []
  },
)"),
            std::string::npos)
      << text;
  Plan other;
  ASSERT_TRUE(parsePlan(text, other).ok());
  EXPECT_EQ(other.layers, plan.layers);
}

// Messages say which file they are about.
TEST(Plan, FilesAreReadWithTheirName) {
  std::string path = testing::TempDir() + "gist-plan-test.json";
  std::ofstream(path) << printPlan(makePlan());
  PlanFile plan;
  Status status = readPlanFile(path, plan);
  EXPECT_TRUE(status.ok()) << status.text;
  std::ofstream(path) << "[]";
  EXPECT_EQ(readPlanFile(path, plan).text.find(path), 0u);
  std::filesystem::remove(path);
  EXPECT_EQ(readPlanFile(path, plan).text, path + ": the file cannot be read");
}

// gist-plan tries plans in one module with room for everything; a plan there
// must behave as in a module of its own.
TEST(Plan, FitsTheCalibrationsCache) {
  constexpr int64_t kContext = 64;
  Plan plan = makePlan(), wide = makeCalibrationPlan(2, 2);
  // Rings are a window and a block long, so both must count the same blocks.
  wide.block = plan.block;
  CacheLayout layout;
  ASSERT_TRUE(layOutCache(wide, kContext, layout).ok());
  std::vector<float> table;
  Status status = fitPlan(plan, layout.table, kContext, table);
  ASSERT_TRUE(status.ok()) << status.text;
  CacheLayout own;
  ASSERT_TRUE(layOutCache(plan, kContext, own).ok());
  ASSERT_EQ(table.size(), own.table.size());
  for (size_t i = 0; i < 4; ++i) {
    HeadPlace place = readPlace(layout.table, i), fitted = readPlace(table, i),
              alone = readPlace(own.table, i);
    // The place is the wide plan's, everything else as in a cache of its own.
    EXPECT_EQ(fitted.ringRow, place.ringRow);
    EXPECT_EQ(fitted.meanRow, place.meanRow);
    EXPECT_EQ(fitted.unit, place.unit);
    EXPECT_LE(fitted.ringRows, place.ringRows);
    EXPECT_LE(fitted.capacity, place.capacity);
    EXPECT_EQ(fitted.ringRows, alone.ringRows);
    EXPECT_EQ(fitted.capacity, alone.capacity);
    EXPECT_EQ(fitted.window, alone.window);
    EXPECT_EQ(fitted.sinks, alone.sinks);
    EXPECT_EQ(fitted.theta, alone.theta);
  }
}

// Random heads are a baseline in the same cache: theta is 2 plus the share.
TEST(Plan, DrawsAtRandom) {
  CacheLayout layout;
  ASSERT_TRUE(layOutCache(makePlan(), 64, layout).ok());
  HeadPlace place = readPlace(layout.table, 3);
  // The window and a block: a block is written before tokens leave.
  EXPECT_EQ(place.ringRows, 4 + 8);
  EXPECT_EQ(place.capacity, 20); // 0.3 * 64, rounded up
  // Only heads with a window alone have sinks.
  EXPECT_EQ(place.sinks, -1);
  EXPECT_EQ(place.theta, static_cast<double>(2.3F));
}

TEST(Plan, CalibrationForgetsNothing) {
  // No token leaves a window as long as the context.
  CacheLayout layout;
  ASSERT_TRUE(layOutCache(makeCalibrationPlan(1, 1), 1000, layout).ok());
  HeadPlace place = readPlace(layout.table, 0);
  EXPECT_EQ(place.window, 1000);
  EXPECT_EQ(place.ringRows, 1000 + 128);
  EXPECT_EQ(place.capacity, 1000);
}

// A head that overflowed its rows would write into its neighbour's.
TEST(Plan, HasNoRoomInASmallerCache) {
  Plan plan = makePlan();
  CacheLayout layout;
  ASSERT_TRUE(layOutCache(plan, 64, layout).ok());
  std::vector<float> table;
  ASSERT_TRUE(fitPlan(plan, layout.table, 64, table).ok());
  plan.layers[1][0].room = 0.75;
  Status status = fitPlan(plan, layout.table, 64, table);
  EXPECT_EQ(status.text, "layer 1: head 0: needs 16 rows and 48 clusters, but "
                         "the module has room for 16 and 32");
  plan.layers.pop_back();
  EXPECT_EQ(fitPlan(plan, layout.table, 64, table).text,
            "the plan has fewer heads than the module");
  // And more heads than the module has.
  plan.layers.resize(3, plan.layers.front());
  EXPECT_FALSE(fitPlan(plan, layout.table, 64, table).ok());
}

// Fields that are missing, out of range, or of two kinds at once.
TEST(Plan, HeadsThatAreNone) {
  HeadChoice head{.kind = HeadKind::Window, .window = 5};
  for (const char *text :
       {"", "7", "\"sparse\"", "{}", R"({"window": 8})",
        R"({"window": 8, "theta": 0, "room": 1})",
        R"({"window": 8, "theta": 1, "room": 1})",
        R"({"window": 8, "random": 0})", R"({"window": 8, "random": 1.1})",
        R"({"window": 8, "random": 0.5, "theta": 0.5, "room": 1})",
        R"({"window": -1, "sinks": 2})", R"({"window": 8, "tau": 0.3})"})
    EXPECT_FALSE(parseHead(text, head).ok()) << text;
  EXPECT_EQ(head.window, 5); // left as it was
  EXPECT_TRUE(parseHead(R"({"window": 8, "sinks": 2})", head).ok());
  EXPECT_EQ(printHead(head), R"({"window":8,"sinks":2})");
}
