//===- RegexParser.cpp - Regular expressions as grammars ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of ECMAScript's expressions that is regular, for 'pattern' in a JSON
// schema. Programs that check answers differ in what \w and \s are beyond
// ASCII; here they, and what they leave out, are ASCII alone.
//
//===----------------------------------------------------------------------===//

#include "runtime/grammar/JsonTexts.h"
#include "runtime/grammar/TextCursor.h"
#include "runtime/support/OutOfMemory.h"

using namespace gist;

using Ranges = std::vector<CharRange>;

namespace {
class RegexParser {
public:
  RegexParser(std::string_view text, Grammar &grammar)
      : cursor(text), grammar(grammar) {}

  Status parse(Grammar::Id &result);

private:
  Status parseChoice(int depth, Grammar::Id &result);
  Status parseSequence(int depth, Grammar::Id &result);
  Status parseItem(int depth, Grammar::Id &result);
  Status parseGroup(int depth, Grammar::Id &result);
  Status parseClass(Ranges &ranges);
  /// What follows a backslash: one character, or a set of them.
  Status parseEscape(bool inClass, Ranges &ranges, bool &isSet);

  TextCursor cursor;
  Grammar &grammar;
};
} // namespace

static Ranges complementInAscii(Ranges ranges) {
  Ranges result;
  for (CharRange range : invertRanges(std::move(ranges)))
    if (range.first <= 0x7F)
      result.push_back({range.first, std::min<uint32_t>(range.last, 0x7F)});
  return result;
}

Status RegexParser::parseEscape(bool inClass, Ranges &ranges, bool &isSet) {
  uint32_t c = 0;
  GIST_TRY(cursor.takeChar(c));
  isSet = true;
  switch (c) {
  case 'd':
  case 'D':
    ranges = {{'0', '9'}};
    break;
  case 'w':
  case 'W':
    ranges = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
    break;
  case 's':
  case 'S':
    ranges = {{'\t', '\r'}, {' ', ' '}};
    break;
  default:
    isSet = false;
  }
  if (isSet) {
    if (c == 'D' || c == 'W' || c == 'S')
      ranges = complementInAscii(std::move(ranges));
    return {};
  }
  switch (c) {
  case 'n':
    c = '\n';
    break;
  case 'r':
    c = '\r';
    break;
  case 't':
    c = '\t';
    break;
  case 'f':
    c = '\f';
    break;
  case 'v':
    c = '\v';
    break;
  case 'x':
    GIST_TRY(cursor.takeHex(2, c));
    break;
  case 'u':
    GIST_TRY(cursor.takeHex(4, c));
    break;
  default:
    // \b, \B, \1, \k, \p and the like mean something that is not here.
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
        (c >= '0' && c <= '9'))
      return cursor.error(inClass ? "this escape is not supported in a class"
                                  : "this escape is not supported: expected "
                                    "one that stands for characters");
  }
  ranges = {{c, c}};
  return {};
}

Status RegexParser::parseClass(Ranges &ranges) {
  bool isNegated = cursor.take("^"), hasSet = false;
  while (!cursor.take("]")) {
    Ranges next;
    bool isSet = false;
    uint32_t c = 0;
    if (cursor.take("\\")) {
      GIST_TRY(parseEscape(/*inClass=*/true, next, isSet));
    } else {
      GIST_TRY(cursor.takeChar(c));
      next = {{c, c}};
    }
    hasSet |= isSet;
    if (!isSet && cursor.startsWith("-") && !cursor.startsWith("-]")) {
      cursor.skip(1);
      Ranges end;
      if (cursor.take("\\")) {
        GIST_TRY(parseEscape(/*inClass=*/true, end, isSet));
      } else {
        GIST_TRY(cursor.takeChar(c));
        end = {{c, c}};
      }
      if (isSet || end[0].last < next[0].first)
        return cursor.error("the range ends before it begins");
      next[0].last = end[0].last;
    }
    ranges.insert(ranges.end(), next.begin(), next.end());
  }
  if (isNegated)
    ranges = hasSet ? complementInAscii(std::move(ranges))
                    : invertRanges(std::move(ranges));
  return {};
}

Status RegexParser::parseGroup(int depth, Grammar::Id &result) {
  if (depth >= TextCursor::kMaxGroups)
    return cursor.error("groups are nested too deep");
  if (cursor.startsWith("?") && !cursor.take("?:"))
    return cursor.error("expected a group ( ) or (?: ); others are not "
                        "supported");
  GIST_TRY(parseChoice(depth + 1, result));
  return cursor.take(")") ? Status() : cursor.error("expected ')'");
}

Status RegexParser::parseItem(int depth, Grammar::Id &result) {
  Ranges ranges;
  bool isSet = false;
  if (cursor.take("(")) {
    GIST_TRY(parseGroup(depth, result));
  } else {
    if (cursor.take("[")) {
      GIST_TRY(parseClass(ranges));
    } else if (cursor.take("\\")) {
      GIST_TRY(parseEscape(/*inClass=*/false, ranges, isSet));
    } else if (cursor.take(".")) {
      ranges = invertRanges({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}});
    } else {
      uint32_t c = 0;
      GIST_TRY(cursor.takeChar(c));
      if (c == '^' || c == '$')
        return cursor.error("^ and $ are supported at the ends of the whole "
                            "expression alone");
      if (c == '*' || c == '+' || c == '?' || c == '{' || c == '}' || c == ']')
        return cursor.error("expected something to repeat, or a backslash");
      ranges = {{c, c}};
    }
    result = jsonChars(grammar, ranges);
  }
  uint32_t least = 0, most = 0;
  bool isRepeated = false;
  GIST_TRY(cursor.takeRepeat(least, most, isRepeated));
  if (!isRepeated)
    return {};
  // Which of several matches is found first does not matter here.
  (void)cursor.take("?");
  result = grammar.repeat(result, least, most);
  return {};
}

Status RegexParser::parseSequence(int depth, Grammar::Id &result) {
  std::vector<Grammar::Id> parts;
  auto anything = [&] {
    parts.push_back(grammar.repeat(jsonChars(grammar, {{0, kMaxCodePoint}}), 0,
                                   Grammar::kUnbounded));
  };
  bool isWhole = depth == 0;
  if (isWhole && !cursor.take("^"))
    anything();
  auto atEnd = [&] {
    return cursor.atEnd() || cursor.peek() == '|' || cursor.peek() == ')';
  };
  bool hasEnd = false;
  while (!hasEnd && !atEnd()) {
    if (isWhole && cursor.take("$")) {
      if (!atEnd())
        return cursor.error("nothing can follow '$'");
      hasEnd = true;
      continue;
    }
    Grammar::Id part = 0;
    GIST_TRY(parseItem(depth, part));
    parts.push_back(part);
  }
  if (isWhole && !hasEnd)
    anything();
  result = grammar.sequence(std::move(parts));
  return {};
}

Status RegexParser::parseChoice(int depth, Grammar::Id &result) {
  return cursor.takeChoice(
      grammar, [&](Grammar::Id &part) { return parseSequence(depth, part); },
      result);
}

Status RegexParser::parse(Grammar::Id &result) {
  GIST_TRY(parseChoice(0, result));
  return cursor.atEnd() ? Status() : cursor.error("this ')' has no '('");
}

Status gist::parseRegex(std::string_view text, Grammar &grammar,
                        Grammar::Id &result) try {
  return RegexParser(text, grammar).parse(result);
}
GIST_CATCH_OUT_OF_MEMORY
