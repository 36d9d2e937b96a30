//===- SamplerTest.cpp - From logits to the next token --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Sampler.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

using namespace gist;

namespace {

static constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
static constexpr float kInfinity = std::numeric_limits<float>::infinity();

static Sampler make(const SamplerOptions &options) {
  Sampler sampler;
  Status status = Sampler::create(options, sampler);
  EXPECT_TRUE(status.ok()) << status.text;
  return sampler;
}

/// One draw; the sampler's state moves on.
static int32_t draw(Sampler &sampler, const std::vector<float> &logits) {
  int32_t token = -1;
  Status status = sampler.sample(logits, token);
  EXPECT_TRUE(status.ok()) << status.text;
  return token;
}

/// The tokens that come up in many draws.
static std::set<int32_t> support(SamplerOptions options,
                                 const std::vector<float> &logits) {
  Sampler sampler = make(options);
  std::set<int32_t> seen;
  // Enough for the rarest token below, which has a probability of 0.1.
  for (int i = 0; i < 5000; ++i)
    seen.insert(draw(sampler, logits));
  return seen;
}

using Tokens = std::set<int32_t>;

// Ties, NaN and infinities have one answer each, which devices must give too.
TEST(Sampler, Greedy) {
  Sampler sampler = make({});
  EXPECT_EQ(draw(sampler, {1, 3, 2}), 1);
  EXPECT_EQ(draw(sampler, {3, 1, 3}), 0); // The smaller id of equals.
  EXPECT_EQ(draw(sampler, {kNan, -5, kNan}), 1);
  EXPECT_EQ(draw(sampler, {-kInfinity, -1e30f}), 1);
  EXPECT_EQ(draw(sampler, {0, kInfinity}), 1);
}

/// One draw after these tokens of a prompt.
static int32_t drawAfter(const SamplerOptions &options,
                         const std::vector<int32_t> &prompt,
                         const std::vector<float> &logits) {
  Sampler sampler = make(options);
  sampler.see(prompt);
  return draw(sampler, logits);
}

TEST(Sampler, RepeatPenalty) {
  const SamplerOptions options = {.repeatPenalty = 2, .repeatWindow = 3};
  EXPECT_TRUE(make(options).needsLogits());
  EXPECT_EQ(drawAfter(options, {}, {3, 2, -1}), 0);    // Nothing was seen.
  EXPECT_EQ(drawAfter(options, {0}, {3, 2, -1}), 1);   // 1.5, 2
  EXPECT_EQ(drawAfter(options, {0}, {-2, -3, -9}), 1); // -4, -3
  EXPECT_EQ(drawAfter(options, {0}, {5, 2, -1}), 0);   // 2.5, 2
  // Twice is not more than once: 2.5, not 1.25.
  EXPECT_EQ(drawAfter(options, {0, 0}, {5, 2, -1}), 0);
  // Ids that the vocabulary does not have count, and change nothing.
  EXPECT_EQ(drawAfter(options, {0, -1, 1000}, {3, 2, -1}), 1);
  // The window has moved beyond the first token 0, but not beyond the second.
  EXPECT_EQ(drawAfter(options, {0, 7, 8, 9}, {3, 2, -1}), 0);
  EXPECT_EQ(drawAfter(options, {0, 7, 0, 8, 9}, {3, 2, -1}), 1);

  // What is drawn counts too, until the window has moved beyond it.
  Sampler sampler = make(options);
  EXPECT_EQ(draw(sampler, {3, 2, 1.9f}), 0);
  EXPECT_EQ(draw(sampler, {3, 2, 1.9f}), 1); // 1.5, 2, 1.9
  EXPECT_EQ(draw(sampler, {3, 2, 1.9f}), 2); // 1.5, 1, 1.9
  EXPECT_EQ(draw(sampler, {3, 2, 1.9f}), 0); // 1.5, 1, .95

  EXPECT_FALSE(make({.repeatPenalty = 1}).needsLogits());
  EXPECT_FALSE(make({.repeatPenalty = 2, .repeatWindow = 0}).needsLogits());
  for (float bad : {0.0f, -1.0f, kNan, kInfinity}) {
    Sampler unchanged;
    EXPECT_FALSE(Sampler::create({.repeatPenalty = bad}, unchanged).ok());
  }
}

// Tokens of the answer count, each time; those of the prompt do not.
TEST(Sampler, PresenceAndFrequencyPenalties) {
  const std::vector<float> logits = {3, 2, 0};
  EXPECT_EQ(drawAfter({.presencePenalty = 2}, {0, 0}, logits), 0);
  Sampler once = make({.presencePenalty = 1.5f});
  EXPECT_EQ(draw(once, logits), 0);
  EXPECT_EQ(draw(once, logits), 1); // 1.5, 2
  EXPECT_EQ(draw(once, logits), 0); // 1.5, .5: the second 0 took nothing
  EXPECT_EQ(draw(once, logits), 0);
  Sampler each = make({.frequencyPenalty = 0.75f});
  EXPECT_EQ(draw(each, logits), 0);
  EXPECT_EQ(draw(each, logits), 0); // 2.25, 2
  EXPECT_EQ(draw(each, logits), 1); // 1.5, 2
  EXPECT_EQ(draw(each, logits), 0); // 1.5, 1.25
  // Both: .5 once and .25 each time.
  Sampler both = make({.presencePenalty = 0.5f, .frequencyPenalty = 0.25f});
  EXPECT_EQ(draw(both, logits), 0);
  EXPECT_EQ(draw(both, logits), 0); // 2.25, 2
  EXPECT_EQ(draw(both, logits), 0); // 2, 2
  EXPECT_EQ(draw(both, logits), 1); // 1.75, 2
  // Below zero they make tokens more likely.
  Sampler more = make({.presencePenalty = -2});
  EXPECT_EQ(draw(more, {0, 3, 2}), 1);
  EXPECT_EQ(draw(more, {0, 3, 4}), 1);
  for (float bad : {kNan, kInfinity}) {
    Sampler unchanged;
    EXPECT_FALSE(Sampler::create({.presencePenalty = bad}, unchanged).ok());
    EXPECT_FALSE(Sampler::create({.frequencyPenalty = bad}, unchanged).ok());
  }
}

TEST(Sampler, Biases) {
  Sampler sampler = make({.biases = {{2, 4.5f}, {7, 100}, {-1, 100}}});
  EXPECT_TRUE(sampler.needsLogits());
  EXPECT_EQ(draw(sampler, {3, 2, 0}), 2);
  EXPECT_EQ(draw(sampler, {5, 2, 0}), 0);
  EXPECT_EQ(support({.temperature = 1, .biases = {{1, -kInfinity}}}, {0, 1, 2}),
            (Tokens{0, 2}));
  Sampler unchanged;
  EXPECT_FALSE(Sampler::create({.biases = {{1, kNan}}}, unchanged).ok());
  EXPECT_FALSE(Sampler::create({.biases = {{1, kInfinity}}}, unchanged).ok());
}

TEST(Sampler, EndsWaitForTheLeastLength) {
  Sampler sampler =
      make({.biases = {{0, 50}}, .minTokens = 2, .endTokens = {0, 1, 900, -1}});
  EXPECT_EQ(draw(sampler, {9, 8, 1}), 2);
  EXPECT_EQ(draw(sampler, {9, 8, 1}), 2);
  EXPECT_EQ(draw(sampler, {9, 8, 1}), 0);
  EXPECT_FALSE(make({.minTokens = 2}).needsLogits());
  Sampler unchanged;
  EXPECT_FALSE(Sampler::create({.minTokens = -1}, unchanged).ok());
  // Nothing else can be drawn.
  Sampler stuck = make({.minTokens = 1, .endTokens = {0}});
  int32_t token = 77;
  EXPECT_FALSE(stuck.sample(std::vector<float>{1}, token).ok());
}

namespace {
/// Allows what comes after the last token of the text alone.
struct Next final : LogitsAdjustment {
  void read(std::span<const int32_t> tokens) override { last = tokens.back(); }
  Status write(int32_t token) override {
    last = token;
    return {};
  }
  Status apply(std::span<float> logits) override {
    for (size_t i = 0; i < logits.size(); ++i)
      if (static_cast<int32_t>(i) != last + 1)
        logits[i] = -kInfinity;
    return {};
  }
  int32_t last = -1;
};
} // namespace

// A mask sees the prompt and what was drawn, and has the last word.
TEST(Sampler, OwnAdjustments) {
  Sampler sampler =
      make({.biases = {{3, 1000}}, .adjustments = {std::make_shared<Next>()}});
  sampler.see(std::vector<int32_t>{2, 0});
  EXPECT_EQ(draw(sampler, {9, 1, 2, 3}), 1);
  EXPECT_EQ(draw(sampler, {9, 1, 2, 3}), 2);
  EXPECT_EQ(draw(sampler, {9, 1, 2, 3}), 3);
}

// No token is better than a wrong one; the old value stays.
TEST(Sampler, FailsWithoutAChoice) {
  for (float temperature : {0.0f, 1.0f}) {
    SamplerOptions options;
    options.temperature = temperature;
    Sampler sampler = make(options);
    int32_t token = 77;
    EXPECT_FALSE(sampler.sample(std::vector<float>(), token).ok());
    EXPECT_FALSE(sampler.sample(std::vector{kNan, -kInfinity}, token).ok());
    EXPECT_EQ(token, 77);
  }
}

// NaN passes comparisons that are written the other way round.
TEST(Sampler, RefusesOptionsOutOfRange) {
  Sampler sampler;
  SamplerOptions options;
  for (float bad : {-1.0f, kNan, kInfinity}) {
    options = {};
    options.temperature = bad;
    EXPECT_EQ(Sampler::create(options, sampler).code, Code::BadArgument);
    options = {};
    options.minP = bad;
    EXPECT_EQ(Sampler::create(options, sampler).code, Code::BadArgument);
    options = {};
    options.topP = bad;
    EXPECT_EQ(Sampler::create(options, sampler).code, Code::BadArgument);
  }
  options = {};
  options.topP = 0.0f;
  EXPECT_FALSE(Sampler::create(options, sampler).ok());
}

// The first outputs of SplitMix64 for the seed 0 are published:
// e220a8397b1dcdaf 6e789e6aa1b965f4 06c45d188009454f f88bb8a8724c81ec, that is
// 0.883 0.431 0.026 0.971; the sums of the four equal weights are 1, 2, 3, 4.
TEST(Sampler, TheSameEverywhere) {
  Sampler sampler = make({.temperature = 1.0f});
  std::vector<float> equal(4, 2.5f);
  std::vector<int32_t> got;
  for (int i = 0; i < 4; ++i)
    got.push_back(draw(sampler, equal));
  EXPECT_EQ(got, (std::vector{3, 1, 0, 3}));
}

// Against the softmax in f64.
TEST(Sampler, FrequenciesFollowTheProbabilities) {
  const std::vector<float> logits = {1.0f, kNan, 0.0f, -1.0f, 2.0f, -kInfinity};
  for (float temperature : {0.5f, 1.0f, 2.0f}) {
    std::vector<double> expected;
    double total = 0;
    for (float logit : logits) {
      expected.push_back(std::isnan(logit) ? 0 : std::exp(logit / temperature));
      total += expected.back();
    }
    Sampler sampler = make({.temperature = temperature, .seed = 5});
    constexpr int kDraws = 100000;
    std::vector<int> counts(logits.size());
    for (int i = 0; i < kDraws; ++i)
      ++counts[draw(sampler, logits)];
    for (size_t i = 0; i < logits.size(); ++i) {
      double p = expected[i] / total;
      // Five standard deviations.
      EXPECT_NEAR(counts[i], kDraws * p, 5 * std::sqrt(kDraws * p) + 1e-9);
    }
  }
}

// Every filter takes a part of the same order, and tokens are drawn in the
// order of their numbers: what a device must do too.
TEST(Sampler, DrawsByTheOrderOfTokens) {
  const std::vector<float> logits = {0.0f, 1.0f, 1.0f, 0.0f, 1.0f};
  auto drawWith = [&](int64_t topK, int64_t random) {
    Sampler sampler;
    SampleSettings settings;
    // So cold that a logit of 0 beside one of 1 has no weight left.
    settings.numbers[SampleSettings::Scale] = std::bit_cast<int32_t>(1e9f);
    settings.numbers[SampleSettings::TopK] = topK;
    settings.numbers[SampleSettings::Random] = random;
    int32_t token = -1;
    Status status = sampler.draw(logits, settings, token);
    EXPECT_TRUE(status.ok()) << status.text;
    return token;
  };
  constexpr int64_t kWhole = int64_t{1} << 32;
  // Three equal weights: thirds of the random numbers.
  EXPECT_EQ(drawWith(5, 0), 1);
  EXPECT_EQ(drawWith(5, kWhole / 3), 1);
  EXPECT_EQ(drawWith(5, kWhole / 3 + 1), 2);
  EXPECT_EQ(drawWith(5, kWhole * 2 / 3 + 1), 4);
  EXPECT_EQ(drawWith(5, kWhole - 1), 4);
  // Of equals the first.
  EXPECT_EQ(drawWith(2, 0), 1);
  EXPECT_EQ(drawWith(2, kWhole - 1), 2);
  EXPECT_EQ(drawWith(1, kWhole - 1), 1);
}

// Every filter alone and in pairs; what can be drawn is what counts.
TEST(Sampler, Filters) {
  // Probabilities 0.4, 0.3, 0.2, 0.1 in the order 2, 0, 3, 1.
  const std::vector<float> logits = {std::log(0.3f), std::log(0.1f),
                                     std::log(0.4f), std::log(0.2f)};
  SamplerOptions base{.temperature = 1.0f};
  auto with = [&](auto change) {
    SamplerOptions options = base;
    change(options);
    return support(options, logits);
  };
  EXPECT_EQ(support(base, logits), (Tokens{0, 1, 2, 3}));
  EXPECT_EQ(with([](auto &o) { o.topK = 1; }), (Tokens{2}));
  EXPECT_EQ(with([](auto &o) { o.topK = 3; }), (Tokens{0, 2, 3}));
  EXPECT_EQ(with([](auto &o) { o.topK = 9; }), (Tokens{0, 1, 2, 3}));
  EXPECT_EQ(with([](auto &o) { o.topP = 0.35f; }), (Tokens{2}));
  EXPECT_EQ(with([](auto &o) { o.topP = 0.65f; }), (Tokens{0, 2}));
  EXPECT_EQ(with([](auto &o) { o.topP = 0.75f; }), (Tokens{0, 2, 3}));
  EXPECT_EQ(with([](auto &o) { o.topP = 1e-6f; }), (Tokens{2}));
  EXPECT_EQ(with([](auto &o) { o.minP = 0.45f; }), (Tokens{0, 2, 3}));
  EXPECT_EQ(with([](auto &o) { o.minP = 0.55f; }), (Tokens{0, 2}));
  EXPECT_EQ(with([](auto &o) { o.minP = 1.0f; }), (Tokens{2}));
  // top-p counts what top-k left: 0.4 of 0.7 is more than half.
  EXPECT_EQ(with([](auto &o) { o.topK = 2, o.topP = 0.5f; }), (Tokens{2}));
  EXPECT_EQ(with([](auto &o) { o.topK = 3, o.minP = 0.55f; }), (Tokens{0, 2}));
}

/// Everything that is shown when a text comes in these pieces.
static std::string shown(StopMatcher &matcher,
                         const std::vector<std::string> &pieces) {
  std::string text;
  for (const std::string &piece : pieces)
    text += matcher.push(piece);
  return text + matcher.finish();
}

TEST(StopMatcher, CutsBeforeTheStopString) {
  // Whatever the pieces, the result is the same.
  const std::string text = "one END two";
  for (size_t cut = 0; cut <= text.size(); ++cut)
    for (size_t other = cut; other <= text.size(); ++other) {
      StopMatcher matcher({"END", "nothing"});
      EXPECT_EQ(
          shown(matcher, {text.substr(0, cut), text.substr(cut, other - cut),
                          text.substr(other)}),
          "one ");
      EXPECT_TRUE(matcher.stopped());
    }
}

// Text must appear as soon as it cannot be part of a stop string.
TEST(StopMatcher, HoldsBackOnlyWhatMayBecomeOne) {
  StopMatcher matcher({"aab", "xyz"});
  EXPECT_EQ(matcher.push("1a"), "1");
  EXPECT_EQ(matcher.push("a"), "");
  EXPECT_EQ(matcher.push("a"), "a"); // "aa" may still begin "aab".
  EXPECT_EQ(matcher.push("c"), "aac");
  EXPECT_EQ(matcher.push("xy"), "");
  EXPECT_EQ(matcher.finish(), "xy");
  EXPECT_FALSE(matcher.stopped());
}

// An empty stop string would match everywhere and is left out.
TEST(StopMatcher, TheFirstOfSeveralStops) {
  StopMatcher matcher({"dd", "bc", ""});
  EXPECT_EQ(matcher.push("abcdd"), "a");
  EXPECT_TRUE(matcher.stopped());
  EXPECT_EQ(matcher.push("more"), "");
  EXPECT_EQ(matcher.finish(), "");
  StopMatcher none({});
  EXPECT_EQ(none.push("text"), "text");
}

} // namespace
