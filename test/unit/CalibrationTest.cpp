//===- CalibrationTest.cpp - Measurements in a file -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/Calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace gist;

/// Numbers that differ from each other, so that a mixed-up index shows.
static Calibration makeCalibration() {
  Calibration data;
  data.model = "a \"model\"";
  data.layers = 2;
  data.kvHeads = 1;
  data.block = 64;
  data.tokens = 1024;
  data.candidates = {{.kind = HeadKind::Window, .window = 128, .sinks = 4},
                     {.kind = HeadKind::Clusters, .window = 64, .theta = 0.7}};
  data.texts = {{"a.txt", "00ff", {100, 200, 400}},
                {"b.txt", "ff00", {110, 210, 410}}};
  // Three numbers each, for the checkpoints 256, 512 and 1024.
  HeadRun run{.losses = {100.5, 201, 402},
              .divergences = {0.25, 0.5, 8},
              .work = {{10, 1, 2}, {20, 2, 4}, {40, 4, 8}},
              .clusters = {1, 2, 3}};
  // Layer 1, head 0, candidate 1; one run for each text.
  data.runs[{1, 0, 1}] = {run, run};
  return data;
}

// The last two are the ends of the two copies; a length that is too short to
// have others still has these.
TEST(Calibration, Checkpoints) {
  std::vector<int64_t> expected = {256, 512, 1024};
  EXPECT_EQ(makeCheckpoints(1024), expected);
  // Two copies, however short.
  expected = {32, 64};
  EXPECT_EQ(makeCheckpoints(64), expected);
}

TEST(Calibration, Losses) {
  Calibration data = makeCalibration();
  const HeadRun &run = data.runs.begin()->second.front();
  // By hand: 0.5 nats more over the 255 predicted of the first 256 tokens, 1.5
  // over the first copy, 2 over the second.
  EXPECT_DOUBLE_EQ(data.firstCopyLoss(run, 0, 0).mean, 0.5 / 255);
  EXPECT_DOUBLE_EQ(data.firstCopyLoss(run, 0, 1).mean, 1.5 / 511);
  EXPECT_DOUBLE_EQ(data.secondCopyLoss(run, 0).mean, 2.0 / 512);
  EXPECT_DOUBLE_EQ(data.secondCopyLoss(run, 1).mean, -8.0 / 512);
  EXPECT_DOUBLE_EQ(data.firstCopyLoss(run, 0, 1).divergence, 0.75 / 511);
  EXPECT_DOUBLE_EQ(data.secondCopyLoss(run, 1).divergence, 8.0 / 512);
  EXPECT_EQ(data.firstCopyLoss(run, 0, 1).tokens, 511);
  EXPECT_EQ(data.secondCopyLoss(run, 1).tokens, 512);
}

/// Heads that change predictions at random: the divergence of each is known,
/// and with tokens drawn from the model it is what the head loses. Its mean
/// alone says less than the estimate.
TEST(Calibration, EstimatesScatterLessThanMeans) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (double divergence : {1e-5, 1e-4, 1e-3}) {
    double meanError = 0, estimateError = 0;
    constexpr int kHeads = 200, kTokens = 2000;
    for (int head = 0; head < kHeads; ++head) {
      MeanLoss loss{0, 0, kTokens};
      for (int t = 0; t < kTokens; ++t) {
        // What MeanLoss::estimate assumes: a mean of the divergence and a
        // variance of twice that.
        double change = divergence + std::sqrt(2 * divergence) * normal(random);
        loss.mean += change / kTokens;
        loss.divergence += divergenceOf(change) / kTokens;
      }
      meanError += std::pow(loss.mean - divergence, 2) / kHeads;
      estimateError += std::pow(loss.estimate() - divergence, 2) / kHeads;
    }
    // A head whose mean is known (2 / tokens = divergence) gains half.
    EXPECT_LT(estimateError, 0.45 * meanError) << divergence;
    if (divergence < 1e-4)
      EXPECT_LT(estimateError, 0.01 * meanError);
  }
}

// The estimate is a mean of what was measured and of what the divergence lets
// one expect, weighted by the number of tokens.
TEST(Calibration, EstimatesOfWhatIsKnown) {
  // Many tokens: the mean, which may be far from the divergence.
  EXPECT_NEAR((MeanLoss{0.02, 0.005, 1e6}).estimate(), 0.02, 1e-5);
  // Few: the divergence.
  EXPECT_NEAR((MeanLoss{0.02, 0.005, 1}).estimate(), 0.005, 1e-4);
  // Gains are not spent, and nothing changed is nothing lost.
  EXPECT_EQ((MeanLoss{-0.02, 0.005, 1e6}).estimate(), 0);
  EXPECT_EQ((MeanLoss{0, 0, 100}).estimate(), 0);
  // Of two texts as many tokens as both have.
  MeanLoss both{0.03, 0.01, 300};
  both.add({-0.01, 0.002, 100});
  EXPECT_DOUBLE_EQ(both.mean, 0.02);
  EXPECT_DOUBLE_EQ(both.divergence, 0.008);
  EXPECT_EQ(both.tokens, 400);
  both.add({5, 5, 0});
  EXPECT_DOUBLE_EQ(both.mean, 0.02);
  // change^2 / 2 near zero, |change| - 1 far from it.
  EXPECT_NEAR(divergenceOf(-0.01), 0.5e-4, 1e-8);
  EXPECT_NEAR(divergenceOf(100), 99, 0.01);
}

// A calibration takes hours, and goes on from the file.
TEST(Calibration, WrittenAndReadAgain) {
  std::string text = printCalibration(makeCalibration());
  Calibration data;
  Status status = parseCalibration(text, data);
  ASSERT_TRUE(status.ok()) << status.text;
  EXPECT_EQ(printCalibration(data), text);
  EXPECT_EQ(data.candidates, makeCalibration().candidates);
  EXPECT_EQ(data.runs.size(), 1u);
}

// A damaged file gives an error with a text, and leaves what was there alone.
TEST(Calibration, DamageIsASentence) {
  std::string text = printCalibration(makeCalibration());
  Calibration data;
  data.model = "before";
  auto damage = [&](const std::string &from, const std::string &to) {
    std::string copy = text;
    size_t at = copy.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    copy.replace(at, from.size(), to);
    Status status = parseCalibration(copy, data);
    EXPECT_FALSE(status.ok()) << from << " -> " << to;
    EXPECT_FALSE(status.text.empty());
  };
  damage("\"gist_calibration\"", "\"something\"");
  damage("\"gist_calibration\": 1", "\"gist_calibration\": 2");
  damage("\"layers\": 2", "\"layers\": 1");
  damage("\"tokens\": 1024", "\"tokens\": 0");
  // Beyond all integers: converted unchecked, these are undefined.
  for (const char *name : {"\"tokens\": 1024", "\"layers\": 2",
                           "\"kv_heads\": 1", "\"block\": 64"}) {
    std::string member(name);
    member.resize(member.find(' ') + 1);
    for (const char *value : {"2e85", "-2e85", "1.5", "-1", "1e400", "true",
                              "null", "18446744073709551615", "[]"})
      damage(name, member + value);
  }
  damage("\"candidate\":1", "\"candidate\":2");
  damage("\"clusters\":[1.0,2.0,3.0]", "\"clusters\":[1.0,2.0]");
  damage("\"theta\":0.7", "\"theta\":1.7");
  damage("\"dense_nll\"", "\"nll\"");
  damage("[100.0,200.0,400.0]", "\"all\"");
  // Writing a value recurses, and a candidate is written to be read.
  damage("\"candidates\": [", "\"candidates\": [" + std::string(200'000, '[') +
                                  std::string(200'000, ']') + ",");
  EXPECT_FALSE(parseCalibration("", data).ok());
  EXPECT_FALSE(parseCalibration("[1]", data).ok());
  EXPECT_EQ(data.model, "before");
}
