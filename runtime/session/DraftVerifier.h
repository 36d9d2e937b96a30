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

#include "runtime/session/Drafter.h"

#include <array>
#include <memory>
#include <span>
#include <vector>

namespace gist {

/// How many tokens are worth drafting, by what was accepted lately and by what
/// calls take. It keeps an account: time that drafts saved, less what they
/// lost, and a fiftieth of the time of the text. A draft that might bring it
/// below zero is not made, so that drafts cannot cost more than that.
class DraftGovernor {
public:
  /// Rows of one call at most: where `short` ends, and products get tiles.
  static constexpr size_t kMostRows = 16;

  explicit DraftGovernor(bool isFree) : isFree(isFree) {}

  /// How many tokens to draft, at most `most`; 0: none.
  size_t choose(size_t most) const;

  /// A token was drawn without a draft, in so many nanoseconds.
  void notePlain(int64_t nanoseconds);
  /// Of `drafted` tokens the model took `accepted`, and drew one more.
  void noteDraft(size_t drafted, size_t accepted, int64_t draftNanoseconds,
                 int64_t verifyNanoseconds);
  /// What a guess would have been, where it cost nothing to ask.
  void noteGuess(bool isRight) { acceptance += kRate * (isRight - acceptance); }

private:
  /// Share of a new value in a mean.
  static constexpr double kRate = 0.1;

  double costOf(size_t rows) const;

  bool isFree;
  double acceptance = 0.6; ///< of the next drafted token
  double plain = 0;        ///< nanoseconds of a call for one token
  double draftToken = 0;   ///< of drafting one
  /// By the number of rows; 0: not known.
  std::array<double, kMostRows + 1> rowCosts = {};
  double account = 0;
};

struct DraftCounts {
  int64_t drafted = 0, accepted = 0; ///< tokens
  int64_t calls = 0;                 ///< with drafts
};

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
  DraftVerifier(Session &session, std::shared_ptr<Drafter> drafter,
                size_t always, std::vector<int32_t> ends)
      : session(session), drafter(std::move(drafter)), always(always),
        ends(std::move(ends)), governor(this->drafter->isFree()) {}
  /// How many tokens can be drafted in the next call.
  size_t roomFor(size_t most) const;
  Status drawPlain(std::span<const int32_t> text, Sampler &sampler,
                   std::vector<int32_t> &drawn);
  /// Reads the last token and the draft; draws after each.
  Status verify(int32_t last, Sampler &sampler, std::vector<int32_t> &drawn);

  Session &session;
  std::shared_ptr<Drafter> drafter;
  size_t always; ///< 0: as the governor says
  std::vector<int32_t> ends;
  DraftGovernor governor;
  Draft draft;
  DraftCounts total;
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_DRAFTVERIFIER_H
