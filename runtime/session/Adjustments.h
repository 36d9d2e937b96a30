//===- Adjustments.h - Changes of logits before a draw ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sampler has a list of these, each of which changes the logits in turn:
// penalties, biases, tokens that cannot come yet, and last a grammar.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_ADJUSTMENTS_H
#define GIST_RUNTIME_SESSION_ADJUSTMENTS_H

#include "runtime/support/Status.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace gist {

struct SamplerOptions;

/// Changes the logits that a token is drawn from. It belongs to one text, whose
/// tokens it is told.
class LogitsAdjustment {
public:
  virtual ~LogitsAdjustment() = default;

  /// Tokens of the prompt, before any is drawn.
  virtual void read(std::span<const int32_t> tokens) { (void)tokens; }
  /// The token that was drawn.
  virtual Status write(int32_t token) {
    (void)token;
    return {};
  }
  /// Changes the logits of the next token; -inf forbids one.
  virtual Status apply(std::span<float> logits) = 0;
};

using AdjustmentList = std::vector<std::shared_ptr<LogitsAdjustment>>;

/// Appends what `options` ask for, in the order in which it is to be applied:
/// what forbids tokens comes last. Refuses options that are out of range; then
/// `list` is left as it was.
Status makeAdjustments(const SamplerOptions &options, AdjustmentList &list);

} // namespace gist

#endif // GIST_RUNTIME_SESSION_ADJUSTMENTS_H
