//===- TokenMask.cpp - Tokens that a grammar allows -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/grammar/TokenMask.h"

#include "runtime/support/OutOfMemory.h"

#include <algorithm>
#include <limits>

using namespace gist;

static constexpr size_t kWordBits = 64;

Status TokenGrammar::create(const Grammar &grammar, const Tokenizer &tokenizer,
                            std::shared_ptr<const TokenTrie> trie,
                            std::vector<int32_t> endTokens, bool startsText,
                            std::shared_ptr<const TokenGrammar> &result) try {
  bool dropsSpace =
      startsText && tokenizer.spec().leadingSpace != LeadingSpace::Keep;
  GrammarProgram program;
  GIST_TRY(GrammarProgram::create(grammar, dropsSpace, program));
  auto made = std::make_shared<TokenGrammar>();
  made->program = std::make_shared<const GrammarProgram>(std::move(program));
  made->trie = std::move(trie);
  made->endTokens = std::move(endTokens);
  made->tokenizer = &tokenizer;
  result = std::move(made);
  return {};
}
GIST_CATCH_OUT_OF_MEMORY

TokenMask::TokenMask(std::shared_ptr<const TokenGrammar> chosen)
    : grammar(std::move(chosen)), matcher(grammar->program),
      state(matcher.start()), path(grammar->trie->longest + 1) {}

/// The states after plain bytes, as far as it does not matter which ones they
/// are: inside most strings.
std::vector<GrammarMatcher::State> TokenMask::plainPath() {
  // Few tokens have more bytes.
  constexpr size_t kMost = 16;
  std::vector<GrammarMatcher::State> states = {state};
  while (states.size() <= kMost) {
    GrammarMatcher::State next = matcher.next(states.back(), ' ');
    for (uint8_t byte = ' '; byte < 0x7F && next != GrammarMatcher::kDead;
         ++byte)
      if (TokenTrie::isPlainByte(byte) &&
          matcher.next(states.back(), byte) != next)
        next = GrammarMatcher::kDead;
    if (next == GrammarMatcher::kDead)
      break;
    if (next == states.back()) {
      // It stays so.
      states.resize(grammar->trie->longest + 1, next);
      break;
    }
    states.push_back(next);
  }
  return states;
}

/// Walks through the vocabulary with the grammar. What begins with bytes that
/// do not go on is left out as a whole.
TokenMask::Bits TokenMask::compute() {
  const TokenTrie &trie = *grammar->trie;
  Bits bits((grammar->tokenizer->vocabSize() + kWordBits - 1) / kWordBits);
  auto set = [&](int32_t token) {
    auto at = static_cast<size_t>(token);
    if (at / kWordBits < bits.size())
      bits[at / kWordBits] |= uint64_t{1} << at % kWordBits;
  };
  path[0] = state;
  std::vector<GrammarMatcher::State> plain = plainPath();
  size_t count = trie.nodes.empty() ? 0 : trie.nodes.size() - 1;
  for (size_t i = 0; i < count;) {
    const TokenTrie::Node &node = trie.nodes[i];
    size_t depth = node.depth;
    if (node.plain != 0 && depth + node.plain < plain.size() &&
        path[depth] == plain[depth]) {
      for (uint32_t at = node.firstToken; at < trie.nodes[node.end].firstToken;
           ++at)
        set(trie.tokens[at]);
      i = node.end;
      continue;
    }
    GrammarMatcher::State next = matcher.next(path[node.depth], node.byte);
    if (next == GrammarMatcher::kDead) {
      i = node.end;
      continue;
    }
    path[node.depth + 1u] = next;
    for (uint32_t at = node.firstToken; at < trie.nodes[i + 1].firstToken; ++at)
      set(trie.tokens[at]);
    ++i;
  }
  if (matcher.accepts(state))
    for (int32_t token : grammar->endTokens)
      set(token);
  return bits;
}

Status TokenMask::prepare() {
  matcher.allowWork();
  if (matcher.isFull()) {
    // States get new numbers.
    masks.clear();
    state = matcher.compact(state);
  }
  if (isPrepared())
    return {};
  Bits bits = compute();
  GIST_TRY(matcher.status());
  if ((masks.size() + 1) * bits.size() * sizeof(uint64_t) > kMaxMaskBytes)
    masks.clear();
  masks.emplace(state, std::move(bits));
  return {};
}

Status TokenMask::apply(std::span<float> logits) {
  constexpr float kImpossible = -std::numeric_limits<float>::infinity();
  if (hasEnded) {
    // Whoever goes on after the end gets ends alone.
    std::vector<std::pair<int32_t, float>> ends;
    for (int32_t token : grammar->endTokens)
      if (token >= 0 && static_cast<size_t>(token) < logits.size())
        ends.emplace_back(token, logits[static_cast<size_t>(token)]);
    std::fill(logits.begin(), logits.end(), kImpossible);
    for (auto [token, logit] : ends)
      logits[static_cast<size_t>(token)] = logit;
    return {};
  }
  GIST_TRY(prepare());
  const Bits &bits = masks.at(state);
  bool isEmpty = true;
  for (size_t word = 0; word * kWordBits < logits.size(); ++word) {
    uint64_t allowed = word < bits.size() ? bits[word] : 0;
    isEmpty = isEmpty && allowed == 0;
    if (allowed == UINT64_MAX)
      continue;
    std::span<float> part = logits.subspan(word * kWordBits);
    part = part.first(std::min(part.size(), kWordBits));
    if (allowed == 0) {
      std::fill(part.begin(), part.end(), kImpossible);
      continue;
    }
    for (size_t i = 0; i < part.size(); ++i)
      part[i] = (allowed >> i & 1) != 0 ? part[i] : kImpossible;
  }
  if (isEmpty)
    return Status::error(Code::Unsupported,
                         "no token of the vocabulary goes on with a text that "
                         "the grammar allows");
  return {};
}

Status TokenMask::accept(int32_t token) {
  const std::vector<int32_t> &ends = grammar->endTokens;
  if (std::find(ends.begin(), ends.end(), token) != ends.end() &&
      (hasEnded || matcher.accepts(state))) {
    hasEnded = true;
    return {};
  }
  const Tokenizer &tokenizer = *grammar->tokenizer;
  std::string_view text;
  if (!tokenizer.isSpecial(token))
    text = tokenizer.tokenText(token);
  GrammarMatcher::State next =
      hasEnded || text.empty() ? GrammarMatcher::kDead : state;
  for (char c : text)
    next = matcher.next(next, static_cast<uint8_t>(c));
  GIST_TRY(matcher.status());
  if (next == GrammarMatcher::kDead)
    return Status::error(Code::BadArgument,
                         "token %d does not go on with a text that the "
                         "grammar allows",
                         token);
  state = next;
  return {};
}
