//===- IntervalsTest.cpp - How sure a measured number is ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/Intervals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>

using namespace gist::run;

// Quantiles as printed in tables.
TEST(Intervals, NormalQuantile) {
  EXPECT_NEAR(normalQuantile(0.5), 0, 1e-9);
  EXPECT_NEAR(normalQuantile(0.975), 1.959964, 1e-6);
  EXPECT_NEAR(normalQuantile(0.1), -1.281552, 1e-6);
}

TEST(Intervals, StudentQuantile) {
  EXPECT_NEAR(studentQuantile(0.95, 1), 6.313752, 1e-5);
  EXPECT_NEAR(studentQuantile(0.975, 2), 4.302653, 1e-5);
  EXPECT_NEAR(studentQuantile(0.95, 3), 2.353363, 1e-5);
  EXPECT_NEAR(studentQuantile(0.975, 4), 2.776445, 1e-5);
  EXPECT_NEAR(studentQuantile(0.975, 10), 2.228139, 1e-5);
  EXPECT_NEAR(studentQuantile(0.9, 29), 1.311434, 1e-5);
  EXPECT_NEAR(studentQuantile(0.025, 10), -2.228139, 1e-5);
  // Where the normal one takes over.
  EXPECT_NEAR(studentQuantile(0.975, 2000), studentQuantile(0.975, 2001), 2e-3);
}

// Wilson's interval is where the difference to the share is z standard errors
// of that end: its own definition.
TEST(Intervals, Wilson) {
  for (auto [hits, count] : {std::pair(8, 10), {1, 200}, {37, 61}}) {
    Interval found = wilsonInterval(hits, count, 0.95);
    double share = static_cast<double>(hits) / count;
    for (double end : {found.low, found.high})
      EXPECT_NEAR(std::fabs(share - end) / std::sqrt(end * (1 - end) / count),
                  1.959964, 1e-5);
    EXPECT_LT(found.low, share);
    EXPECT_GT(found.high, share);
  }
  EXPECT_EQ(wilsonInterval(0, 20, 0.95).low, 0);
  EXPECT_GT(wilsonInterval(0, 20, 0.95).high, 0.1);
  EXPECT_EQ(wilsonInterval(20, 20, 0.95).high, 1);
}

TEST(Intervals, Mean) {
  double values[] = {1, 2, 3, 4};
  Mean mean = meanOf(values);
  EXPECT_DOUBLE_EQ(mean.value, 2.5);
  // The deviation is sqrt(5 / 3), divided by the root of four.
  EXPECT_NEAR(mean.error, std::sqrt(5.0 / 3) / 2, 1e-12);
  // t with three degrees of freedom: 3.182446 on both sides, 2.353363 on one.
  EXPECT_NEAR(mean.interval(0.95).high, 2.5 + 3.182446 * mean.error, 1e-5);
  EXPECT_NEAR(mean.interval(0.95).low, 2.5 - 3.182446 * mean.error, 1e-5);
  EXPECT_NEAR(mean.upper(0.95), 2.5 + 2.353363 * mean.error, 1e-5);
}

// The deviation of one more number from a mean of four is s sqrt(1 + 1 / 4).
TEST(Intervals, NextNumber) {
  double values[] = {1, 2, 3, 4};
  EXPECT_NEAR(meanOf(values).upperOfNext(0.95),
              2.5 + 1.644854 * std::sqrt(5.0 / 3) * std::sqrt(1.25), 1e-5);
}

TEST(Intervals, OneNumberSaysNothing) {
  double value[] = {7};
  Mean mean = meanOf(value);
  EXPECT_EQ(mean.value, 7);
  EXPECT_TRUE(std::isinf(mean.interval(0.9).low));
  EXPECT_TRUE(std::isinf(mean.upper(0.9)));
}

// Groups pooled are all their numbers at once.
TEST(Intervals, Pool) {
  double all[] = {1, 2, 4, 8, 16, 3};
  std::span<const double> numbers(all);
  Mean groups[] = {meanOf(numbers.first(2)), meanOf(numbers.subspan(2, 3)),
                   meanOf(numbers.last(1))};
  Mean found = pool(groups), expected = meanOf(all);
  EXPECT_NEAR(found.value, expected.value, 1e-12);
  EXPECT_NEAR(found.error, expected.error, 1e-12);
  EXPECT_EQ(found.count, 6u);
}

// Two kinds that differ by 10 and hardly scatter: 0, 2 and 10, 14. Variances of
// their means are 1 and 4, shares one half each.
TEST(Intervals, Stratify) {
  double low[] = {0, 2}, high[] = {10, 14};
  Mean groups[] = {meanOf(low), meanOf(high)};
  Mean found = stratify(groups);
  EXPECT_NEAR(found.value, 6.5, 1e-12);
  EXPECT_NEAR(found.error, std::sqrt(0.25 * 1 + 0.25 * 4), 1e-12);
  // Each kind has a mean of its own: 4 - 2 degrees of freedom, t = 2.919986.
  EXPECT_NEAR(found.upper(0.95), 6.5 + 2.919986 * found.error, 1e-5);
  // A kind of one number does not say how much it scatters.
  double one[] = {5};
  Mean few[] = {meanOf(low), meanOf(one)};
  EXPECT_EQ(stratify(few).error, pool(few).error);
  EXPECT_EQ(stratify(few).strata, 1u);
}
