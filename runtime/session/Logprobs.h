//===- Logprobs.h - How likely tokens are -----------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_LOGPROBS_H
#define GIST_RUNTIME_SESSION_LOGPROBS_H

#include <cstdint>
#include <span>
#include <vector>

namespace gist {

/// A token with the logarithm of its probability.
struct TokenLogprob {
  int32_t token = -1;
  float logprob = 0;
};

/// How likely a token was, and what else was likely.
struct TokenLogprobs {
  float logprob = 0;
  std::vector<TokenLogprob> top; ///< the most likely first
};

/// The logarithm of the probability of `token` by these logits, and the `count`
/// most likely ones; of equal logits the smaller id comes first. A NaN counts
/// as impossible.
TokenLogprobs getLogprobs(std::span<const float> logits, int32_t token,
                          size_t count);

} // namespace gist

#endif // GIST_RUNTIME_SESSION_LOGPROBS_H
