//===- TokenizerTest.cpp - Text to token ids and back ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Tokenizer.h"

#include "runtime/text/TokenizerSplit.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace gist;

namespace {

using Ids = std::vector<int32_t>;
using Words = std::vector<std::string>;

/// All bytes, then tokens made by merges, then one special token.
static TokenizerSpec
byteSpec(std::vector<std::pair<std::string, std::string>> merges) {
  TokenizerSpec spec;
  for (int byte = 0; byte < 256; ++byte)
    spec.vocab.emplace_back(1, static_cast<char>(byte));
  auto id = [&](const std::string &text) {
    for (uint32_t i = 0; i < spec.vocab.size(); ++i)
      if (spec.vocab[i] == text)
        return i;
    ADD_FAILURE() << text;
    return 0u;
  };
  for (const auto &[left, right] : merges) {
    spec.merges.push_back({id(left), id(right)});
    spec.vocab.push_back(left + right);
  }
  AddedToken end;
  end.text = "<end>";
  end.id = static_cast<uint32_t>(spec.vocab.size());
  end.special = true;
  spec.added.push_back(end);
  spec.vocab.emplace_back();
  spec.eos = static_cast<int32_t>(end.id);
  spec.suffix.push_back(end.id);
  return spec;
}

static Ids encode(const Tokenizer &tokenizer, std::string_view text,
                  EncodeOptions options = {false, true}) {
  Ids ids;
  tokenizer.encode(text, ids, options);
  return ids;
}

/// The texts of the tokens of a text.
static Words pieces(const Tokenizer &tokenizer, std::string_view text) {
  Words result;
  for (int32_t id : encode(tokenizer, text))
    result.emplace_back(tokenizer.tokenText(id));
  return result;
}

static Words split(TokenizerSplit kind, std::string_view text) {
  std::vector<std::string_view> words;
  splitText(kind, text, words);
  return {words.begin(), words.end()};
}

// By hand from the published expression: contractions, runs of spaces, digits.
TEST(TokenizerSplit, Gpt2) {
  auto words = [](std::string_view text) {
    return split(TokenizerSplit::Gpt2, text);
  };
  EXPECT_EQ(words("Hello world"), (Words{"Hello", " world"}));
  EXPECT_EQ(words("it's we'll I'M"),
            (Words{"it", "'s", " we", "'ll", " I", "'", "M"}));
  EXPECT_EQ(words("a  b"), (Words{"a", " ", " b"}));
  EXPECT_EQ(words("a   "), (Words{"a", "   "}));
  EXPECT_EQ(words("a\n\n b"), (Words{"a", "\n\n", " b"}));
  EXPECT_EQ(words("a\tb"), (Words{"a", "\t", "b"}));
  EXPECT_EQ(words("x12.5!? 3"), (Words{"x", "12", ".", "5", "!?", " 3"}));
}

// Case-insensitive contractions, digits in threes or alone, newlines with what
// is before them.
TEST(TokenizerSplit, Llama3AndQwen2) {
  EXPECT_EQ(split(TokenizerSplit::Llama3, "I'M 12345 (foo)\n\n  x!\n"),
            (Words{"I", "'M", " ", "123", "45", " (", "foo", ")\n\n", " ", " x",
                   "!\n"}));
  EXPECT_EQ(split(TokenizerSplit::Qwen2, "12 \n 3"),
            (Words{"1", "2", " \n", " ", "3"}));
}

// Digits of other scripts are digits.
TEST(TokenizerSplit, DigitsStandAlone) {
  std::vector<std::string_view> parts;
  splitAtDigits("ab12 \u0663c", parts);
  EXPECT_EQ(Words(parts.begin(), parts.end()),
            (Words{"ab", "1", "2", " ", "\u0663", "c"}));
}

TEST(Tokenizer, MergesByRankThenFromTheLeft) {
  Tokenizer tokenizer;
  // "bc" ranks before "ab"; of overlapping pairs the left one goes first.
  ASSERT_TRUE(Tokenizer::create(
                  byteSpec({{"b", "c"}, {"a", "b"}, {"ab", "bc"}, {"a", "a"}}),
                  tokenizer)
                  .ok());
  EXPECT_EQ(pieces(tokenizer, "abc"), (Words{"a", "bc"}));
  EXPECT_EQ(pieces(tokenizer, "ab"), (Words{"ab"}));
  EXPECT_EQ(pieces(tokenizer, "abbc"), (Words{"abbc"}));
  EXPECT_EQ(pieces(tokenizer, "aaa"), (Words{"aa", "a"}));
  EXPECT_EQ(pieces(tokenizer, "aaaa"), (Words{"aa", "aa"}));
}

TEST(Tokenizer, LongWordsTakeNoQuadraticTime) {
  Tokenizer tokenizer;
  ASSERT_TRUE(
      Tokenizer::create(byteSpec({{"a", "a"}, {"aa", "aa"}, {"aaaa", "aaaa"}}),
                        tokenizer)
          .ok());
  // 2^20 letters: a quadratic algorithm would need 10^12 steps.
  Ids ids = encode(tokenizer, std::string(1 << 20, 'a'));
  // Eight letters each: the third merge, after 256 bytes.
  EXPECT_EQ(ids, Ids((1 << 20) / 8, 258));
}

// Byte-level models lose nothing; what is not UTF-8 becomes U+FFFD, one for
// each ill-formed part.
TEST(Tokenizer, AnyTextComesBack) {
  Tokenizer tokenizer;
  ASSERT_TRUE(
      Tokenizer::create(byteSpec({{"\xC3", "\xA9"}, {" ", "a"}}), tokenizer)
          .ok());
  using namespace std::string_view_literals;
  for (std::string_view text :
       {""sv, " "sv, "caf\u00E9  a\r\n\t"sv,
        "\U0001F468\u200D\U0001F469 e\u0301"sv, "\0x"sv, "\uFFFD"sv}) {
    Ids ids = encode(tokenizer, text);
    EXPECT_EQ(tokenizer.decode(ids), text);
  }
  EXPECT_EQ(tokenizer.decode(encode(tokenizer, "a\xFF\xE2\x82z")),
            "a\uFFFD\uFFFDz");
}

// What a user types must not end a turn.
TEST(Tokenizer, SpecialTokensOnlyWhereAllowed) {
  Tokenizer tokenizer;
  ASSERT_TRUE(Tokenizer::create(byteSpec({}), tokenizer).ok());
  int32_t end = tokenizer.findToken("<end>");
  EXPECT_EQ(end, 256);
  EXPECT_TRUE(tokenizer.isSpecial(end) && tokenizer.isStop(end));
  EXPECT_EQ(encode(tokenizer, "a<end>b"), (Ids{'a', end, 'b'}));
  EXPECT_EQ(encode(tokenizer, "<end>", {true, false}),
            (Ids{'<', 'e', 'n', 'd', '>', end}));
  Ids ids = {'a', end, 'b'};
  EXPECT_EQ(tokenizer.decode(ids), "ab");
  EXPECT_EQ(tokenizer.decode(ids, false), "a<end>b");
  EXPECT_EQ(tokenizer.tokenText(-1), "");
  EXPECT_EQ(tokenizer.tokenText(257), "");
}

// A character arrives byte by byte and is shown whole.
TEST(Tokenizer, StreamsWholeCharacters) {
  Tokenizer tokenizer;
  ASSERT_TRUE(Tokenizer::create(byteSpec({}), tokenizer).ok());
  StreamDecoder decoder(tokenizer);
  Words got;
  for (int32_t byte : {0xF0, 0x9F, 0x98, 0x80, 0x61, 0xC3, 0x61, 0xE2, 0x82})
    got.push_back(decoder.push(byte));
  EXPECT_EQ(got, (Words{"", "", "", "\U0001F600", "a", "", "\uFFFDa", "", ""}));
  EXPECT_EQ(decoder.finish(), "\uFFFD");
  EXPECT_EQ(decoder.finish(), "");
}

TEST(Tokenizer, BytesWithoutATokenAreSkippedOrUnknown) {
  TokenizerSpec spec = byteSpec({});
  // An empty text is a token that no text gives.
  spec.vocab['b'].clear();
  Tokenizer tokenizer;
  ASSERT_TRUE(Tokenizer::create(spec, tokenizer).ok());
  EXPECT_EQ(encode(tokenizer, "abc"), (Ids{'a', 'c'}));
  spec.unknown = '?';
  ASSERT_TRUE(Tokenizer::create(spec, tokenizer).ok());
  EXPECT_EQ(encode(tokenizer, "abc"), (Ids{'a', '?', 'c'}));
}

// Normalised, cut greedily, unknown as a whole.
TEST(Tokenizer, WordPiece) {
  TokenizerSpec spec;
  spec.model = TokenizerModel::WordPiece;
  spec.split = TokenizerSplit::None;
  spec.normalizer = TokenizerNormalizer::Bert;
  spec.cleanText = spec.splitChinese = true;
  spec.stripAccents = spec.lowercase = true;
  spec.wordPrefix = "##";
  spec.maxWordChars = 10;
  spec.vocab = {"[UNK]", "un", "##aff", "##able", "##a", "cafe", ",", "\u4E2D"};
  spec.unknown = 0;
  Tokenizer tokenizer;
  ASSERT_TRUE(Tokenizer::create(spec, tokenizer).ok());
  EXPECT_EQ(encode(tokenizer, "UNaffable, Caf\u00E9"), (Ids{1, 2, 3, 6, 5}));
  EXPECT_EQ(encode(tokenizer, "un\u4E2Dun"), (Ids{1, 7, 1}));
  EXPECT_EQ(encode(tokenizer, "unx un"), (Ids{0, 1})); // A rest: all unknown.
  EXPECT_EQ(encode(tokenizer, "unaaaaaaaa"), (Ids{1, 4, 4, 4, 4, 4, 4, 4, 4}));
  EXPECT_EQ(encode(tokenizer, "unaaaaaaaaa"), (Ids{0})); // 11 characters.
  EXPECT_EQ(encode(tokenizer, std::string_view("u\u200Bn\0", 6)), (Ids{1}));
  EXPECT_EQ(tokenizer.decode(Ids{1, 2, 3, 6, 5}), "unaffable, cafe");
}

// ESM-2: entries where they stand, runs between them are one unknown each.
TEST(Tokenizer, Alphabet) {
  TokenizerSpec spec;
  spec.model = TokenizerModel::Alphabet;
  spec.split = TokenizerSplit::None;
  spec.vocab = {"<cls>", "<unk>", "A", "C", "<mask>"};
  spec.unknown = 1;
  spec.prefix = {0};
  Tokenizer tokenizer;
  ASSERT_TRUE(Tokenizer::create(spec, tokenizer).ok());
  EXPECT_EQ(encode(tokenizer, "AC<mask>A"), (Ids{2, 3, 4, 2}));
  EXPECT_EQ(encode(tokenizer, "A xy z C"), (Ids{2, 1, 1, 3}));
  EXPECT_EQ(encode(tokenizer, "A", {true, true}), (Ids{0, 2}));
}

// A refused spec leaves a tokenizer that can still be called.
TEST(Tokenizer, RefusesWhatItCannotUse) {
  Tokenizer tokenizer;
  TokenizerSpec spec = byteSpec({});
  spec.merges.push_back({'a', 'b'}); // "ab" is not a token.
  Status status = Tokenizer::create(spec, tokenizer);
  EXPECT_EQ(status.code, Code::BadFile);
  EXPECT_NE(status.text.find("merge 0 joins tokens 97 and 98"),
            std::string::npos);
  EXPECT_EQ(tokenizer.vocabSize(), 0u);
  EXPECT_EQ(encode(tokenizer, "abc"), Ids()); // Empty, but usable.
}

} // namespace
