//===- TokenizerSpecTest.cpp - A tokenizer as data ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/TokenizerSpec.h"

#include "runtime/support/TextBytes.h"
#include "runtime/text/Tokenizer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace gist;

namespace {

/// Every field differs from its default.
static TokenizerSpec fullSpec(TokenizerModel model) {
  TokenizerSpec spec;
  spec.model = model;
  spec.split = TokenizerSplit::Llama3;
  spec.normalizer = TokenizerNormalizer::Bert;
  spec.splitDigits = spec.prefixSpace = spec.ignoreMerges = true;
  spec.cleanText = spec.splitChinese = true;
  spec.stripAccents = spec.lowercase = true;
  spec.wordPrefix = "##";
  spec.maxWordChars = 77;
  spec.vocab = {"a", "b", "ab", "<s>", "", "##b", "\xFF", "word"};
  spec.merges = {{0, 1}};
  AddedToken token;
  token.text = "<s>";
  token.id = 3;
  token.special = token.stripLeft = true;
  spec.added.push_back(token);
  token = {};
  token.text = "two words";
  token.id = 4;
  token.singleWord = token.stripRight = token.normalized = true;
  spec.added.push_back(token);
  spec.bos = 3;
  spec.eos = 4;
  spec.unknown = 5;
  spec.pad = 6;
  spec.mask = 7;
  spec.prefix = {3};
  spec.suffix = {4, 3};
  spec.stop = {3, 4, 5};
  spec.chatTemplate = "{{ messages }}";
  return spec;
}

static Status read(const std::string &bytes, TokenizerSpec &spec) {
  return TokenizerSpec::deserialize(bytesOf(bytes), spec);
}

// A field that is written but not read would be its default after loading.
TEST(TokenizerSpec, ComesBackWhole) {
  TokenizerSpec spec = fullSpec(TokenizerModel::ByteBpe), back;
  std::string bytes = spec.serialize();
  ASSERT_TRUE(read(bytes, back).ok());
  EXPECT_EQ(back.serialize(), bytes);
  EXPECT_EQ(back.model, spec.model);
  EXPECT_EQ(back.split, spec.split);
  EXPECT_EQ(back.normalizer, spec.normalizer);
  EXPECT_TRUE(back.splitDigits && back.prefixSpace && back.ignoreMerges &&
              back.cleanText && back.splitChinese && back.stripAccents &&
              back.lowercase);
  EXPECT_EQ(back.wordPrefix, spec.wordPrefix);
  EXPECT_EQ(back.maxWordChars, 77u);
  EXPECT_EQ(back.vocab, spec.vocab);
  ASSERT_EQ(back.merges.size(), 1u);
  EXPECT_EQ(back.merges[0].right, 1u);
  ASSERT_EQ(back.added.size(), 2u);
  EXPECT_TRUE(back.added[0].special && back.added[0].stripLeft);
  EXPECT_FALSE(back.added[0].singleWord || back.added[0].stripRight ||
               back.added[0].normalized);
  EXPECT_TRUE(back.added[1].singleWord && back.added[1].stripRight &&
              back.added[1].normalized);
  EXPECT_EQ(back.added[1].text, "two words");
  EXPECT_EQ(back.added[1].id, 4u);
  EXPECT_EQ(
      (std::vector{back.bos, back.eos, back.unknown, back.pad, back.mask}),
      (std::vector{3, 4, 5, 6, 7}));
  EXPECT_EQ(back.prefix, spec.prefix);
  EXPECT_EQ(back.suffix, spec.suffix);
  EXPECT_EQ(back.stop, spec.stop);
  EXPECT_EQ(back.chatTemplate, spec.chatTemplate);
}

// And one byte too many, which shows that reader and writer disagree.
TEST(TokenizerSpec, EveryTruncationIsRefused) {
  std::string bytes = fullSpec(TokenizerModel::WordPiece).serialize();
  for (size_t size = 0; size < bytes.size(); ++size) {
    TokenizerSpec spec;
    Status status = read(bytes.substr(0, size), spec);
    EXPECT_FALSE(status.ok()) << size;
    EXPECT_FALSE(status.text.empty());
    EXPECT_TRUE(spec.vocab.empty()); // Left as it was.
  }
  TokenizerSpec spec;
  EXPECT_FALSE(read(bytes + '\0', spec).ok());
}

// Bytes that mean something else are refused, not read wrongly.
TEST(TokenizerSpec, OtherVersionsAreRefused) {
  std::string bytes = fullSpec(TokenizerModel::ByteBpe).serialize();
  // The version is first, as a little-endian word.
  bytes[0] = 9;
  TokenizerSpec spec;
  Status status = read(bytes, spec);
  EXPECT_EQ(status.code, Code::Unsupported);
  EXPECT_EQ(status.text, "tokenizer: the section has format 9, but this "
                         "runtime reads format 1; compile the model again");
}

// A count of 2^32 must not be believed before it is compared with the bytes.
TEST(TokenizerSpec, LyingCountsAllocateNothing) {
  // The first list is after version, kinds, options, word length, five ids,
  // prefix and template.
  TokenizerSpec spec = fullSpec(TokenizerModel::ByteBpe);
  size_t at = 4 + 4 + 4 + 20 + 2 + spec.wordPrefix.size() + 4 +
              spec.chatTemplate.size();
  std::string bytes = spec.serialize();
  ASSERT_EQ(bytes[at], 1); // One prefix token.
  bytes.replace(at, 4, "\xFF\xFF\xFF\xFF");
  TokenizerSpec back;
  Status status = read(bytes, back);
  EXPECT_EQ(status.code, Code::BadFile);
  EXPECT_NE(status.text.find("4294967295 entries do not fit"),
            std::string::npos);
}

// Users of a spec index tables with these ids.
TEST(TokenizerSpec, IdsOutOfRangeAreRefused) {
  auto refused = [](auto change) {
    TokenizerSpec spec = fullSpec(TokenizerModel::ByteBpe);
    EXPECT_TRUE(spec.verify().ok());
    change(spec);
    return spec.verify().code == Code::BadFile;
  };
  EXPECT_TRUE(refused([](TokenizerSpec &s) { s.merges[0].left = 8; }));
  EXPECT_TRUE(refused([](TokenizerSpec &s) { s.merges[0].right = 8; }));
  EXPECT_TRUE(refused([](TokenizerSpec &s) { s.added[0].id = 8; }));
  EXPECT_TRUE(refused([](TokenizerSpec &s) { s.added[0].text.clear(); }));
  EXPECT_TRUE(refused([](TokenizerSpec &s) { s.eos = 8; }));
  EXPECT_TRUE(refused([](TokenizerSpec &s) { s.pad = -2; }));
  EXPECT_TRUE(refused([](TokenizerSpec &s) { s.suffix.push_back(8); }));
  EXPECT_TRUE(refused([](TokenizerSpec &s) { s.stop.push_back(8); }));
  EXPECT_TRUE(refused([](TokenizerSpec &s) { s.vocab.clear(); }));
  EXPECT_TRUE(refused([](TokenizerSpec &s) {
    s.model = TokenizerModel::Alphabet;
    s.unknown = TokenizerSpec::kNone;
  }));
}

/// Whatever is read from a damaged section is usable or refused: under the
/// sanitizers this finds reads out of bounds.
TEST(TokenizerSpec, DamagedSectionsDoNoHarm) {
  // A generator of our own, so that the rounds are the same everywhere.
  uint64_t state = 1;
  auto random = [&](uint64_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % bound;
  };
  int usable = 0, refused = 0;
  for (auto model : {TokenizerModel::ByteBpe, TokenizerModel::WordPiece,
                     TokenizerModel::Alphabet, TokenizerModel::CharBpe,
                     TokenizerModel::ScoreBpe, TokenizerModel::Unigram}) {
    TokenizerSpec full = fullSpec(model);
    if (hasScores(model)) {
      full.scores.assign(full.vocab.size(), -1);
      full.kinds.assign(full.vocab.size(), PieceKind::Normal);
      full.kinds[7] = PieceKind::UserDefined;
      full.kinds[2] = PieceKind::Unused;
    }
    ASSERT_TRUE(full.verify().ok());
    const std::string whole = full.serialize();
    for (int round = 0; round < 10000; ++round) {
      std::string bytes = whole;
      for (uint64_t i = 0, count = 1 + random(3); i < count; ++i) {
        size_t at = random(bytes.size());
        switch (random(4)) {
        case 0:
          bytes[at] = static_cast<char>(random(256));
          break;
        case 1:
          bytes[at] ^= static_cast<char>(1 << random(8));
          break;
        case 2:
          bytes.erase(at, 1 + random(4));
          bytes += '\0'; // Never empty.
          break;
        case 3:
          bytes.insert(at, 1, static_cast<char>(random(256)));
          break;
        }
      }
      TokenizerSpec spec;
      Tokenizer tokenizer;
      if (!read(bytes, spec).ok() ||
          !Tokenizer::create(std::move(spec), tokenizer).ok()) {
        ++refused;
        continue;
      }
      ++usable;
      std::vector<int32_t> ids;
      // What every option of the spec acts on: added tokens, an accent, digits,
      // a byte that is not UTF-8, a Chinese character.
      tokenizer.encode("ab <s> \u00C9two words 12\xFF\u4E2D", ids);
      for (int32_t id : ids)
        ASSERT_LT(static_cast<size_t>(id), tokenizer.vocabSize());
      tokenizer.decode(ids, false);
    }
  }
  EXPECT_GT(usable, 1000);
  EXPECT_GT(refused, 1000);
}

} // namespace
