//===- Sampler.h - From logits to the next token ----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sampling with the usual filters, and the rules that end a text. Both give
// the same answer on every machine for the same logits and seed.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_SAMPLER_H
#define GIST_RUNTIME_SESSION_SAMPLER_H

#include "runtime/grammar/TokenMask.h"
#include "runtime/session/Adjustments.h"
#include "runtime/support/Status.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gist {

/// What is added to the logit of a token; -inf forbids the token.
struct LogitBias {
  int32_t token = 0;
  float bias = 0;
};

struct SamplerOptions {
  float temperature = 0.0f; ///< 0: always the most likely token.
  uint32_t topK = 0;        ///< Only the k most likely; 0: all.
  float topP = 1.0f;        ///< Only the most likely that reach this sum.
  float minP = 0.0f;        ///< Only those this likely relative to the best.
  uint64_t seed = 0;
  /// Makes tokens that were there lately less likely: divides a positive logit
  /// by this, and multiplies a negative one. 1: changes nothing.
  float repeatPenalty = 1.0f;
  uint32_t repeatWindow = 64; ///< Tokens that count as lately; 0: none.
  /// Taken from the logits of tokens that the answer has: once, and for each
  /// time that it has them.
  float presencePenalty = 0.0f, frequencyPenalty = 0.0f;
  std::vector<LogitBias> biases = {};
  /// None of `endTokens` is drawn before the answer has so many tokens.
  int64_t minTokens = 0;
  std::vector<int32_t> endTokens = {};
  /// Applied after all of these, in order. Each belongs to one text: two
  /// samplers cannot share them.
  AdjustmentList adjustments = {};
  /// What is written must match this; null: anything. Each sampler follows its
  /// own text.
  std::shared_ptr<const TokenGrammar> grammar = {};
};

/// All that one draw depends on besides the logits: the settings of the op
/// gist.sample (docs/dialect.md), which devices compute with as the host does.
struct SampleSettings {
  enum Field { Scale, TopK, TopP, Least, Random, NumFields };
  /// By default, greedy: the best token.
  std::array<int64_t, NumFields> numbers = {0, 1, int64_t{1} << 32, 1, 0};

  bool operator==(const SampleSettings &) const = default;
};

/// What a token is drawn from: those that can come, and how likely each is, in
/// whole numbers.
struct Distribution {
  struct Share {
    int32_t token;
    int64_t weight;
  };
  std::vector<Share> shares; ///< by token, ascending
  int64_t total = 0;         ///< of all weights

  /// 0 for a token that cannot come.
  double probability(int32_t token) const;
};

/// The error for logits none of which can be chosen.
Status noTokenError(size_t logits);

/// Draws tokens. The filters act in the order top-k, top-p, min-p on the
/// probabilities at the given temperature.
class Sampler {
public:
  /// Refuses options that are out of range. On error `sampler` is left as it
  /// was.
  static Status create(const SamplerOptions &options, Sampler &sampler);

  /// Takes tokens of the text that were not drawn here: the prompt.
  void see(std::span<const int32_t> tokens);

  /// Whether tokens must be drawn here, from logits: devices know neither the
  /// earlier tokens that penalties need nor the grammar of an answer.
  bool needsLogits() const { return !adjustments.empty(); }

  /// The settings that the next token is drawn with. Every call has another
  /// random number.
  SampleSettings next();

  /// The token that `settings` draw. A NaN counts as impossible; of equal
  /// logits the smaller id comes first. Adjustments change the logits before
  /// anything else looks at them, and are told of the token. Fails when no
  /// logit is above -inf.
  Status draw(std::span<const float> logits, const SampleSettings &settings,
              int32_t &token);

  /// The same with the next settings.
  Status sample(std::span<const float> logits, int32_t &token) {
    return draw(logits, next(), token);
  }

  /// What sample() would draw the next token from.
  Status distribution(std::span<const float> logits, Distribution &result);
  /// Draws from what distribution() gave. Adjustments are not told.
  int32_t drawFrom(const Distribution &from);

  /// Takes `drafted`, which was drawn from `draft`, or draws another token,
  /// so that every token is as likely as sample() makes it: rejection sampling.
  /// A greedy sampler takes the best token whatever was drafted.
  Status verify(std::span<const float> logits, int32_t drafted,
                const Distribution &draft, int32_t &token);

private:
  struct Candidate {
    float logit;
    int32_t token;
    int64_t weight;
  };
  static bool comesBefore(const Candidate &a, const Candidate &b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  }
  /// All that changes logits, in order.
  Status adjust(std::span<const float> &logits);
  /// Makes `candidates` those that can be drawn; `total` is their weight.
  Status filter(std::span<const float> logits, const SampleSettings &settings,
                int64_t &total);
  /// The candidate at `random`, of 2^32.
  int32_t pick(int64_t total, int64_t random) const;
  /// A random number below 1.
  double random();
  Status note(int32_t token);
  std::optional<Candidate> findLast(const SampleSettings &settings,
                                    int64_t total);

  SampleSettings settings;
  bool isGreedy = true;
  uint64_t state = 0;
  AdjustmentList adjustments;
  // Kept between calls for their memory.
  std::vector<Candidate> candidates, rest, first;
  std::vector<float> adjusted;
};

/// Finds stop strings in a text that comes in pieces. Text that may become the
/// beginning of a stop string is held back until that is decided.
class StopMatcher {
public:
  /// Empty strings are ignored.
  explicit StopMatcher(std::vector<std::string> stops);

  /// Takes the next piece and gives the text that can be shown. Once a stop
  /// string is complete, the text before it is given and nothing after it.
  std::string push(std::string_view piece);

  /// The text held back, when no more comes.
  std::string finish();

  bool stopped() const { return done; }

private:
  std::vector<std::string> stops;
  size_t longest = 0;
  std::string held;
  bool done = false;
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_SAMPLER_H
