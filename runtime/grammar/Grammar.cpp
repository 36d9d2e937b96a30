//===- Grammar.cpp - Which texts may be written ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/grammar/Grammar.h"

#include <algorithm>

using namespace gist;

std::vector<CharRange> gist::invertRanges(std::vector<CharRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](CharRange a, CharRange b) { return a.first < b.first; });
  std::vector<CharRange> result;
  uint32_t next = 0;
  for (CharRange range : ranges) {
    if (range.first > next)
      result.push_back({next, range.first - 1});
    next = std::max(next, range.last + 1);
  }
  if (next <= kMaxCodePoint)
    result.push_back({next, kMaxCodePoint});
  return result;
}

Grammar::Id Grammar::add(Expression expression) {
  // Parts and bytes count too: one expression may have many.
  weight += 1 + expression.text.size() + expression.chars.size() +
            expression.parts.size();
  tooLarge |= weight > kMaxExpressions;
  // Stays small then: its content is not read.
  if (tooLarge && !expressions.empty())
    return 0;
  expressions.push_back(std::move(expression));
  return static_cast<Id>(expressions.size() - 1);
}

Grammar::Id Grammar::literal(std::string_view text) {
  return add({.kind = Kind::Literal, .text = std::string(text)});
}

Grammar::Id Grammar::chars(std::vector<CharRange> ranges) {
  return add({.kind = Kind::Chars, .chars = std::move(ranges)});
}

Grammar::Id Grammar::sequence(std::vector<Id> parts) {
  return add({.kind = Kind::Sequence, .parts = std::move(parts)});
}

Grammar::Id Grammar::choice(std::vector<Id> parts) {
  return add({.kind = Kind::Choice, .parts = std::move(parts)});
}

Grammar::Id Grammar::repeat(Id part, uint32_t least, uint32_t most) {
  return add(
      {.kind = Kind::Repeat, .least = least, .most = most, .parts = {part}});
}

Grammar::Id Grammar::call(Id rule) {
  return add({.kind = Kind::Call, .rule = rule});
}

Grammar::Id Grammar::addRule() {
  tooLarge |= rules.size() >= kMaxExpressions;
  if (tooLarge && !rules.empty())
    return 0;
  Id nothing = choice({});
  rules.push_back(nothing);
  return static_cast<Id>(rules.size() - 1);
}
