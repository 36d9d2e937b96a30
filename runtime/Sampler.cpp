//===- Sampler.cpp - From logits to the next token ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

using namespace gist;

//===----------------------------------------------------------------------===//
// Sampler
//===----------------------------------------------------------------------===//

Status Sampler::create(const SamplerOptions &options, Sampler &sampler) {
  // Written so that NaN is refused too.
  if (!(options.temperature >= 0.0f) || std::isinf(options.temperature))
    return Status::error(Code::BadArgument,
                         "temperature %g is not a number from 0",
                         static_cast<double>(options.temperature));
  if (!(options.topP > 0.0f && options.topP <= 1.0f))
    return Status::error(Code::BadArgument, "top-p %g is not in (0, 1]",
                         static_cast<double>(options.topP));
  if (!(options.minP >= 0.0f && options.minP <= 1.0f))
    return Status::error(Code::BadArgument, "min-p %g is not in [0, 1]",
                         static_cast<double>(options.minP));
  sampler.options = options;
  sampler.state = options.seed;
  return {};
}

/// The next number of SplitMix64 as a double in [0, 1).
double Sampler::uniform() {
  state += 0x9E3779B97F4A7C15;
  uint64_t z = state;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1.0p-53;
}

/// exp(x) for x <= 0 out of operations that are exactly rounded everywhere
/// (this file is compiled without contraction): a library's exp differs in the
/// last bit between machines, and then so would a text. Without branches, so
/// that the loop over a vocabulary is vectorised.
static inline double expOfNegative(double x) {
  constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453;
  constexpr double kRound = 0x1.8p52; // Adding it leaves the nearest integer.
  x = x > -700.0 ? x : -700.0;        // Also for NaN.
  double shifted = x * kLog2E + kRound;
  double rest = x - (shifted - kRound) * kLn2; // At most ln(2)/2.
  double sum = 1.0 / 479001600;
  sum = sum * rest + 1.0 / 39916800;
  sum = sum * rest + 1.0 / 3628800;
  sum = sum * rest + 1.0 / 362880;
  sum = sum * rest + 1.0 / 40320;
  sum = sum * rest + 1.0 / 5040;
  sum = sum * rest + 1.0 / 720;
  sum = sum * rest + 1.0 / 120;
  sum = sum * rest + 1.0 / 24;
  sum = sum * rest + 1.0 / 6;
  sum = sum * rest + 0.5;
  sum = sum * rest + 1.0;
  sum = sum * rest + 1.0;
  // The integer is in the low bits; shifted up it becomes the exponent.
  uint64_t exponent = std::bit_cast<uint64_t>(shifted) << 52;
  return std::bit_cast<double>(std::bit_cast<uint64_t>(sum) + exponent);
}

Status Sampler::sample(std::span<const float> logits, int32_t &token) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float best = -kInfinity;
  int32_t bestToken = -1;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (!(logits[i] > best)) // A NaN never is.
      continue;
    best = logits[i];
    bestToken = static_cast<int32_t>(i);
  }
  if (bestToken < 0)
    return Status::error(Code::BadArgument,
                         "none of %zu logits is a number above -inf",
                         logits.size());
  if (options.temperature == 0.0f || best == kInfinity) {
    token = bestToken;
    return {};
  }

  double scale = 1.0 / static_cast<double>(options.temperature);
  weights.resize(logits.size());
  for (size_t i = 0; i < logits.size(); ++i)
    weights[i] = expOfNegative((static_cast<double>(logits[i]) - best) * scale);
  chooseCandidates(logits);

  double total = 0.0;
  for (const Candidate &candidate : chosen)
    total += candidate.weight;
  double drawn = uniform() * total, sum = 0.0;
  token = chosen.back().token; // Where rounding leaves nothing.
  for (const Candidate &candidate : chosen) {
    sum += candidate.weight;
    if (sum > drawn) {
      token = candidate.token;
      break;
    }
  }
  return {};
}

/// Fills `chosen` with the tokens that pass the filters, never none: the best
/// has weight 1 and passes all of them.
void Sampler::chooseCandidates(std::span<const float> logits) {
  // Below this a token could not be drawn with 53 random bits.
  constexpr double kLeast = 0x1.0p-60;
  double total = 0.0;
  candidates.clear();
  chosen.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (!(weights[i] >= kLeast) || std::isnan(logits[i]))
      continue;
    candidates.push_back({logits[i], static_cast<int32_t>(i), weights[i]});
    total += weights[i];
  }
  size_t limit = options.topK ? options.topK : candidates.size();
  if (limit >= candidates.size() && options.topP >= 1.0f) {
    for (const Candidate &candidate : candidates)
      if (candidate.weight >= options.minP)
        chosen.push_back(candidate);
    return;
  }

  // Few are needed, so they are taken from a heap and the rest never sorted.
  auto comesLater = [](const Candidate &a, const Candidate &b) {
    return a.logit != b.logit ? a.logit < b.logit : a.token > b.token;
  };
  std::make_heap(candidates.begin(), candidates.end(), comesLater);
  auto take = [&] {
    std::pop_heap(candidates.begin(), candidates.end(), comesLater);
    chosen.push_back(candidates.back());
    candidates.pop_back();
  };
  if (limit < candidates.size()) {
    total = 0.0;
    while (chosen.size() < limit) {
      take();
      total += chosen.back().weight;
    }
    candidates.clear();
  }
  double enough = static_cast<double>(options.topP) * total, kept = 0.0;
  size_t count = 0;
  while (options.topP >= 1.0f || kept < enough) {
    if (count == chosen.size() && candidates.empty())
      break;
    if (count == chosen.size())
      take();
    if (chosen[count].weight < options.minP)
      break;
    kept += chosen[count++].weight;
  }
  chosen.resize(count);
}

//===----------------------------------------------------------------------===//
// StopMatcher
//===----------------------------------------------------------------------===//

StopMatcher::StopMatcher(std::vector<std::string> strings)
    : stops(std::move(strings)) {
  std::erase(stops, std::string());
  for (const std::string &stop : stops)
    longest = std::max(longest, stop.size());
}

std::string StopMatcher::push(std::string_view piece) {
  if (done)
    return {};
  held += piece;
  // The stop string that begins first, whichever is complete.
  size_t end = std::string::npos;
  for (const std::string &stop : stops)
    end = std::min(end, held.find(stop));
  done = end != std::string::npos;
  if (!done) {
    // The longest end of the text that some stop string begins with.
    end = held.size() - std::min(held.size(), longest);
    auto mayBegin = [&](size_t at) {
      std::string_view tail = std::string_view(held).substr(at);
      return std::any_of(
          stops.begin(), stops.end(),
          [&](const std::string &stop) { return stop.starts_with(tail); });
    };
    while (end < held.size() && !mayBegin(end))
      ++end;
  }
  std::string shown = held.substr(0, end);
  held.erase(0, done ? held.size() : end);
  return shown;
}

std::string StopMatcher::finish() {
  std::string shown = std::move(held);
  held.clear();
  return shown;
}
