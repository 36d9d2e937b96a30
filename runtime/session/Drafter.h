//===- Drafter.h - Guesses of the next tokens -------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model reads several tokens in little more time than one. So tokens that
// something cheaper guesses are read at once, and those that the model would
// have drawn itself are kept (DraftVerifier.h). A drafter makes the guesses; it
// changes how fast a text comes and never which.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_DRAFTER_H
#define GIST_RUNTIME_SESSION_DRAFTER_H

#include "runtime/session/Sampler.h"
#include "runtime/session/Session.h"

#include <memory>
#include <span>
#include <vector>

namespace gist {

class Tokenizer;

/// Tokens that may come next.
struct Draft {
  std::vector<int32_t> tokens;
  /// What each was drawn from; empty: from nothing, they are all it has.
  std::vector<Distribution> from;
};

class Drafter {
public:
  virtual ~Drafter() = default;

  /// A text begins that is drawn with these options.
  virtual Status begin(const SamplerOptions &options) = 0;

  /// Guesses at most `most` tokens that follow `text`, which is all that the
  /// caller knows of it; perhaps none.
  virtual Status draft(std::span<const int32_t> text, size_t most,
                       Draft &result) = 0;

  /// Whether a guess takes no time that matters.
  virtual bool isFree() const = 0;
};

/// Guesses that what followed the last tokens earlier in the text follows them
/// again: quotations, names, code that is repeated with small changes.
std::unique_ptr<Drafter> makeLookupDrafter();

/// Lets another, smaller model of the same tokenizer write. Fails where the two
/// have different tokens, or where the smaller one cannot go back. The device
/// outlives the result. `target` and `tokenizer` are those of the model that is
/// drafted for; `context` is how many tokens it holds.
Status makeModuleDrafter(std::shared_ptr<const Module> module, Device &device,
                         bool trust, const Module &target, int64_t context,
                         const Tokenizer &tokenizer,
                         std::unique_ptr<Drafter> &result);

} // namespace gist

#endif // GIST_RUNTIME_SESSION_DRAFTER_H
