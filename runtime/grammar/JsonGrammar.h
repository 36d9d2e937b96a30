//===- JsonGrammar.h - JSON itself, as a grammar ----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_GRAMMAR_JSONGRAMMAR_H
#define GIST_RUNTIME_GRAMMAR_JSONGRAMMAR_H

#include "runtime/grammar/Grammar.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>

namespace gist {

/// Appends expressions for values of JSON and what stands between them. Rules
/// that several have in common are added once.
class JsonGrammar {
public:
  using Id = Grammar::Id;

  explicit JsonGrammar(Grammar &grammar) : grammar(grammar) {}

  Id anyText();
  Id anyValue();
  Id anyObject();
  /// One value, with space where JSON may have it.
  Id literalOf(const nlohmann::ordered_json &value);

  Id space();
  Id comma() { return grammar.sequence({grammar.literal(","), space()}); }
  Id quoted(Id inside) {
    return grammar.sequence(
        {grammar.literal("\""), inside, grammar.literal("\"")});
  }
  Id wrap(const char *open, Id inside, const char *close) {
    return grammar.sequence(
        {grammar.literal(open), space(), inside, grammar.literal(close)});
  }
  Id ruleOf(Id expression) {
    Id rule = grammar.addRule();
    grammar.setRule(rule, expression);
    return rule;
  }

protected:
  Grammar &grammar;

private:
  std::optional<Id> spaceRule, textRule, valueRule, objectRule;
};

} // namespace gist

#endif // GIST_RUNTIME_GRAMMAR_JSONGRAMMAR_H
