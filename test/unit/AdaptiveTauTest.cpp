//===- AdaptiveTauTest.cpp - A threshold for each layer, by turnover ------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/AdaptiveTau.h"

#include <gtest/gtest.h>

using namespace gist;

namespace {

constexpr TauRule kRule = {
    .target = 0.1, .strength = 0.5, .least = 0.05, .most = 0.6};

// Tau grows with (target / turnover)^strength; numbers are before, removed,
// added.
TEST(AdaptiveTauTest, TauFollowsTurnover) {
  // A quarter of the target: the square root of four.
  EXPECT_DOUBLE_EQ(adaptTau(0.2, {400, 4, 6}, kRule), 0.4);
  // 40 of 400 are the target, and nothing moves.
  EXPECT_DOUBLE_EQ(adaptTau(0.2, {400, 15, 25}, kRule), 0.2);
  // Twice the target.
  EXPECT_NEAR(adaptTau(0.2, {400, 40, 40}, kRule), 0.2 / 1.41421356, 1e-8);
  TauRule none = kRule;
  none.strength = 0;
  EXPECT_DOUBLE_EQ(adaptTau(0.2, {400, 4, 6}, none), 0.2);
}

// One odd text must not throw a tau far off, nor out of the range in which
// selections make sense.
TEST(AdaptiveTauTest, StepsAndTausAreBounded) {
  // OPT: 512 representatives become one, then nothing changes.
  EXPECT_DOUBLE_EQ(adaptTau(0.3, {512, 511, 0}, kRule), 0.15);
  // No turnover at all is the largest step: twice the tau. The next lines show
  // that the bounds of the rule come after it.
  EXPECT_DOUBLE_EQ(adaptTau(0.2, {1, 0, 0}, kRule), 0.4);
  EXPECT_DOUBLE_EQ(adaptTau(0.4, {1, 0, 0}, kRule), 0.6);
  EXPECT_DOUBLE_EQ(adaptTau(0.06, {100, 90, 90}, kRule), 0.05);
}

// A division by the missing set would give NaN taus.
TEST(AdaptiveTauTest, WhatIsNotKnownStays) {
  // The first layer has none before it; a tau of 0 keeps every token.
  EXPECT_DOUBLE_EQ(adaptTau(0.3, {0, 0, 0}, kRule), 0.3);
  EXPECT_DOUBLE_EQ(adaptTau(0, {400, 1, 0}, kRule), 0);
}

} // namespace
