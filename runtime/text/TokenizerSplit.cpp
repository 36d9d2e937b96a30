//===- TokenizerSplit.cpp - From text to words ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Normalisers and pre-tokenizers. The expressions of the pre-tokenizers are
// matched by hand: each matcher tries the alternatives in the order of the
// expression and takes the first that matches, as a regular expression does.
// test/integration/tokenizers_test.py compares the result with the library's.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/TokenizerSplit.h"

#include "runtime/text/TokenizerPieces.h"
#include "runtime/text/Unicode.h"

#include <algorithm>

using namespace gist;

//===----------------------------------------------------------------------===//
// Normalisers
//===----------------------------------------------------------------------===//

/// The ranges that BERT calls Chinese.
static bool isChinese(uint32_t c) {
  static constexpr uint32_t ranges[][2] = {
      {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
      {0x20000, 0x2A6DF}, {0x2A700, 0x2B81F}, {0x2B920, 0x2CEAF},
      {0x2F800, 0x2FA1F}};
  return std::any_of(std::begin(ranges), std::end(ranges), [c](auto &range) {
    return c >= range[0] && c <= range[1];
  });
}

/// Calls `visit` with each code point of valid UTF-8.
template <typename Visit>
static void forEachChar(std::string_view text, Visit visit) {
  while (!text.empty()) {
    Utf8Char next = decodeUtf8(text);
    text.remove_prefix(next.size);
    visit(next.codePoint);
  }
}

/// The order of the steps is BertNormalizer's.
static std::string normalizeBert(const TokenizerSpec &spec,
                                 std::string_view text) {
  std::string result;
  result.reserve(text.size());
  forEachChar(text, [&](uint32_t c) {
    uint8_t kind = charClass(c);
    if (spec.cleanText && (kind & kDropped))
      return;
    if (spec.cleanText && (kind & kSpace))
      c = ' ';
    // Chinese has no spaces between words, so BERT makes each character a word.
    bool alone = spec.splitChinese && isChinese(c);
    if (alone)
      result += ' ';
    appendUtf8(result, c);
    if (alone)
      result += ' ';
  });
  if (spec.stripAccents) {
    std::string bare;
    // NFD parts letters from their marks, so that the marks can be dropped.
    forEachChar(toNfd(result), [&](uint32_t c) {
      if (!(charClass(c) & kMark))
        appendUtf8(bare, c);
    });
    result = std::move(bare);
  }
  if (spec.lowercase) {
    std::string lower;
    lower.reserve(result.size());
    forEachChar(result, [&](uint32_t c) { appendLower(lower, c); });
    result = std::move(lower);
  }
  return result;
}

/// SentencePiece's treatment of spaces. The space in front is added even if
/// there is one.
static std::string normalizeSpaces(const TokenizerSpec &spec,
                                   std::string_view text, bool addPrefix) {
  std::string single;
  if (spec.removeExtraSpaces) {
    for (char c : text)
      if (c != ' ' || (!single.empty() && single.back() != ' '))
        single += c;
    text = single;
  }
  if (text.empty())
    return {};
  std::string result(addPrefix && spec.prefixSpace ? kSpaceMark : "");
  result += markSpaces(text);
  // SentencePiece takes marks that stood in the text for spaces here.
  while (spec.removeExtraSpaces && result.ends_with(kSpaceMark))
    result.resize(result.size() - kSpaceMark.size());
  return result;
}

std::string gist::normalizeText(const TokenizerSpec &spec,
                                std::string_view text, bool addPrefix) {
  switch (spec.normalizer) {
  case TokenizerNormalizer::None:
    break;
  case TokenizerNormalizer::Nfc:
    return toNfc(text);
  case TokenizerNormalizer::Bert:
    return normalizeBert(spec, text);
  case TokenizerNormalizer::Spaces:
    return normalizeSpaces(spec, text, addPrefix);
  }
  return std::string(text);
}

//===----------------------------------------------------------------------===//
// Pre-tokenizers
//===----------------------------------------------------------------------===//

namespace {
/// A position in valid UTF-8 and the character that stands there.
class Scanner {
public:
  Scanner(std::string_view text, size_t position)
      : text(text), position(position) {
    load();
  }

  bool atEnd() const { return position == text.size(); }
  size_t offset() const { return position; }
  uint32_t codePoint() const { return current.codePoint; }

  /// True if there is a character and it is in one of the classes.
  bool is(uint8_t classes) const { return !atEnd() && (kind & classes) != 0; }
  /// True if there is a character and it is in none of the classes.
  bool isNot(uint8_t classes) const { return !atEnd() && !(kind & classes); }
  bool isNewline() const {
    return !atEnd() && (codePoint() == '\r' || codePoint() == '\n');
  }

  void advance() {
    position += current.size;
    load();
  }

  /// The state one character on, for a look ahead.
  Scanner next() const {
    Scanner copy = *this;
    copy.advance();
    return copy;
  }

private:
  void load() {
    current = decodeUtf8(text.substr(position));
    kind = atEnd() ? 0 : charClass(current.codePoint);
  }

  std::string_view text;
  size_t position;
  Utf8Char current;
  uint8_t kind = 0;
};
} // namespace

static constexpr uint8_t kLetterOrNumber = kLetter | kNumber;
static constexpr uint8_t kNotSymbol = kLetter | kNumber | kSpace;

/// The end of 's|'t|'re|'ve|'m|'ll|'d at `at`, or the offset of `at` itself.
static size_t matchContraction(Scanner at, bool anyCase) {
  size_t begin = at.offset();
  if (at.atEnd() || at.codePoint() != '\'')
    return begin;
  auto letter = [anyCase](const Scanner &scanner) -> uint32_t {
    if (scanner.atEnd())
      return 0;
    uint32_t c = scanner.codePoint();
    if (anyCase && c >= 'A' && c <= 'Z')
      return c + 32;
    // The long s folds to s when case does not matter.
    return anyCase && c == 0x17F ? 's' : c;
  };
  Scanner first = at.next();
  uint32_t a = letter(first);
  if (a == 's' || a == 't' || a == 'm' || a == 'd')
    return first.next().offset();
  if (a != 'r' && a != 'v' && a != 'l')
    return begin;
  Scanner second = first.next();
  if (letter(second) != (a == 'l' ? 'l' : 'e'))
    return begin;
  return second.next().offset();
}

/// The end of the white space at `at`, of which a word that follows keeps the
/// last character: \s+(?!\S)|\s+
/// \s+(?!\S) gives back one character if a word follows. With one character
/// only it cannot match, and \s+ takes it.
static size_t matchSpace(Scanner at) {
  size_t last = at.offset();
  Scanner end = at;
  for (; end.is(kSpace); end.advance())
    last = end.offset();
  return end.atEnd() || last == at.offset() ? end.offset() : last;
}

/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
static size_t matchGpt2(Scanner at) {
  if (size_t end = matchContraction(at, false); end != at.offset())
    return end;
  Scanner word = at;
  // Only a plain space joins a word, and only one: ` ?`.
  if (at.codePoint() == ' ' && at.next().isNot(kSpace))
    word.advance();
  if (word.is(kSpace))
    return matchSpace(at);
  if (uint8_t kind = word.is(kLetter) ? kLetter : kNumber; word.is(kind)) {
    while (word.is(kind))
      word.advance();
  } else {
    while (word.isNot(kNotSymbol))
      word.advance();
  }
  return word.offset();
}

/// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,digits}|
/// ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
static size_t matchLlama3(Scanner at, int digits) {
  if (size_t end = matchContraction(at, true); end != at.offset())
    return end;

  Scanner word = at;
  // One character of any kind but a letter, number or newline may stand before
  // the letters: a space, a quote, a bracket.
  if (at.isNot(kLetterOrNumber) && !at.isNewline() && at.next().is(kLetter))
    word.advance();
  if (word.is(kLetter)) {
    while (word.is(kLetter))
      word.advance();
    return word.offset();
  }

  if (at.is(kNumber)) {
    for (int i = 0; i < digits && word.is(kNumber); ++i)
      word.advance();
    return word.offset();
  }

  // The number and letter cases are done, so `word` begins again.
  word = at;
  if (at.codePoint() == ' ' && at.next().isNot(kNotSymbol))
    word.advance();
  if (word.isNot(kNotSymbol)) {
    while (word.isNot(kNotSymbol))
      word.advance();
    while (word.isNewline())
      word.advance();
    return word.offset();
  }

  // \s*[\r\n]+ takes white space up to the last newline in a row of white
  // space.
  size_t afterNewline = 0;
  for (Scanner space = at; space.is(kSpace);) {
    bool newline = space.isNewline();
    space.advance();
    if (newline)
      afterNewline = space.offset();
  }
  return afterNewline ? afterNewline : matchSpace(at);
}

void gist::splitText(TokenizerSplit split, std::string_view text,
                     std::vector<std::string_view> &words) {
  // Every matcher takes at least one character, so this ends.
  for (size_t begin = 0; begin < text.size();) {
    Scanner at(text, begin);
    size_t end = text.size();
    switch (split) {
    case TokenizerSplit::None:
      break;
    case TokenizerSplit::Gpt2:
      end = matchGpt2(at);
      break;
    case TokenizerSplit::Llama3:
      end = matchLlama3(at, 3);
      break;
    case TokenizerSplit::Qwen2:
      end = matchLlama3(at, 1);
      break;
    }
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
}

/// Each digit is a part of its own; what is between stays together.
void gist::splitAtDigits(std::string_view text,
                         std::vector<std::string_view> &parts) {
  size_t begin = 0;
  for (Scanner at(text, 0); !at.atEnd();) {
    size_t offset = at.offset();
    bool digit = at.is(kDigit);
    at.advance();
    if (!digit)
      continue;
    if (offset != begin)
      parts.push_back(text.substr(begin, offset - begin));
    parts.push_back(text.substr(offset, at.offset() - offset));
    begin = at.offset();
  }
  if (begin != text.size())
    parts.push_back(text.substr(begin));
}

void gist::splitAtSpaceMarks(std::string_view text,
                             std::vector<std::string_view> &parts) {
  while (!text.empty()) {
    size_t end = std::min(text.find(kSpaceMark, 1), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

/// White space separates words and is dropped. A punctuation mark is a word of
/// its own.
void gist::splitBertWords(std::string_view text,
                          std::vector<std::string_view> &words) {
  size_t begin = 0;
  Scanner at(text, 0);
  auto flush = [&] {
    if (at.offset() != begin)
      words.push_back(text.substr(begin, at.offset() - begin));
  };
  while (!at.atEnd()) {
    if (!at.is(kSpace | kPunctuation)) {
      at.advance();
      continue;
    }
    flush();
    begin = at.offset();
    bool punctuation = at.is(kPunctuation);
    at.advance();
    if (punctuation)
      // The mark itself, from `begin` to behind it.
      flush();
    begin = at.offset();
  }
  flush();
}
