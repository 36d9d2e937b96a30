//===- UnicodeTest.cpp - UTF-8, character classes, normal forms -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Unicode.h"

#include <gtest/gtest.h>

#include <string>

using namespace gist;

namespace {

// Table 3-8 of the Unicode Standard, which Python follows too.
TEST(Unicode, ReplacesMaximalIllFormedParts) {
  EXPECT_EQ(
      replaceInvalidUtf8("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF"
                         "\x64"),
      "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
  // Overlong forms, surrogates and what is beyond U+10FFFF: no byte of them
  // begins anything.
  EXPECT_EQ(replaceInvalidUtf8("\xC0\xAF"), "\uFFFD\uFFFD");
  EXPECT_EQ(replaceInvalidUtf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(replaceInvalidUtf8("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
}

// All of them, and all of their beginnings.
TEST(Unicode, EveryCodePointComesBack) {
  for (uint32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000)
      continue;
    std::string text;
    appendUtf8(text, c);
    Utf8Char decoded = decodeUtf8(text);
    ASSERT_TRUE(decoded.valid) << c;
    ASSERT_EQ(decoded.codePoint, c);
    ASSERT_EQ(decoded.size, text.size());
    // Every beginning of it waits for the rest; all of it waits for nothing.
    for (size_t size = 1; size < text.size(); ++size)
      ASSERT_EQ(incompleteUtf8Tail("x" + text.substr(0, size)), size) << c;
    ASSERT_EQ(incompleteUtf8Tail(text), 0u) << c;
  }
}

// A stream would otherwise hold such bytes back for ever.
TEST(Unicode, NothingWaitsForBytesThatCannotComplete) {
  EXPECT_EQ(incompleteUtf8Tail("\xC0"), 0u);
  EXPECT_EQ(incompleteUtf8Tail("\xFF"), 0u);
  EXPECT_EQ(incompleteUtf8Tail("\xED\xA0"), 0u);
  EXPECT_EQ(incompleteUtf8Tail("\x80\x80\x80\x80"), 0u);
  EXPECT_EQ(incompleteUtf8Tail(""), 0u);
}

// Where the reference's classes differ from Unicode's categories, the reference
// counts.
TEST(Unicode, Classes) {
  EXPECT_EQ(charClass('a'), kLetter | kWord);
  EXPECT_EQ(charClass('7'), kNumber | kDigit | kWord);
  EXPECT_EQ(charClass(' '), kSpace);
  EXPECT_EQ(charClass('_'), kPunctuation | kWord);
  EXPECT_EQ(charClass('$'), kPunctuation);       // BERT's, not Unicode's.
  EXPECT_EQ(charClass(0x4E2D), kLetter | kWord); // 中
  EXPECT_TRUE(charClass(0x00BD) & kNumber);      // ½
  EXPECT_TRUE(charClass(0x0301) & kMark);
  EXPECT_TRUE(charClass(0x3000) & kSpace);
  EXPECT_TRUE(charClass(0x200B) & kDropped); // A format character.
  EXPECT_FALSE(charClass(0x200B) & kSpace);
  EXPECT_EQ(charClass(0x10FFFF) & kLetter, 0);
}

static std::string lower(uint32_t c) {
  std::string text;
  appendLower(text, c);
  return text;
}

// Runs with step 2, the one letter with two lower-case characters, and letters
// far from their pair.
TEST(Unicode, LowerCase) {
  EXPECT_EQ(lower('A'), "a");
  EXPECT_EQ(lower('Z'), "z");
  EXPECT_EQ(lower('['), "[");
  EXPECT_EQ(lower(0x100), "\u0101"); // Runs of every second code point.
  EXPECT_EQ(lower(0x101), "\u0101");
  EXPECT_EQ(lower(0x130), "i\u0307");
  EXPECT_EQ(lower(0x3A3), "\u03C3");
  EXPECT_EQ(lower(0x212A), "k"); // Kelvin.
  EXPECT_EQ(lower(0x1E9E), "\u00DF");
  EXPECT_EQ(lower(0x10400), "\U00010428");
}

// NFC is composition of NFD; BERT needs NFD, Qwen2 needs NFC.
TEST(Unicode, NormalForms) {
  EXPECT_EQ(toNfd("\u00C5\u212B"), "A\u030AA\u030A");
  EXPECT_EQ(toNfc("A\u030A\u212B"), "\u00C5\u00C5");
  // Two steps, and marks that change places: classes 230, 220 and 232.
  EXPECT_EQ(toNfd("\u1E69"), "s\u0323\u0307");
  EXPECT_EQ(toNfc("s\u0307\u0323"), "\u1E69");
  EXPECT_EQ(toNfd("a\u0315\u0300"), "a\u0300\u0315");
  EXPECT_EQ(toNfc("a\u0315\u0300"), "\u00E0\u0315");
  // Hangul.
  EXPECT_EQ(toNfd("\uAC01"), "\u1100\u1161\u11A8");
  EXPECT_EQ(toNfc("\u1100\u1161\u11A8"), "\uAC01");
  // Composition exclusions stay apart.
  EXPECT_EQ(toNfc("\u0958"), "\u0915\u093C");
  // A mark between blocks the composition; one without a letter stays.
  EXPECT_EQ(toNfc("a\u0302\u0302"), "\u00E2\u0302");
  EXPECT_EQ(toNfc("\u0301a"), "\u0301a");
}

} // namespace
