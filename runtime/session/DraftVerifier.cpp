//===- DraftVerifier.cpp - Several tokens in one call ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/DraftVerifier.h"

#include "runtime/session/Profile.h"

#include <algorithm>

using namespace gist;

//===----------------------------------------------------------------------===//
// DraftGovernor
//===----------------------------------------------------------------------===//

/// Part of the time of a text that drafts may lose, and calls for one token
/// that they may lose before anything is known.
static constexpr double kAllowance = 0.02, kFirstCredit = 0.5;
/// What drafts saved long ago does not pay for losses now, beyond so many
/// calls.
static constexpr double kMostCredit = 16;
/// What a row of a call costs beside the first, until it was measured.
static constexpr double kRowGuess = 0.25;
/// What becomes of the acceptance while nothing is drafted, so that a draft is
/// tried again some time.
static constexpr double kHope = 0.6, kHopeRate = 0.01;

/// What a call of so many rows takes: as measured, or between the measured
/// numbers around it.
double DraftGovernor::costOf(size_t rows) const {
  size_t below = rows, above = rows;
  while (below > 1 && rowCosts[below] == 0)
    --below;
  while (above <= kMostRows && rowCosts[above] == 0)
    ++above;
  double low = below > 1 ? rowCosts[below] : plain;
  if (below == rows || rows == 1)
    return low;
  double slope = kRowGuess * plain;
  if (above <= kMostRows)
    slope = (rowCosts[above] - low) / static_cast<double>(above - below);
  else if (below > 1)
    slope = (low - plain) / static_cast<double>(below - 1);
  return low + std::max(slope, 0.0) * static_cast<double>(rows - below);
}

size_t DraftGovernor::choose(size_t most) const {
  // Nothing can be said before one token was drawn without.
  if (plain == 0)
    return 0;
  // What several rows take is first tried with one draft.
  if (std::all_of(rowCosts.begin(), rowCosts.end(),
                  [](double cost) { return cost == 0; }))
    most = std::min<size_t>(most, 1);
  size_t best = 0;
  double bestRate = 1 / plain, expected = 1, chance = 1;
  for (size_t count = 1; count <= std::min(most, kMostRows - 1); ++count) {
    chance *= acceptance;
    expected += chance;
    double cost = costOf(count + 1) + draftToken * static_cast<double>(count);
    // One token is drawn whatever was drafted.
    if (cost - plain > account)
      break;
    if (expected / cost > bestRate) {
      bestRate = expected / cost;
      best = count;
    }
  }
  return best;
}

void DraftGovernor::notePlain(int64_t nanoseconds) {
  auto now = static_cast<double>(nanoseconds);
  if (plain == 0)
    account = kFirstCredit * now;
  plain = plain == 0 ? now : plain + kRate * (now - plain);
  account += kAllowance * now;
  if (!isFree)
    acceptance += kHopeRate * (std::max(acceptance, kHope) - acceptance);
}

void DraftGovernor::noteDraft(size_t drafted, size_t accepted,
                              int64_t draftNanoseconds,
                              int64_t verifyNanoseconds) {
  auto verify = static_cast<double>(verifyNanoseconds);
  auto draft = static_cast<double>(draftNanoseconds);
  double &cost = rowCosts[std::min(drafted + 1, kMostRows)];
  cost = cost == 0 ? verify : cost + 3 * kRate * (verify - cost);
  double each = draft / static_cast<double>(std::max<size_t>(drafted, 1));
  draftToken =
      draftToken == 0 ? each : draftToken + kRate * (each - draftToken);
  for (size_t i = 0; i < std::min(accepted + 1, drafted); ++i)
    noteGuess(i < accepted);
  double drawn = plain * static_cast<double>(accepted + 1);
  account = std::min(account + drawn * (1 + kAllowance) - verify - draft,
                     kMostCredit * plain);
}

//===----------------------------------------------------------------------===//
// DraftVerifier
//===----------------------------------------------------------------------===//

Status DraftVerifier::check(const Session &session) {
  return session.checkApart().in("drafts");
}

Status DraftVerifier::create(Session &session, std::shared_ptr<Drafter> drafter,
                             const SamplerOptions &options, size_t always,
                             std::unique_ptr<DraftVerifier> &result) {
  GIST_TRY(check(session));
  // Here, so that it is not part of what a verifying call costs.
  GIST_TRY(session.prepareApart());
  GIST_TRY(drafter->begin(options));
  always = std::min(always, DraftGovernor::kMostRows - 1);
  result.reset(new DraftVerifier(session, std::move(drafter), always,
                                 options.endTokens));
  return {};
}

size_t DraftVerifier::roomFor(size_t most) const {
  int64_t past = session.position();
  // The last token is read too.
  int64_t room = std::min(session.capacity() - past, session.mostApart()) - 1;
  return std::min(most - 1, static_cast<size_t>(std::max<int64_t>(room, 0)));
}

Status DraftVerifier::drawPlain(std::span<const int32_t> text, Sampler &sampler,
                                std::vector<int32_t> &drawn) {
  int64_t start = Profile::now();
  int32_t token = 0;
  GIST_TRY(session.next(text.last(1), sampler, token));
  governor.notePlain(Profile::now() - start);
  drawn.push_back(token);
  // What costs nothing is asked also when it is not used.
  if (drafter->isFree()) {
    GIST_TRY(drafter->draft(text, 1, draft));
    if (!draft.tokens.empty())
      governor.noteGuess(draft.tokens[0] == token);
  }
  return {};
}

Status DraftVerifier::verify(int32_t last, Sampler &sampler,
                             std::vector<int32_t> &drawn) {
  std::vector<int32_t> tokens = {last};
  tokens.insert(tokens.end(), draft.tokens.begin(), draft.tokens.end());
  int64_t before = session.position();
  size_t accepted = 0;
  bool isOver = false;
  GIST_TRY(session.scoreApart(
      tokens, [&](size_t index, std::span<const float> logits) -> Status {
        if (isOver)
          return {};
        bool isDrafted = index < draft.tokens.size();
        int32_t token = 0;
        if (isDrafted && !draft.from.empty())
          GIST_TRY(sampler.verify(logits, draft.tokens[index],
                                  draft.from[index], token));
        else
          GIST_TRY(sampler.sample(logits, token));
        drawn.push_back(token);
        // After its end a text has no next token, for which a grammar might
        // fail.
        isOver = !isDrafted || token != draft.tokens[index] ||
                 std::find(ends.begin(), ends.end(), token) != ends.end();
        accepted += isOver ? 0 : 1;
        return {};
      }));
  total.drafted += static_cast<int64_t>(draft.tokens.size());
  total.accepted += static_cast<int64_t>(accepted);
  ++total.calls;
  return session.rewind(before + 1 + static_cast<int64_t>(accepted));
}

Status DraftVerifier::next(std::span<const int32_t> text, size_t most,
                           Sampler &sampler, std::vector<int32_t> &drawn) {
  size_t room = roomFor(most);
  size_t wanted = always ? std::min(always, room) : governor.choose(room);
  if (wanted == 0)
    return drawPlain(text, sampler, drawn);
  int64_t start = Profile::now();
  GIST_TRY(drafter->draft(text, wanted, draft));
  if (draft.tokens.empty())
    return drawPlain(text, sampler, drawn);
  int64_t drafted = Profile::now();
  size_t first = drawn.size();
  // The first call touches its memory for the first time, and would make all
  // others look as slow.
  bool isTypical = session.ranApart();
  GIST_TRY(verify(text.back(), sampler, drawn));
  if (isTypical)
    governor.noteDraft(draft.tokens.size(), drawn.size() - first - 1,
                       drafted - start, Profile::now() - drafted);
  return {};
}
