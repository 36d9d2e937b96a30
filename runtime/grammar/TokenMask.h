//===- TokenMask.h - Tokens that a grammar allows ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_GRAMMAR_TOKENMASK_H
#define GIST_RUNTIME_GRAMMAR_TOKENMASK_H

#include "runtime/grammar/GrammarMatcher.h"
#include "runtime/grammar/TokenTrie.h"

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace gist {

/// A grammar for the tokens of one model, whose tokenizer outlives it. Threads
/// may share one.
class TokenGrammar {
public:
  /// `endTokens` end a text, and are allowed where it matches. The text begins
  /// an answer of its own where `startsText`: then the space that some
  /// tokenizers put in front of texts, and drop again, is allowed.
  static Status create(const Grammar &grammar, const Tokenizer &tokenizer,
                       std::shared_ptr<const TokenTrie> trie,
                       std::vector<int32_t> endTokens, bool startsText,
                       std::shared_ptr<const TokenGrammar> &result);

  std::shared_ptr<const GrammarProgram> program;
  std::shared_ptr<const TokenTrie> trie;
  std::vector<int32_t> endTokens;
  const Tokenizer *tokenizer = nullptr;
};

/// Follows one text token by token, and says which may come next.
class TokenMask {
public:
  /// Bytes of masks that are kept. A mask has one bit for each token.
  static constexpr size_t kMaxMaskBytes = 4 << 20;

  explicit TokenMask(std::shared_ptr<const TokenGrammar> grammar);

  /// Sets the logits of tokens that may not come next to -inf. Fails when no
  /// token may, or when the grammar takes too much to follow.
  Status apply(std::span<float> logits);

  /// Computes what apply() needs, unless it is known, and fails as it would.
  /// Until this has returned nothing else may be called.
  Status prepare();
  bool isPrepared() const { return hasEnded || masks.contains(state); }

  /// The text goes on with this token. One that was not allowed is an error.
  Status accept(int32_t token);

  /// Whether the text so far matches the grammar.
  bool isComplete() const { return matcher.accepts(state); }

private:
  using Bits = std::vector<uint64_t>;

  std::vector<GrammarMatcher::State> plainPath();
  Bits compute();

  std::shared_ptr<const TokenGrammar> grammar;
  GrammarMatcher matcher;
  GrammarMatcher::State state;
  bool hasEnded = false; ///< with a token that ends texts
  std::unordered_map<GrammarMatcher::State, Bits> masks;
  std::vector<GrammarMatcher::State> path; ///< kept for its memory
};

} // namespace gist

#endif // GIST_RUNTIME_GRAMMAR_TOKENMASK_H
