//===- PromptSpeedTest.cpp - From which length on a plan pays -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/PromptSpeed.h"

#include "passes/Plan/File/PlanJson.h"

#include <gtest/gtest.h>

using namespace gist;
using namespace gist::plan;

/// A millisecond a token, and a share of it behind a fixed time.
static PromptTimes timesOf(int64_t tokens, double fixed, double share) {
  double dense = 1e-3 * static_cast<double>(tokens);
  return {dense, fixed + share * dense};
}

static int64_t meet(double fixed, double share) {
  return breakEven(1000, timesOf(1000, fixed, share), 2000,
                   timesOf(2000, fixed, share));
}

// A fixed time t is made up for after t / .4 ms tokens, whether that is before,
// between or behind the two lengths.
TEST(PromptSpeed, LengthsAtWhichTimesAreEqual) {
  for (auto [fixed, length] : {std::pair(0.08, 200), {0.6, 1500}, {4.0, 10000}})
    EXPECT_NEAR(static_cast<double>(meet(fixed, 0.6)), length, 1);
}

TEST(PromptSpeed, PlansThatNeverOrAlwaysPay) {
  EXPECT_EQ(meet(0.1, 1.0), kMaxPlanTokens);
  EXPECT_EQ(meet(0.1, 1.2), kMaxPlanTokens);
  EXPECT_EQ(meet(-0.1, 1.0), 0);
  EXPECT_EQ(meet(0, 0.6), 0);
}
