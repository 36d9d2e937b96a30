//===- Logprobs.cpp - How likely tokens are -------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Logprobs.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace gist;

TokenLogprobs gist::getLogprobs(std::span<const float> logits, int32_t token,
                                size_t count) {
  constexpr float kImpossible = -std::numeric_limits<float>::infinity();
  float best = kImpossible;
  for (float logit : logits)
    if (logit > best) // A NaN never is.
      best = logit;
  double sum = 0;
  if (best != kImpossible)
    for (float logit : logits)
      if (!std::isnan(logit))
        sum += std::exp(static_cast<double>(logit - best));
  double total = static_cast<double>(best) + std::log(sum);
  auto logprob = [&](float logit) {
    return std::isnan(logit) || best == kImpossible
               ? kImpossible
               : static_cast<float>(static_cast<double>(logit) - total);
  };
  TokenLogprobs result;
  result.logprob = logprob(logits[static_cast<size_t>(token)]);
  // The best so far, in order; a vocabulary is long and `count` short.
  auto comesBefore = [](const TokenLogprob &a, const TokenLogprob &b) {
    return a.logprob != b.logprob ? a.logprob > b.logprob : a.token < b.token;
  };
  std::vector<TokenLogprob> &top = result.top;
  for (size_t i = 0; count != 0 && i < logits.size(); ++i) {
    // Compared by logits first: their order is the same.
    if (std::isnan(logits[i]) ||
        (top.size() == count && !(logits[i] > top.back().logprob)))
      continue;
    TokenLogprob candidate{static_cast<int32_t>(i), logits[i]};
    if (top.size() == count)
      top.pop_back();
    top.insert(std::upper_bound(top.begin(), top.end(), candidate, comesBefore),
               candidate);
  }
  for (TokenLogprob &each : top)
    each.logprob = logprob(each.logprob);
  return result;
}
