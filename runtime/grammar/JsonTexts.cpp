//===- JsonTexts.cpp - Texts as JSON strings write them -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/grammar/JsonTexts.h"

#include "runtime/text/Unicode.h"

#include <algorithm>
#include <cstdio>
#include <map>

using namespace gist;

/// What a JSON string may hold as it is.
static const std::vector<CharRange> &plainChars() {
  static const std::vector<CharRange> kPlain = {
      {0x20, 0x21}, {0x23, 0x5B}, {0x5D, kMaxCodePoint}};
  return kPlain;
}

static std::vector<CharRange> intersect(const std::vector<CharRange> &a,
                                        const std::vector<CharRange> &b) {
  std::vector<CharRange> result;
  for (CharRange x : a)
    for (CharRange y : b)
      if (uint32_t first = std::max(x.first, y.first),
          last = std::min(x.last, y.last);
          first <= last)
        result.push_back({first, last});
  return result;
}

/// How JSON escapes a character that it does not take as it is.
static std::string escapeOf(uint32_t codePoint) {
  switch (codePoint) {
  case '"':
    return "\\\"";
  case '\\':
    return "\\\\";
  case '\b':
    return "\\b";
  case '\f':
    return "\\f";
  case '\n':
    return "\\n";
  case '\r':
    return "\\r";
  case '\t':
    return "\\t";
  default: {
    char text[8];
    std::snprintf(text, sizeof text, "\\u%04x", codePoint & 0xFFFF);
    return text;
  }
  }
}

Grammar::Id gist::jsonChars(Grammar &grammar,
                            const std::vector<CharRange> &ranges) {
  std::vector<Grammar::Id> parts = {
      grammar.chars(intersect(ranges, plainChars()))};
  static const std::vector<CharRange> kEscaped = {
      {0, 0x1F}, {'"', '"'}, {'\\', '\\'}};
  for (CharRange range : intersect(kEscaped, ranges))
    for (uint32_t c = range.first; c <= range.last; ++c)
      parts.push_back(grammar.literal(escapeOf(c)));
  return parts.size() == 1 ? parts[0] : grammar.choice(std::move(parts));
}

Grammar::Id gist::anyJsonChar(Grammar &grammar) {
  auto oneOf = [&](const char *chars) {
    std::vector<CharRange> ranges;
    for (; *chars != '\0'; ++chars)
      ranges.push_back(
          {static_cast<uint8_t>(*chars), static_cast<uint8_t>(*chars)});
    return grammar.chars(std::move(ranges));
  };
  Grammar::Id hex = grammar.chars({{'0', '9'}, {'a', 'f'}, {'A', 'F'}});
  Grammar::Id d = oneOf("dD");
  auto units = [&](std::vector<Grammar::Id> first, uint32_t rest) {
    first.push_back(grammar.repeat(hex, rest, rest));
    return grammar.sequence(std::move(first));
  };
  Grammar::Id unit = grammar.choice(
      {units({oneOf("0123456789abcefABCEF")}, 3),
       units({d, oneOf("01234567")}, 2),
       // Surrogates come in pairs, which are one character.
       grammar.sequence({units({d, oneOf("89abAB")}, 2), grammar.literal("\\u"),
                         units({d, oneOf("cdefCDEF")}, 2)})});
  Grammar::Id escape = grammar.sequence(
      {grammar.literal("\\"),
       grammar.choice({oneOf("\"\\/bfnrt"),
                       grammar.sequence({grammar.literal("u"), unit})})});
  return grammar.choice({grammar.chars(plainChars()), escape});
}

namespace {
/// Characters that begin some of the texts alike.
struct Branch {
  std::map<uint32_t, size_t> next; ///< by character, the number of a branch
  bool isText = false;
};
} // namespace

Grammar::Id gist::otherJsonText(Grammar &grammar,
                                const std::vector<std::string> &texts) {
  std::vector<Branch> branches(1);
  for (std::string_view text : texts) {
    size_t at = 0;
    while (!text.empty()) {
      Utf8Char next = decodeUtf8(text);
      text.remove_prefix(next.size);
      auto [found, isNew] =
          branches[at].next.try_emplace(next.codePoint, branches.size());
      size_t to = found->second;
      if (isNew)
        branches.emplace_back();
      at = to;
    }
    branches[at].isText = true;
  }
  Grammar::Id any =
      grammar.repeat(grammar.chars(plainChars()), 0, Grammar::kUnbounded);
  // One rule for each branch: it goes along the texts, or leaves them.
  std::vector<Grammar::Id> rules;
  rules.reserve(branches.size());
  for (size_t i = 0; i < branches.size(); ++i)
    rules.push_back(grammar.addRule());
  for (size_t i = 0; i < branches.size() && !grammar.isTooLarge(); ++i) {
    std::vector<Grammar::Id> ways;
    if (!branches[i].isText)
      ways.push_back(grammar.literal(""));
    std::vector<CharRange> along;
    for (const auto &[codePoint, to] : branches[i].next) {
      along.push_back({codePoint, codePoint});
      ways.push_back(grammar.sequence(
          {grammar.chars(intersect({{codePoint, codePoint}}, plainChars())),
           grammar.call(rules[to])}));
    }
    ways.push_back(grammar.sequence(
        {grammar.chars(intersect(invertRanges(along), plainChars())), any}));
    grammar.setRule(rules[i], grammar.choice(std::move(ways)));
  }
  return grammar.call(rules[0]);
}
