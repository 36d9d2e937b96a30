//===- HashTest.cpp - XXH64 against published values ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Hash.h"
#include "runtime/support/Sha256.h"
#include "runtime/support/TextBytes.h"

#include <gtest/gtest.h>

#include <string>

using namespace gist;

// Values that other implementations publish for seed 0.
TEST(Hash, KnownValues) {
  EXPECT_EQ(hashBytes({}), 0xEF46DB3751D8E999u);
  EXPECT_EQ(hashBytes(bytesOf("a")), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(hashBytes(bytesOf("abc")), 0x44BC2CF5AD770999u);
  EXPECT_EQ(hashBytes(bytesOf("xxhash")), 0x32DD38952C4BC720u);
  EXPECT_EQ(hashBytes(bytesOf(
                "Nobody inspects the spammish repetition")), // over a stripe
            0xFBCEA83C8A378BF1u);
}

// However the bytes arrive, the hash is the same: every split of lengths around
// the 32-byte stripe.
TEST(Hash, PiecesDoNotMatter) {
  std::string text;
  for (int i = 0; i < 131; ++i)
    text.push_back(static_cast<char>(i * 37));
  uint64_t whole = hashBytes(bytesOf(text));
  for (size_t first = 0; first <= text.size(); ++first)
    for (size_t second : {size_t{0}, size_t{1}, size_t{31}, size_t{64}}) {
      size_t end = std::min(first + second, text.size());
      Hasher hasher;
      hasher.update(bytesOf(text.substr(0, first)));
      hasher.update(bytesOf(text.substr(first, end - first)));
      hasher.update(bytesOf(text.substr(end)));
      ASSERT_EQ(hasher.finish(), whole) << first << " " << second;
    }
}

// A part of the input that is not read would not be protected.
TEST(Hash, EveryBitCounts) {
  std::string text(100, '\0');
  uint64_t original = hashBytes(bytesOf(text));
  for (size_t i = 0; i < text.size() * 8; ++i) {
    text[i / 8] ^= static_cast<char>(1 << i % 8);
    EXPECT_NE(hashBytes(bytesOf(text)), original) << "bit " << i;
    text[i / 8] ^= static_cast<char>(1 << i % 8);
  }
}

static std::string sha256(const std::string &text, size_t piece) {
  Sha256 hasher;
  for (size_t at = 0; at < text.size(); at += piece)
    hasher.update({reinterpret_cast<const uint8_t *>(text.data()) + at,
                   std::min(piece, text.size() - at)});
  return hasher.finish();
}

// The examples of FIPS 180-4, and a million letters as NIST publishes them, in
// pieces that end inside blocks.
TEST(Sha256, PublishedValues) {
  const std::pair<std::string, const char *> examples[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc",
       "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {std::string(1000000, 'a'),
       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}};
  for (const auto &[text, expected] : examples)
    for (size_t piece : {1, 55, 56, 63, 64, 65, 1000})
      EXPECT_EQ(sha256(text, piece), expected) << piece;
}
