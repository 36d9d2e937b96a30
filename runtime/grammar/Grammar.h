//===- Grammar.h - Which texts may be written -------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A grammar is a set of rules over the bytes of UTF-8 text. It comes from a
// notation (parseGrammar), from a JSON schema (readJsonSchema), or is built by
// hand. GrammarProgram makes of it what a matcher executes.
//
// Grammars come from strangers: sizes and depths are bounded.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_GRAMMAR_GRAMMAR_H
#define GIST_RUNTIME_GRAMMAR_GRAMMAR_H

#include "runtime/support/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gist {

/// Code points from `first` to `last`, both included.
struct CharRange {
  uint32_t first = 0, last = 0;

  bool operator==(const CharRange &) const = default;
};

constexpr uint32_t kMaxCodePoint = 0x10FFFF;

/// Every code point that is not in `ranges`.
std::vector<CharRange> invertRanges(std::vector<CharRange> ranges);

/// Rules, and the expressions that they are made of. An expression may be part
/// of several others.
class Grammar {
public:
  using Id = uint32_t;
  static constexpr uint32_t kUnbounded = UINT32_MAX;
  /// Expressions; a schema of 1,000 properties has about 10,000.
  static constexpr size_t kMaxExpressions = 1 << 18;

  enum class Kind : uint8_t { Literal, Chars, Sequence, Choice, Repeat, Call };

  struct Expression {
    Kind kind = Kind::Literal;
    uint32_t least = 0, most = 0; ///< Repeat
    Id rule = 0;                  ///< Call
    std::string text = {};        ///< Literal: bytes
    std::vector<CharRange> chars = {};
    std::vector<Id> parts = {}; ///< Sequence, Choice, Repeat
  };

  /// These bytes.
  Id literal(std::string_view text);
  /// One character of any of the ranges; without a range, nothing matches.
  Id chars(std::vector<CharRange> ranges);
  Id sequence(std::vector<Id> parts);
  /// Any of them; without one, nothing matches.
  Id choice(std::vector<Id> parts);
  Id repeat(Id part, uint32_t least, uint32_t most);
  Id optional(Id part) { return repeat(part, 0, 1); }
  Id call(Id rule);

  /// A rule that matches nothing until it is set.
  Id addRule();
  void setRule(Id rule, Id expression) { rules[rule] = expression; }

  /// The rule of whole texts.
  Id root = 0;

  const Expression &operator[](Id id) const { return expressions[id]; }
  /// The expressions of rules.
  const std::vector<Id> &ruleExpressions() const { return rules; }
  /// Whether there was no room for all of it; such a grammar is refused.
  bool isTooLarge() const { return tooLarge; }

private:
  Id add(Expression expression);

  std::vector<Expression> expressions;
  std::vector<Id> rules;
  size_t weight = 0;
  bool tooLarge = false;
};

/// Reads the notation of docs/grammars.md. On error `result` is left as it was;
/// the text names line and column.
Status parseGrammar(std::string_view text, Grammar &result);

/// Appends an expression for texts that a regular expression matches, as JSON
/// strings write them between their quotes. An expression without ^ or $ may
/// have any text on that side, as in a JSON schema.
Status parseRegex(std::string_view text, Grammar &grammar, Grammar::Id &result);

} // namespace gist

#endif // GIST_RUNTIME_GRAMMAR_GRAMMAR_H
