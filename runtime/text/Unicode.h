//===- Unicode.h - UTF-8, character classes, normal forms -------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What tokenizers need of Unicode and no more. The classes are those of the
// library `tokenizers`, whose parts follow different versions of the standard:
// see unicode/generate.py.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_TEXT_UNICODE_H
#define GIST_RUNTIME_TEXT_UNICODE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace gist {

constexpr uint32_t kReplacementChar = 0xFFFD;

/// One character at the front of a text.
struct Utf8Char {
  uint32_t codePoint = 0;
  uint32_t size = 0; ///< Bytes used; at least one unless the text is empty.
  bool valid = false;
};

/// Decodes the character at the front of `text`. What is not UTF-8 gives
/// U+FFFD for each maximal ill-formed part, as Python's errors="replace" does.
Utf8Char decodeUtf8(std::string_view text);

void appendUtf8(std::string &text, uint32_t codePoint);

/// Where the last character of a text that is not empty begins.
size_t lastUtf8Char(std::string_view text);

/// True if `text` is well-formed UTF-8.
bool isUtf8(std::string_view text);

/// `text` with everything that is not UTF-8 replaced by U+FFFD.
std::string replaceInvalidUtf8(std::string_view text);

/// The number of bytes at the end of `text` that begin a character whose rest
/// may still come (0 to 3).
size_t incompleteUtf8Tail(std::string_view text);

/// Classes a character belongs to; a set of bits.
enum CharClass : uint8_t {
  kLetter = 1 << 0,      ///< \p{L} of the pre-tokenizers' expressions.
  kNumber = 1 << 1,      ///< \p{N} of the same.
  kSpace = 1 << 2,       ///< White_Space.
  kDigit = 1 << 3,       ///< What the pre-tokenizer `Digits` splits off.
  kPunctuation = 1 << 4, ///< What BERT makes words of their own.
  kMark = 1 << 5,        ///< What BERT drops as an accent.
  kDropped = 1 << 6,     ///< What BERT's clean-up drops.
  kWord = 1 << 7,        ///< \w, for added tokens that match whole words.
};

/// The CharClass bits of a code point.
uint8_t charClass(uint32_t codePoint);

/// Appends the lower-case form of a code point.
void appendLower(std::string &text, uint32_t codePoint);

/// The canonical decomposition (NFD) and composition (NFC) of valid UTF-8.
std::string toNfd(std::string_view text);
std::string toNfc(std::string_view text);

} // namespace gist

#endif // GIST_RUNTIME_TEXT_UNICODE_H
