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
// Drafting
//===----------------------------------------------------------------------===//

Status Drafting::begin(const SamplerOptions &options) {
  governor.begin(drafter->isFree());
  hasRead = drafter->isFree();
  return drafter->begin(options);
}

Status Drafting::propose(std::span<const int32_t> text, size_t most,
                         Draft &draft) {
  start = Profile::now();
  draft = {};
  unused = {};
  bool isKnown = governor.knowsDrafting();
  size_t wanted = always    ? std::min(always, most)
                  : isKnown ? governor.choose(most)
                            : 0;
  if (wanted != 0 && (hasRead || always))
    GIST_TRY(drafter->draft(text, wanted, draft));
  // What costs nothing is asked also when it is not used, and the rest to see
  // what it costs. A first call, which reads the text, tells nothing of that;
  // it is not made where costs of an earlier text say that drafts do not pay.
  else if (drafter->isFree() || !isKnown || wanted != 0)
    GIST_TRY(drafter->draft(text, 1, unused));
  proposed = Profile::now();
  if (hasRead && !isKnown)
    governor.noteDrafting(proposed - start);
  hasRead = hasRead || !isKnown || wanted != 0;
  return {};
}

void Drafting::finish(const Draft &draft, int32_t first, size_t accepted) {
  int64_t end = Profile::now();
  if (!draft.tokens.empty()) {
    governor.noteDraft(draft.tokens.size(), accepted, proposed - start,
                       end - proposed);
    return;
  }
  governor.notePlain(end - proposed);
  if (!unused.tokens.empty())
    governor.noteGuess(unused.tokens[0] == first);
}

Status gist::drawAfter(const Draft &draft, size_t index,
                       std::span<const float> logits, Sampler &sampler,
                       int32_t &token) {
  if (index < draft.from.size())
    return sampler.verify(logits, draft.tokens[index], draft.from[index],
                          token);
  return sampler.sample(logits, token);
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
  always = std::min(always, DraftGovernor::kMostRows - 1);
  if (always == 0)
    GIST_TRY(session.measureApart());
  Drafting drafting(std::move(drafter), session.draftGovernor(), always);
  GIST_TRY(drafting.begin(options));
  result.reset(
      new DraftVerifier(session, std::move(drafting), options.endTokens));
  return {};
}

size_t DraftVerifier::roomFor(size_t most) const {
  int64_t past = session.position();
  // The last token is read too.
  int64_t room = std::min(session.capacity() - past, session.mostApart()) - 1;
  return std::min(most - 1, static_cast<size_t>(std::max<int64_t>(room, 0)));
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
        GIST_TRY(drawAfter(draft, index, logits, sampler, token));
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
  size_t before = drawn.size();
  GIST_TRY(drafting.propose(text, roomFor(most), draft));
  if (draft.tokens.empty())
    GIST_TRY(session.next(text.last(1), sampler, drawn.emplace_back()));
  else
    GIST_TRY(verify(text.back(), sampler, drawn));
  drafting.finish(draft, drawn[before], drawn.size() - before - 1);
  return {};
}
