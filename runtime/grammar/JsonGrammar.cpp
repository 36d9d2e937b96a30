//===- JsonGrammar.cpp - JSON itself, as a grammar ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/grammar/JsonGrammar.h"

#include "runtime/grammar/JsonNumbers.h"
#include "runtime/grammar/JsonTexts.h"

#include <nlohmann/json.hpp>

using namespace gist;

using Json = nlohmann::ordered_json;
using Id = Grammar::Id;

/// Short, so that a model does not write spaces without end.
Id JsonGrammar::space() {
  if (!spaceRule) {
    constexpr uint32_t kMaxIndent = 40;
    Id indent = grammar.repeat(grammar.chars({{' ', ' '}, {'\t', '\t'}}), 0,
                               kMaxIndent);
    spaceRule = ruleOf(
        grammar.choice({grammar.literal(""), grammar.literal(" "),
                        grammar.sequence({grammar.literal("\n"), indent})}));
  }
  return grammar.call(*spaceRule);
}

Id JsonGrammar::anyText() {
  if (!textRule)
    textRule = ruleOf(
        quoted(grammar.repeat(anyJsonChar(grammar), 0, Grammar::kUnbounded)));
  return grammar.call(*textRule);
}

Id JsonGrammar::anyObject() {
  (void)anyValue();
  return grammar.call(*objectRule);
}

Id JsonGrammar::anyValue() {
  if (valueRule)
    return grammar.call(*valueRule);
  valueRule = grammar.addRule();
  objectRule = grammar.addRule();
  auto list = [&](Id item) {
    return grammar.optional(
        grammar.sequence({item,
                          grammar.repeat(grammar.sequence({comma(), item}), 0,
                                         Grammar::kUnbounded),
                          space()}));
  };
  Id value = grammar.call(*valueRule);
  Id member = grammar.call(ruleOf(
      grammar.sequence({anyText(), grammar.literal(":"), space(), value})));
  Id number = 0;
  (void)numbersOf(grammar, {}, number); // Without bounds it cannot fail.
  grammar.setRule(*objectRule, wrap("{", list(member), "}"));
  grammar.setRule(
      *valueRule,
      grammar.choice({grammar.call(*objectRule), wrap("[", list(value), "]"),
                      anyText(), number, grammar.literal("true"),
                      grammar.literal("false"), grammar.literal("null")}));
  return grammar.call(*valueRule);
}

Id JsonGrammar::literalOf(const Json &value) {
  if (!value.is_structured())
    return grammar.literal(
        value.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::vector<Id> parts;
  for (const auto &[name, item] : value.items()) {
    if (!parts.empty())
      parts.push_back(comma());
    if (value.is_object()) {
      parts.push_back(literalOf(Json(name)));
      parts.push_back(grammar.literal(":"));
      parts.push_back(space());
    }
    parts.push_back(literalOf(item));
  }
  if (!parts.empty())
    parts.push_back(space());
  Id inside = grammar.sequence(std::move(parts));
  return value.is_object() ? wrap("{", inside, "}") : wrap("[", inside, "]");
}
