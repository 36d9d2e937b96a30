//===- DraftVerifier.h - Several tokens in one call -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model reads the last token and the drafted ones in one call and draws a
// token after each of them, until one is not what was drafted. What was read
// beyond it is forgotten. Greedy tokens are those of one call each; with
// sampling every token has the probability that it has without drafts.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_DRAFTVERIFIER_H
#define GIST_RUNTIME_SESSION_DRAFTVERIFIER_H

#include "runtime/session/DraftGovernor.h"
#include "runtime/session/Drafter.h"

#include <memory>
#include <span>
#include <vector>

namespace gist {

struct DraftCounts {
  int64_t drafted = 0, accepted = 0; ///< tokens
  int64_t calls = 0;                 ///< with drafts
};

/// Asks a drafter as often as it pays, and notes what became of its guesses.
class Drafting {
public:
  /// `governor` outlives this. With `always`, so many tokens are drafted each
  /// time, worth it or not.
  Drafting(std::shared_ptr<Drafter> drafter, DraftGovernor &governor,
           size_t always)
      : drafter(std::move(drafter)), governor(governor), always(always) {}

  /// A text begins that is drawn with these options.
  Status begin(const SamplerOptions &options);

  /// Before a call: guesses what follows `text`, at most `most` tokens, perhaps
  /// none.
  Status propose(std::span<const int32_t> text, size_t most, Draft &draft);

  /// After the call for the last token and `draft`: `first` was drawn after the
  /// one, and so many of the other were right.
  void finish(const Draft &draft, int32_t first, size_t accepted);

private:
  std::shared_ptr<Drafter> drafter;
  DraftGovernor &governor;
  size_t always;        ///< 0: as the governor says
  bool hasRead = false; ///< the text so far, which takes a model time
  Draft unused;         ///< what was guessed only to see whether it is right
  int64_t start = 0, proposed = 0; ///< when
};

/// Draws the token after row `index` of a call for the last token and `draft`.
Status drawAfter(const Draft &draft, size_t index,
                 std::span<const float> logits, Sampler &sampler,
                 int32_t &token);

class DraftVerifier {
public:
  /// Fails where a session cannot go back or has no logits of every token.
  static Status check(const Session &session);

  /// After that check. `session` outlives the result. With `always`, so many
  /// tokens are drafted each time, worth it or not. `options` have the tokens
  /// that end the text.
  static Status create(Session &session, std::shared_ptr<Drafter> drafter,
                       const SamplerOptions &options, size_t always,
                       std::unique_ptr<DraftVerifier> &result);

  /// Appends at least one token and at most `most` to `drawn`. The session has
  /// seen `text` but for its last token, and afterwards all but the last that
  /// was drawn.
  Status next(std::span<const int32_t> text, size_t most, Sampler &sampler,
              std::vector<int32_t> &drawn);

  const DraftCounts &counts() const { return total; }

private:
  DraftVerifier(Session &session, Drafting drafting, std::vector<int32_t> ends)
      : session(session), drafting(std::move(drafting)), ends(std::move(ends)) {
  }
  /// How many tokens can be drafted in the next call.
  size_t roomFor(size_t most) const;
  /// Reads the last token and the draft; draws after each.
  Status verify(int32_t last, Sampler &sampler, std::vector<int32_t> &drawn);

  Session &session;
  Drafting drafting;
  std::vector<int32_t> ends;
  Draft draft;
  DraftCounts total;
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_DRAFTVERIFIER_H
