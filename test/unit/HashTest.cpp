//===- HashTest.cpp - XXH64 against published values ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Hash.h"

#include <gtest/gtest.h>

#include <string>

using namespace gist;

static Bytes bytesOf(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

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
