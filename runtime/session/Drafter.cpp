//===- Drafter.cpp - Guesses of the next tokens ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Drafter.h"

#include "runtime/session/Generator.h"

#include <algorithm>

using namespace gist;

//===----------------------------------------------------------------------===//
// What was there before
//===----------------------------------------------------------------------===//

/// How many tokens must be the same for what follows them to be a guess, and
/// how many more make no difference.
static constexpr size_t kLeastMatch = 2, kMostMatch = 8;

/// How many tokens before `end` are the last ones of `text`.
static size_t matchLength(std::span<const int32_t> text, size_t end) {
  size_t length = 0, most = std::min(kMostMatch, end);
  while (length < most &&
         text[end - 1 - length] == text[text.size() - 1 - length])
    ++length;
  return length;
}

namespace {
class LookupDrafter final : public Drafter {
public:
  Status begin(const SamplerOptions &) override { return {}; }
  bool isFree() const override { return true; }

  Status draft(std::span<const int32_t> text, size_t most,
               Draft &result) override {
    result = {};
    // The longest match, of equal ones the last. A walk through the text takes
    // microseconds, a call of a model a thousand times as long.
    size_t best = kLeastMatch - 1, after = 0;
    for (size_t end = text.size(); end-- > 1 && best < kMostMatch;)
      if (size_t length = matchLength(text, end); length > best) {
        best = length;
        after = end;
      }
    if (after == 0)
      return {};
    // A text that repeats itself goes on with what is guessed here.
    for (size_t i = 0; i < most; ++i)
      result.tokens.push_back(after + i < text.size()
                                  ? text[after + i]
                                  : result.tokens[after + i - text.size()]);
    return {};
  }
};

//===----------------------------------------------------------------------===//
// Another model
//===----------------------------------------------------------------------===//

class ModuleDrafter final : public Drafter {
public:
  ModuleDrafter(std::unique_ptr<Session> session, int64_t vocabulary)
      : session(std::move(session)), vocabulary(vocabulary) {}

  Status begin(const SamplerOptions &options) override {
    SamplerOptions own;
    own.temperature = options.temperature;
    own.topK = options.topK;
    own.topP = options.topP;
    own.minP = options.minP;
    // What the model draws must not depend on what was drafted.
    own.seed = ~options.seed;
    isGreedy = own.temperature == 0.0f || own.topK == 1;
    return Sampler::create(own, sampler);
  }
  bool isFree() const override { return false; }

  Status draft(std::span<const int32_t> text, size_t most,
               Draft &result) override;

private:
  /// Brings the session to `text`.
  Status follow(std::span<const int32_t> text);

  std::unique_ptr<Session> session;
  int64_t vocabulary; ///< of the model that is drafted for
  Sampler sampler;
  bool isGreedy = true;
  std::vector<int32_t> seen; ///< by the session
};
} // namespace

std::unique_ptr<Drafter> gist::makeLookupDrafter() {
  return std::make_unique<LookupDrafter>();
}

Status ModuleDrafter::follow(std::span<const int32_t> text) {
  // The last token is always fed: its logits are what is wanted.
  size_t limit = std::min(seen.size(), text.size() - 1), same = 0;
  while (same < limit && seen[same] == text[same])
    ++same;
  if (static_cast<int64_t>(same) < session->leastRewind())
    same = 0;
  GIST_TRY(session->rewind(static_cast<int64_t>(same)));
  seen.resize(same);
  GIST_TRY(session->feed(text.subspan(same)));
  seen.assign(text.begin(), text.end());
  return {};
}

Status ModuleDrafter::draft(std::span<const int32_t> text, size_t most,
                            Draft &result) {
  result = {};
  auto capacity = static_cast<size_t>(session->capacity());
  if (text.empty() || text.size() >= capacity || most == 0)
    return {};
  most = std::min(most, capacity - text.size());
  GIST_TRY(follow(text));
  // Where state goes back within a block alone, guesses that are fed end before
  // the block does, and none begins one. The last guess is not fed.
  if (!session->checkRewinds().ok()) {
    int64_t left = session->tokensInBlock(session->position());
    bool begins = left == session->tokensInBlock(0);
    most = std::min(most, begins ? 1 : static_cast<size_t>(left));
  }
  while (true) {
    Distribution from;
    int32_t token = 0;
    if (isGreedy) {
      GIST_TRY(sampler.sample(session->logits(), token));
    } else {
      GIST_TRY(sampler.distribution(session->logits(), from));
      token = sampler.drawFrom(from);
    }
    // Rows of padding that the other model may not have.
    if (token >= vocabulary)
      return {};
    result.tokens.push_back(token);
    if (!isGreedy)
      result.from.push_back(std::move(from));
    if (result.tokens.size() == most)
      return {};
    GIST_TRY(session->feed({&token, 1}));
    seen.push_back(token);
  }
}

/// Ids must mean the same. One of the two may have more of them: a vocabulary
/// is padded to some multiple.
static Status checkSameTokens(const Tokenizer &target, const Tokenizer &draft) {
  size_t common = std::min(target.vocabSize(), draft.vocabSize());
  for (size_t i = 0; i < common; ++i) {
    auto id = static_cast<int32_t>(i);
    if (target.tokenText(id) != draft.tokenText(id))
      return Status::error(Code::BadArgument,
                           "the module that drafts has another tokenizer: its "
                           "token %zu is not that of the model; expected a "
                           "smaller model of the same family",
                           i);
  }
  return {};
}

Status gist::makeModuleDrafter(std::shared_ptr<const Module> module,
                               Device &device, bool trust, const Module &target,
                               int64_t context, const Tokenizer &tokenizer,
                               std::unique_ptr<Drafter> &result) {
  Tokenizer own;
  GIST_TRY(loadTokenizer(*module, own));
  GIST_TRY(checkSameTokens(tokenizer, own));
  SessionOptions options;
  options.trust = trust;
  options.context = context;
  uint32_t symbol = module->findSymbol(kSymbolCapacity);
  if (symbol != kNone)
    options.context =
        std::min(options.context, module->spec().symbols[symbol].max);
  GIST_TRY(checkGenerates(*module));
  std::unique_ptr<Session> session;
  GIST_TRY(Session::create(module, device, options, session));
  // Guesses are taken back, within a block at least.
  if (module->spec().model.prefillChunk == 0)
    GIST_TRY(session->checkRewinds().in("the module that drafts"));
  result = std::make_unique<ModuleDrafter>(std::move(session),
                                           target.spec().model.vocabSize);
  return {};
}
