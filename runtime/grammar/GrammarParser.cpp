//===- GrammarParser.cpp - Reads the notation of grammars -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/grammar/TextCursor.h"
#include "runtime/support/OutOfMemory.h"

#include <map>

using namespace gist;

namespace {
class NotationParser {
public:
  explicit NotationParser(std::string_view text) : cursor(text) {}

  Status parse(Grammar &result);

private:
  void skipSpace();
  std::string_view takeName();
  bool beginsRule();
  Grammar::Id ruleOf(std::string_view name);

  Status parseChoice(int depth, Grammar::Id &result);
  Status parseSequence(int depth, Grammar::Id &result);
  Status parseItem(int depth, Grammar::Id &result);
  Status parseText(Grammar::Id &result);
  Status parseClass(Grammar::Id &result);
  Status parseEscape(uint32_t &codePoint);

  TextCursor cursor;
  Grammar grammar;
  struct Rule {
    Grammar::Id id = 0;
    bool isDefined = false;
  };
  std::map<std::string, Rule, std::less<>> rules;
};
} // namespace

/// White space, ends of lines and comments.
void NotationParser::skipSpace() {
  while (!cursor.atEnd()) {
    char c = cursor.peek();
    if (c == '#') {
      while (!cursor.atEnd() && cursor.peek() != '\n')
        cursor.skip(1);
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      cursor.skip(1);
    } else {
      return;
    }
  }
}

/// Letters, digits, - and _; empty where none is next.
std::string_view NotationParser::takeName() {
  std::string_view rest = cursor.rest();
  size_t size = 0;
  while (size < rest.size()) {
    char c = rest[size];
    bool isPart = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9') || c == '-' || c == '_';
    if (!isPart)
      break;
    ++size;
  }
  cursor.skip(size);
  return rest.substr(0, size);
}

/// Whether `name ::=` is next.
bool NotationParser::beginsRule() {
  TextCursor before = cursor;
  bool found = !takeName().empty();
  skipSpace();
  found = found && cursor.startsWith("::=");
  cursor = before;
  return found;
}

Grammar::Id NotationParser::ruleOf(std::string_view name) {
  auto at = rules.find(name);
  if (at == rules.end())
    at = rules.emplace(name, Rule{grammar.addRule()}).first;
  return at->second.id;
}

Status NotationParser::parseEscape(uint32_t &codePoint) {
  GIST_TRY(cursor.takeChar(codePoint));
  if (codePoint != '\\')
    return {};
  GIST_TRY(cursor.takeChar(codePoint));
  switch (codePoint) {
  case 'n':
    codePoint = '\n';
    return {};
  case 'r':
    codePoint = '\r';
    return {};
  case 't':
    codePoint = '\t';
    return {};
  case 'x':
    return cursor.takeHex(2, codePoint);
  case 'u':
    return cursor.takeHex(4, codePoint);
  case 'U':
    return cursor.takeHex(8, codePoint);
  case '\\':
  case '"':
  case '[':
  case ']':
  case '-':
  case '^':
    return {};
  default:
    return cursor.error(
        "expected \\n, \\r, \\t, \\xNN, \\uNNNN, \\UNNNNNNNN or "
        "one of \\\\ \\\" \\[ \\] \\- \\^");
  }
}

Status NotationParser::parseText(Grammar::Id &result) {
  std::string text;
  while (!cursor.take("\"")) {
    if (cursor.atEnd() || cursor.peek() == '\n')
      return cursor.error("expected '\"' before the end of the line");
    uint32_t codePoint = 0;
    GIST_TRY(parseEscape(codePoint));
    if (codePoint >= 0xD800 && codePoint < 0xE000)
      return cursor.error("there is no such character");
    appendUtf8(text, codePoint);
  }
  result = grammar.literal(text);
  return {};
}

Status NotationParser::parseClass(Grammar::Id &result) {
  bool isNegated = cursor.take("^");
  std::vector<CharRange> ranges;
  while (!cursor.take("]")) {
    if (cursor.atEnd() || cursor.peek() == '\n')
      return cursor.error("expected ']' before the end of the line");
    CharRange range;
    GIST_TRY(parseEscape(range.first));
    range.last = range.first;
    if (cursor.startsWith("-") && !cursor.startsWith("-]")) {
      cursor.skip(1);
      GIST_TRY(parseEscape(range.last));
    }
    if (range.last < range.first)
      return cursor.error("the range ends before it begins");
    ranges.push_back(range);
  }
  if (ranges.empty() && !isNegated)
    return cursor.error("expected a character between '[' and ']'");
  result = grammar.chars(isNegated ? invertRanges(std::move(ranges))
                                   : std::move(ranges));
  return {};
}

Status NotationParser::parseItem(int depth, Grammar::Id &result) {
  if (cursor.take("\"")) {
    GIST_TRY(parseText(result));
  } else if (cursor.take("[")) {
    GIST_TRY(parseClass(result));
  } else if (cursor.take(".")) {
    result = grammar.chars({{0, kMaxCodePoint}});
  } else if (cursor.take("(")) {
    if (depth >= TextCursor::kMaxGroups)
      return cursor.error("groups are nested too deep");
    GIST_TRY(parseChoice(depth + 1, result));
    if (!cursor.take(")"))
      return cursor.error("expected ')'");
  } else {
    std::string_view name = takeName();
    if (name.empty())
      return cursor.error("expected a text, a class of characters, '.', a "
                          "group or the name of a rule");
    result = grammar.call(ruleOf(name));
  }
  // One is enough: "a"*? would be repetitions of repetitions.
  uint32_t least = 0, most = 0;
  bool isRepeated = false;
  GIST_TRY(cursor.takeRepeat(least, most, isRepeated));
  if (isRepeated)
    result = grammar.repeat(result, least, most);
  return {};
}

Status NotationParser::parseSequence(int depth, Grammar::Id &result) {
  std::vector<Grammar::Id> parts;
  skipSpace();
  while (!cursor.atEnd() && cursor.peek() != '|' && cursor.peek() != ')' &&
         !beginsRule()) {
    Grammar::Id part = 0;
    GIST_TRY(parseItem(depth, part));
    parts.push_back(part);
    skipSpace();
  }
  result = grammar.sequence(std::move(parts));
  return {};
}

Status NotationParser::parseChoice(int depth, Grammar::Id &result) {
  return cursor.takeChoice(
      grammar, [&](Grammar::Id &part) { return parseSequence(depth, part); },
      result);
}

Status NotationParser::parse(Grammar &result) {
  for (skipSpace(); !cursor.atEnd(); skipSpace()) {
    std::string_view name = takeName();
    Grammar::Id id = ruleOf(name);
    skipSpace();
    if (name.empty() || !cursor.take("::="))
      return cursor.error("expected 'name ::='");
    Rule &rule = rules.find(name)->second;
    if (rule.isDefined)
      return cursor.error("this rule is there twice");
    rule.isDefined = true;
    Grammar::Id body = 0;
    GIST_TRY(parseChoice(0, body));
    grammar.setRule(id, body);
  }
  for (const auto &[name, rule] : rules)
    if (!rule.isDefined)
      return Status::error(Code::BadArgument,
                           "the rule '%.64s' is used and not defined",
                           name.c_str());
  auto root = rules.find("root");
  if (root == rules.end())
    return Status::error(Code::BadArgument,
                         "there is no rule 'root', which whole texts follow");
  grammar.root = root->second.id;
  result = std::move(grammar);
  return {};
}

Status gist::parseGrammar(std::string_view text, Grammar &result) try {
  return NotationParser(text).parse(result);
}
GIST_CATCH_OUT_OF_MEMORY
