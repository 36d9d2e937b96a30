//===- ChatTemplateLexer.cpp - Templates to tokens ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cuts a template into tokens. White space around tags is settled here, with
// the settings that Hugging Face uses: trim_blocks (a newline after a block tag
// is dropped) and lstrip_blocks (blanks before a block tag at the start of a
// line are dropped). A sign in a tag overrules both: `-` strips all white space
// on its side, `+` keeps all.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/ChatTemplateSyntax.h"
#include "runtime/text/Unicode.h"

#include <algorithm>

using namespace gist;
using namespace gist::chat;

/// Lines and columns count from 1; columns count bytes.
std::string chat::positionText(std::string_view source, uint32_t offset) {
  std::string_view before = source.substr(0, offset);
  size_t line = std::count(before.begin(), before.end(), '\n') + 1;
  size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// CR LF and a lone CR become LF, and one newline at the end is dropped, as
/// Jinja does before it reads a template.
std::string chat::normalizeNewlines(std::string_view source) {
  std::string result;
  result.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r' && source.substr(i + 1).starts_with('\n'))
      continue;
    result += source[i] == '\r' ? '\n' : source[i];
  }
  if (result.ends_with('\n'))
    result.pop_back();
  return result;
}

/// Names may have any letters of Unicode. All bytes from 80 on are taken, which
/// is more than Python allows and does no harm.
static bool isNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<uint8_t>(c) >= 0x80;
}
static bool isDigit(char c) { return c >= '0' && c <= '9'; }

namespace {
class Lexer {
public:
  Lexer(std::string_view source, std::vector<Token> &tokens)
      : source(source), tokens(tokens) {}

  Status run();

private:
  std::string_view rest() const { return source.substr(at); }
  Status fail(size_t offset, const char *what) const {
    return Status::error(
        Code::BadFile, "%s: %s",
        positionText(source, static_cast<uint32_t>(offset)).c_str(), what);
  }
  /// Offsets have 32 bits; TokenizerSpec limits a model's template to 1 MiB.
  void push(Token::Kind kind, std::string_view text, size_t offset) {
    tokens.push_back({kind, std::string(text), static_cast<uint32_t>(offset)});
  }
  void skipSpace() { at = source.size() - stripLeft(rest()).size(); }

  Status lexComment();
  Status lexTag(bool block);
  Status lexToken();
  Status lexString();
  void lexNumber();
  bool lexRaw(size_t tagBegin, Status &status);
  void endTag(size_t signAt, bool trimNewline);

  std::string_view source;
  std::vector<Token> &tokens;
  size_t at = 0;
  /// True if the text so far ended in a newline that a tag swallowed.
  /// lstrip_blocks must know this: the rest of such a line is still the start
  /// of a line.
  bool lineStarting = true;
  int nesting = 0; ///< Open brackets inside a tag.
};
} // namespace

/// The data before a tag, as the tag's sign and lstrip_blocks leave it.
/// Blanks before {{ … }} always stay: lstrip_blocks is for blocks and comments.
static std::string_view trimBefore(std::string_view data, char sign,
                                   bool variable, bool lineStarting) {
  if (sign == '-')
    return stripRight(data);
  if (sign == '+' || variable)
    return data;
  size_t line = data.rfind('\n') + 1; // 0 if there is none.
  bool blank = data.find_first_not_of(" \t", line) == data.npos;
  return blank && (line > 0 || lineStarting) ? data.substr(0, line) : data;
}

Status Lexer::run() {
  while (at < source.size()) {
    size_t begin = at, tag = at;
    // A `{` that begins no tag is text.
    for (;; ++tag) {
      tag = source.find('{', tag);
      if (tag == source.npos || tag + 1 == source.size()) {
        tag = source.size();
        break;
      }
      if (source[tag + 1] == '{' || source[tag + 1] == '%' ||
          source[tag + 1] == '#')
        break;
    }
    std::string_view data = source.substr(begin, tag - begin);
    if (tag == source.size()) {
      push(Token::Kind::Data, data, begin);
      at = tag;
      break;
    }
    // The sign stands right behind the two characters of the tag.
    char kind = source[tag + 1];
    char sign = tag + 2 < source.size() ? source[tag + 2] : 0;
    data = trimBefore(data, sign, kind == '{', lineStarting);
    if (!data.empty())
      push(Token::Kind::Data, data, begin);
    at = tag + 2 + (sign == '-' || sign == '+');
    if (kind == '#') {
      GIST_TRY(lexComment());
      continue;
    }
    Status status;
    if (kind == '%' && lexRaw(tag, status)) {
      GIST_TRY(std::move(status));
      continue;
    }
    bool block = kind == '%';
    push(block ? Token::Kind::BlockBegin : Token::Kind::VariableBegin, "", tag);
    GIST_TRY(lexTag(block));
  }
  push(Token::Kind::End, "", source.size());
  return {};
}

/// Moves over the end of a tag; `signAt` is where it begins, sign included.
void Lexer::endTag(size_t signAt, bool trimNewline) {
  char sign = source[signAt];
  bool strip = sign == '-', keep = sign == '+';
  at = signAt + 2 + (strip || keep);
  if (strip)
    skipSpace();
  else if (!keep && trimNewline && rest().starts_with('\n'))
    ++at;
  // `at` is behind the tag and at least 2.
  lineStarting = source[at - 1] == '\n';
}

Status Lexer::lexComment() {
  size_t end = source.find("#}", at);
  if (end == source.npos)
    return fail(at, "a comment has no end");
  bool sign = end > at && (source[end - 1] == '-' || source[end - 1] == '+');
  endTag(end - sign, true);
  return {};
}

/// {% raw %} … {% endraw %}: gives true if this tag is one.
/// The text between is not looked at: it may have tags that no parser would
/// accept. Errors go to `status`, with true.
bool Lexer::lexRaw(size_t tagBegin, Status &status) {
  auto word = [&](std::string_view name) { // Moves over `name` in a tag.
    size_t start = at;
    skipSpace();
    if (!rest().starts_with(name)) {
      at = start;
      return false;
    }
    at += name.size();
    skipSpace();
    bool sign = rest().starts_with('-') || rest().starts_with('+');
    // The position is clamped because substr throws beyond the end.
    if (source.substr(std::min(at + sign, source.size()), 2) == "%}")
      return true;
    at = start;
    return false;
  };
  if (!word("raw"))
    return false;
  endTag(at, false); // Unlike other tags, it keeps the newline after it.
  size_t begin = at;
  for (size_t tag = at; (tag = source.find("{%", tag)) != source.npos; ++tag) {
    char sign = tag + 2 < source.size() ? source[tag + 2] : 0;
    at = tag + 2 + (sign == '-' || sign == '+');
    if (!word("endraw"))
      continue;
    std::string_view data = trimBefore(source.substr(begin, tag - begin), sign,
                                       false, lineStarting);
    if (!data.empty())
      push(Token::Kind::Data, data, begin);
    endTag(at, true);
    return true;
  }
  status = fail(tagBegin, "{% raw %} has no end");
  return true;
}

/// The tag ends only where all brackets are closed: `{{ {'a': {}} }}` has }}
/// inside.
Status Lexer::lexTag(bool block) {
  std::string_view end = block ? "%}" : "}}";
  size_t begin = at;
  nesting = 0;
  while (true) {
    skipSpace();
    if (at == source.size())
      return fail(begin, "a tag has no end");
    bool sign = source[at] == '-' || (block && source[at] == '+');
    if (nesting == 0 &&
        source.substr(std::min(at + sign, source.size()), 2) == end) {
      push(block ? Token::Kind::BlockEnd : Token::Kind::VariableEnd, "", at);
      endTag(at, block);
      return {};
    }
    GIST_TRY(lexToken());
  }
}

Status Lexer::lexToken() {
  size_t begin = at;
  char c = source[at];
  if (isNameStart(c)) {
    while (at < source.size() &&
           (isNameStart(source[at]) || isDigit(source[at])))
      ++at;
    push(Token::Kind::Name, source.substr(begin, at - begin), begin);
    return {};
  }
  if (isDigit(c)) {
    lexNumber();
    return {};
  }
  if (c == '"' || c == '\'')
    return lexString();
  // Longer operators come first, so that `**` is not read as two of `*`.
  static constexpr std::string_view operators[] = {
      "//", "**", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "~", "[",
      "]",  "(",  ")",  "{",  "}",  "<",  ">", "=", ".", ":", "|", ","};
  for (std::string_view op : operators) {
    if (!rest().starts_with(op))
      continue;
    at += op.size();
    nesting += op == "[" || op == "(" || op == "{";
    nesting -= op == "]" || op == ")" || op == "}";
    if (nesting < 0)
      return fail(begin, "this bracket was not opened");
    push(Token::Kind::Operator, op, begin);
    return {};
  }
  return fail(begin, "this character is not allowed here");
}

/// An `e` without digits behind it and a `.` without one are left for the next
/// token: `1.foo` is an attribute of 1.
void Lexer::lexNumber() {
  size_t begin = at;
  auto digits = [&] {
    while (at < source.size() && (isDigit(source[at]) || source[at] == '_'))
      ++at;
  };
  auto digitAt = [&](size_t i) {
    return i < source.size() && isDigit(source[i]);
  };
  bool isFloat = false;
  digits();
  if (rest().starts_with('.') && digitAt(at + 1)) {
    isFloat = true;
    ++at;
    digits();
  }
  if (rest().starts_with('e') || rest().starts_with('E')) {
    size_t sign = at + 1 < source.size() &&
                  (source[at + 1] == '+' || source[at + 1] == '-');
    if (digitAt(at + 1 + sign)) {
      isFloat = true;
      at += 1 + sign;
      digits();
    }
  }
  std::string text(source.substr(begin, at - begin));
  std::erase(text, '_');
  push(isFloat ? Token::Kind::Float : Token::Kind::Int, text, begin);
}

/// The value of `count` hexadecimal digits, or -1.
static int64_t hexValue(std::string_view text, size_t count) {
  if (text.size() < count)
    return -1;
  int64_t value = 0;
  for (char c : text.substr(0, count)) {
    int digit = isDigit(c)             ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0)
      return -1;
    value = value * 16 + digit;
  }
  return value;
}

Status Lexer::lexString() {
  size_t begin = at;
  char quote = source[at++];
  std::string text;
  while (at < source.size() && source[at] != quote) {
    char c = source[at++];
    if (c != '\\' || at == source.size()) {
      text += c;
      continue;
    }
    // The escapes are Python's. An unknown one stays as it is written.
    char escape = source[at++];
    static constexpr std::string_view letters = "abfnrtv\\'\"",
                                      meanings = "\a\b\f\n\r\t\v\\'\"";
    size_t count = escape == 'x' ? 2 : escape == 'u' ? 4 : 8;
    if (size_t i = letters.find(escape); i != letters.npos) {
      text += meanings[i];
    } else if (escape == '\n') {
      // A line continued.
    } else if (escape >= '0' && escape <= '7') {
      uint32_t value = static_cast<uint32_t>(escape - '0');
      for (int i = 0; i < 2 && at < source.size() && source[at] >= '0' &&
                      source[at] <= '7';
           ++i)
        value = value * 8 + static_cast<uint32_t>(source[at++] - '0');
      appendUtf8(text, value);
    } else if (escape == 'x' || escape == 'u' || escape == 'U') {
      int64_t value = hexValue(rest(), count);
      // Surrogates are not characters and have no UTF-8.
      if (value < 0 || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
        return fail(at - 2, "this escape does not name a character");
      appendUtf8(text, static_cast<uint32_t>(value));
      at += count;
    } else {
      text += '\\';
      text += escape;
    }
  }
  if (at == source.size())
    return fail(begin, "a string has no end");
  ++at;
  push(Token::Kind::String, text, begin);
  return {};
}

Status chat::lexTemplate(std::string_view source, std::vector<Token> &tokens) {
  return Lexer(source, tokens).run();
}
