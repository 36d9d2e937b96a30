//===- EvaluationTest.cpp - What rows of logits sum up to -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/Evaluation.h"
#include "runtime/device/ThreadPool.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

using namespace gist;
using namespace gist::run;

namespace {
constexpr size_t kRows = 37, kWidth = 1001;

/// Logits of two models that are close to one another, and what follows.
struct Rows {
  std::vector<float> logits, other;
  std::vector<int32_t> next;

  Rows() {
    std::mt19937 engine(3);
    std::normal_distribution<float> normal(0, 3);
    for (size_t i = 0; i < kRows * kWidth; ++i) {
      logits.push_back(normal(engine));
      other.push_back(logits.back() + 0.1f * normal(engine));
    }
    for (size_t i = 0; i < kRows; ++i)
      next.push_back(static_cast<int32_t>(engine() % kWidth));
  }
};
} // namespace

/// All that a comparison holds, to the bit.
static void expectSame(const Comparison &a, const Comparison &b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.nll, b.nll);
  EXPECT_EQ(a.nllSquares, b.nllSquares);
  EXPECT_EQ(a.referenceNll, b.referenceNll);
  EXPECT_EQ(a.right, b.right);
  EXPECT_EQ(a.equal, b.equal);
  EXPECT_EQ(a.kl, b.kl);
  EXPECT_EQ(a.klMax, b.klMax);
  EXPECT_EQ(a.error, b.error);
  EXPECT_EQ(a.errorMax, b.errorMax);
  EXPECT_EQ(a.lostLead, b.lostLead);
}

// One row after the other, in one thread and in three: nothing differs, with a
// reference and without.
TEST(Evaluation, ThreadsChangeNoBit) {
  Rows rows;
  for (bool isCompared : {false, true}) {
    std::span<const float> other;
    if (isCompared)
      other = rows.other;
    Comparison each;
    for (size_t i = 0; i < kRows; ++i)
      each.add(std::span(rows.logits).subspan(i * kWidth, kWidth),
               isCompared ? other.subspan(i * kWidth, kWidth) : other,
               rows.next[i]);
    ASSERT_EQ(each.count, kRows);
    EXPECT_GT(each.nll, 0);
    EXPECT_EQ(each.kl > 0, isCompared);
    for (unsigned threads : {1u, 3u}) {
      ThreadPool pool(threads);
      // Threads take turns otherwise each time.
      for (int time = 0; time < 20; ++time) {
        Comparison together;
        together.addRows(rows.logits, other, rows.next, pool);
        expectSame(together, each);
      }
    }
  }
}

// Of two rows of two entries everything is known: p = (1/4, 3/4) and
// q = (1/2, 1/2), whatever is added to the logits of a row.
TEST(Evaluation, FiguresOfAKnownRow) {
  float log3 = std::log(3.0f);
  std::vector<float> logits = {5, 5 + log3}, other = {-70, -70};
  Comparison known;
  known.add(logits, other, 0);
  EXPECT_NEAR(known.nll, std::log(4), 1e-6);
  EXPECT_NEAR(known.referenceNll, std::log(2), 1e-12);
  EXPECT_NEAR(known.kl, 0.5 * std::log(2) + 0.5 * std::log(2.0 / 3), 1e-6);
  EXPECT_EQ(known.klMax, known.kl);
  EXPECT_EQ(known.right, 0u);
  // Of equal logits the first counts.
  EXPECT_EQ(known.equal, 0u);
}

// A token that the reference rules out adds nothing; one that only the model
// rules out costs everything.
TEST(Evaluation, RuledOutTokens) {
  float never = -std::numeric_limits<float>::infinity();
  std::vector<float> logits = {1, 1, 1}, other = {1, never, 1};
  Comparison reference;
  reference.add(logits, other, 0);
  EXPECT_NEAR(reference.kl, std::log(1.5), 1e-12);
  Comparison model;
  model.add(other, logits, 0);
  EXPECT_EQ(model.kl, std::numeric_limits<double>::infinity());
}

// Equal rows do not diverge at all, however large their logits are.
TEST(Evaluation, EqualRowsDoNotDiverge) {
  Rows rows;
  ThreadPool pool(2);
  Comparison same;
  same.addRows(rows.other, rows.other, rows.next, pool);
  EXPECT_EQ(same.klMax, 0);
  EXPECT_EQ(same.errorMax, 0);
  EXPECT_EQ(same.equal, kRows);
}
