//===- DraftGovernor.h - How many tokens to draft --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_DRAFTGOVERNOR_H
#define GIST_RUNTIME_SESSION_DRAFTGOVERNOR_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace gist {

/// How many tokens are worth drafting: what is expected to be right, by what
/// was right lately, for what calls of so many rows take. It keeps an account:
/// time that drafts saved, less what they lost, and a hundredth of the time of
/// texts. A draft that might bring it below zero is not made, so that drafts
/// cannot cost more than that. Costs and account outlive a text: one governor
/// serves a session or a pool.
class DraftGovernor {
public:
  /// Rows of calls with drafts. What they take does not grow in a line: kernels
  /// have tiles, and sixteen rows may cost little more than two.
  static constexpr std::array<size_t, 4> kSizes = {2, 4, 8, 16};
  /// Rows of one call at most: where `short` ends, and products get tiles.
  static constexpr size_t kMostRows = kSizes.back();
  /// Calls that tell what rows take, in this order. The largest comes twice:
  /// its first call touches memory for the first time.
  static constexpr std::array<size_t, 5> kTrials = {16, 16, 8, 4, 2};

  /// One for calls that draw a token of each of several texts, with guesses of
  /// any; it takes over what trials told.
  DraftGovernor ofTexts(size_t count) const;

  /// A text begins, of whose guesses nothing is known.
  void begin(bool isFree);

  /// Whether trials have told what calls take.
  bool isMeasured() const { return costs.front() != 0; }
  /// A call of so many rows was tried.
  void noteTrial(size_t rows, int64_t nanoseconds);

  /// How many tokens to draft, at most `most`; 0: none.
  size_t choose(size_t most) const;
  /// How many of the guesses that are right with these chances to use; the
  /// first ones.
  size_t choose(std::span<const double> chances) const;

  /// A token was drawn without a draft, in so many nanoseconds.
  void notePlain(int64_t nanoseconds);
  /// Of `drafted` tokens the model took `accepted`, and drew one more.
  void noteDraft(size_t drafted, size_t accepted, int64_t draftNanoseconds,
                 int64_t verifyNanoseconds);
  /// The same of all texts together, `drawn` tokens of them: all that were
  /// taken, and one more of each.
  void noteDrafts(size_t drafted, size_t drawn, int64_t draftNanoseconds,
                  int64_t verifyNanoseconds);
  /// What to expect of the next guess in a text, where such a one was right or
  /// was not.
  static double learn(double acceptance, bool isRight);
  /// Of a text of whose guesses nothing is known; they cost nothing.
  static double firstHope();

  /// What calls of so many rows take, in nanoseconds, as far as it is known.
  std::vector<std::pair<size_t, double>> knownCosts() const;

  /// Whether a guess that was not used was right.
  void noteGuess(bool isRight);
  /// A token was drafted, and not used, in so many nanoseconds.
  void noteDrafting(int64_t nanoseconds);
  bool knowsDrafting() const { return isFree || draftToken != 0; }

private:
  double costOf(size_t size) const;

  size_t texts = 1;
  bool isFree = false;
  double acceptance = 0; ///< of the next drafted token
  double plain = 0;      ///< nanoseconds of a call without drafts; 0: not known
  double draftToken = 0; ///< of drafting one; 0: not known, or nothing
  // By size.
  std::array<double, kSizes.size()> costs = {}; ///< of calls; 0: not known
  std::array<size_t, kSizes.size()> ages = {};  ///< plain calls since
  double account = 0;
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_DRAFTGOVERNOR_H
