//===- TextCursor.h - A place in a text that is parsed ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_GRAMMAR_TEXTCURSOR_H
#define GIST_RUNTIME_GRAMMAR_TEXTCURSOR_H

#include "runtime/grammar/Grammar.h"
#include "runtime/text/Unicode.h"

#include <string>
#include <string_view>

namespace gist {

/// What grammars and regular expressions are read with.
class TextCursor {
public:
  /// Groups inside one another; parsers recurse.
  static constexpr int kMaxGroups = 64;
  /// How often something may be repeated by a number.
  static constexpr uint32_t kMaxRepeats = 1 << 20;

  explicit TextCursor(std::string_view text) : text(text) {}

  bool atEnd() const { return at == text.size(); }
  /// The next byte, or 0 at the end.
  char peek() const { return atEnd() ? '\0' : text[at]; }
  bool startsWith(std::string_view part) const {
    return text.substr(at).starts_with(part);
  }
  void skip(size_t bytes) { at += bytes; }
  /// Goes on after `part`, if it is next.
  bool take(std::string_view part) {
    if (!startsWith(part))
      return false;
    at += part.size();
    return true;
  }
  std::string_view rest() const { return text.substr(at); }

  /// The next character.
  Status takeChar(uint32_t &codePoint) {
    Utf8Char next = decodeUtf8(rest());
    if (!next.valid)
      return error(atEnd() ? "the text ends too early" : "this is not UTF-8");
    codePoint = next.codePoint;
    at += next.size;
    return {};
  }

  /// So many hexadecimal digits.
  Status takeHex(size_t digits, uint32_t &value) {
    value = 0;
    for (size_t i = 0; i < digits; ++i) {
      char c = peek();
      uint32_t digit = c >= '0' && c <= '9'   ? c - '0'
                       : c >= 'a' && c <= 'f' ? c - 'a' + 10
                       : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                              : 16;
      if (digit == 16)
        return error("expected hexadecimal digits");
      value = value << 4 | digit;
      ++at;
    }
    if (value > kMaxCodePoint)
      return error("there is no such character");
    return {};
  }

  /// *, +, ?, {2}, {2,}, {2,5}; `found` says whether there was one.
  Status takeRepeat(uint32_t &least, uint32_t &most, bool &found);

  /// Parts with '|' between them, each of which `takePart` reads.
  template <typename TakePart>
  Status takeChoice(Grammar &grammar, const TakePart &takePart,
                    Grammar::Id &result) {
    std::vector<Grammar::Id> parts;
    do {
      Grammar::Id part = 0;
      GIST_TRY(takePart(part));
      parts.push_back(part);
    } while (take("|"));
    result = parts.size() == 1 ? parts[0] : grammar.choice(std::move(parts));
    return {};
  }

  /// "line 2, column 5: …".
  Status error(const char *what) const;

private:
  bool takeNumber(uint32_t &value);

  std::string_view text;
  size_t at = 0;
};

} // namespace gist

#endif // GIST_RUNTIME_GRAMMAR_TEXTCURSOR_H
