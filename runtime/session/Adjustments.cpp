//===- Adjustments.cpp - Changes of logits before a draw ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Adjustments.h"

#include "runtime/session/Sampler.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <map>
#include <system_error>

using namespace gist;

/// The logit of a token, or null for ids that the vocabulary does not have.
static float *findLogit(std::span<float> logits, int32_t token) {
  auto i = static_cast<size_t>(token);
  return token < 0 || i >= logits.size() ? nullptr : &logits[i];
}

namespace {
/// Makes tokens that were there lately less likely, each as if it had been
/// there once.
class RepeatPenalty final : public LogitsAdjustment {
public:
  RepeatPenalty(float penalty, size_t window)
      : penalty(penalty), window(window) {}

  void read(std::span<const int32_t> tokens) override {
    // Only the last `window` tokens of old and new together count.
    tokens = tokens.last(std::min(window, tokens.size()));
    for (int32_t token : tokens)
      remember(token);
  }

  Status write(int32_t token) override {
    remember(token);
    return {};
  }

  Status apply(std::span<float> logits) override {
    for (const auto &[token, count] : counts)
      if (float *logit = findLogit(logits, token))
        *logit = *logit > 0 ? *logit / penalty : *logit * penalty;
    return {};
  }

private:
  void remember(int32_t token) {
    if (recent.size() < window) {
      recent.push_back(token);
    } else {
      forget(recent[oldest]);
      recent[oldest] = token;
      oldest = (oldest + 1) % window;
    }
    ++counts[token];
  }

  void forget(int32_t token) {
    auto found = counts.find(token);
    if (--found->second == 0)
      counts.erase(found);
  }

  float penalty;
  size_t window, oldest = 0;
  std::vector<int32_t> recent; ///< a ring once it is full
  std::map<int32_t, size_t> counts;
};

/// Makes tokens of the answer less likely: once because they are there, and
/// again each time that they are.
class CountPenalty final : public LogitsAdjustment {
public:
  CountPenalty(float presence, float frequency)
      : presence(presence), frequency(frequency) {}

  Status write(int32_t token) override {
    ++counts[token];
    return {};
  }

  Status apply(std::span<float> logits) override {
    for (const auto &[token, count] : counts)
      if (float *logit = findLogit(logits, token))
        *logit -= presence + frequency * static_cast<float>(count);
    return {};
  }

private:
  float presence, frequency;
  std::map<int32_t, size_t> counts;
};

class Bias final : public LogitsAdjustment {
public:
  explicit Bias(std::vector<LogitBias> biases) : biases(std::move(biases)) {}

  Status apply(std::span<float> logits) override {
    for (const LogitBias &bias : biases)
      if (float *logit = findLogit(logits, bias.token))
        *logit += bias.bias;
    return {};
  }

private:
  std::vector<LogitBias> biases;
};

/// Forbids tokens until the answer has a length.
class NotYet final : public LogitsAdjustment {
public:
  NotYet(int64_t least, std::vector<int32_t> tokens)
      : left(least), tokens(std::move(tokens)) {}

  Status write(int32_t) override {
    left -= left > 0 ? 1 : 0;
    return {};
  }

  Status apply(std::span<float> logits) override {
    if (left == 0)
      return {};
    for (int32_t token : tokens)
      if (float *logit = findLogit(logits, token))
        *logit = -std::numeric_limits<float>::infinity();
    return {};
  }

private:
  int64_t left;
  std::vector<int32_t> tokens;
};

/// Holds the answer to a grammar. What may come next is computed by a thread of
/// its own, while the model computes how likely it is.
class GrammarMask final : public LogitsAdjustment {
public:
  explicit GrammarMask(std::shared_ptr<const TokenGrammar> grammar)
      : mask(std::move(grammar)) {
    prepare();
  }

  Status write(int32_t token) override {
    GIST_TRY(wait());
    GIST_TRY(mask.accept(token));
    prepare();
    return {};
  }

  Status apply(std::span<float> logits) override {
    GIST_TRY(wait());
    auto isPossible = [](float logit) {
      return logit > -std::numeric_limits<float>::infinity();
    };
    bool hadChoice = std::any_of(logits.begin(), logits.end(), isPossible);
    GIST_TRY(mask.apply(logits));
    if (hadChoice && std::none_of(logits.begin(), logits.end(), isPossible))
      return Status::error(Code::BadArgument,
                           "the grammar allows here only tokens that biases, "
                           "the least length or the model forbid; change the "
                           "grammar or one of those");
    return {};
  }

private:
  void prepare() {
    if (mask.isPrepared())
      return;
    try {
      coming =
          std::async(std::launch::async, [this] { return mask.prepare(); });
    } catch (const std::system_error &) {
      // There are no more threads: apply() computes it.
    }
  }
  Status wait() { return coming.valid() ? coming.get() : Status(); }

  TokenMask mask;
  std::future<Status> coming; ///< goes first, and waits
};
} // namespace

static Status checkOptions(const SamplerOptions &options) {
  // Written so that NaN is refused too.
  if (!(options.repeatPenalty > 0.0f) || std::isinf(options.repeatPenalty))
    return Status::error(Code::BadArgument,
                         "the repeat penalty is %g; expected a number above 0",
                         static_cast<double>(options.repeatPenalty));
  const std::pair<const char *, float> penalties[] = {
      {"presence", options.presencePenalty},
      {"frequency", options.frequencyPenalty}};
  for (const auto &[name, value] : penalties)
    if (!std::isfinite(value))
      return Status::error(Code::BadArgument,
                           "the %s penalty is %g; expected a finite number",
                           name, static_cast<double>(value));
  for (const LogitBias &bias : options.biases)
    // -inf forbids a token.
    if (!(bias.bias < std::numeric_limits<float>::infinity()))
      return Status::error(Code::BadArgument,
                           "the bias of token %d is %g; expected a number "
                           "below infinity",
                           bias.token, static_cast<double>(bias.bias));
  if (options.minTokens < 0)
    return Status::error(Code::BadArgument,
                         "an answer cannot have at least %lld tokens; expected "
                         "0 or more",
                         static_cast<long long>(options.minTokens));
  return {};
}

Status gist::makeAdjustments(const SamplerOptions &options,
                             AdjustmentList &list) {
  GIST_TRY(checkOptions(options));
  if (options.repeatPenalty != 1.0f && options.repeatWindow != 0)
    list.push_back(std::make_shared<RepeatPenalty>(options.repeatPenalty,
                                                   options.repeatWindow));
  if (options.presencePenalty != 0.0f || options.frequencyPenalty != 0.0f)
    list.push_back(std::make_shared<CountPenalty>(options.presencePenalty,
                                                  options.frequencyPenalty));
  if (!options.biases.empty())
    list.push_back(std::make_shared<Bias>(options.biases));
  if (options.minTokens > 0 && !options.endTokens.empty())
    list.push_back(
        std::make_shared<NotYet>(options.minTokens, options.endTokens));
  list.insert(list.end(), options.adjustments.begin(),
              options.adjustments.end());
  // Last, so that nothing makes possible what the grammar forbids.
  if (options.grammar)
    list.push_back(std::make_shared<GrammarMask>(options.grammar));
  return {};
}
