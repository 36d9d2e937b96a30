//===- PrefillCallsTest.cpp - How many tokens a prefill call takes --------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/PrefillCalls.h"
#include "runtime/module/Properties.h"

#include <gtest/gtest.h>

using namespace gist;

/// For calls that take 1000 bytes a token.
static int64_t choose(int64_t most, uint64_t free) {
  int64_t chosen = 0;
  Status status = choosePrefillTokens(
      most, free,
      [](int64_t tokens, uint64_t &bytes) {
        bytes = static_cast<uint64_t>(tokens) * 1000;
        return Status();
      },
      chosen);
  EXPECT_TRUE(status.ok()) << status.text;
  return chosen;
}

// An eighth of the free memory is left for others.
TEST(PrefillCalls, AsManyTokensAsThereIsMemoryFor) {
  EXPECT_EQ(choose(8192, 100'000'000), 8192);
  // 8,192,000 bytes and an eighth of what is free.
  EXPECT_EQ(choose(8192, 9'363'000), 8192);
  EXPECT_EQ(choose(8192, 9'362'000), 4096);
  EXPECT_EQ(choose(8192, 2'400'000), 2048);
}

// A call that does not fit fails with its own message, which is better than a
// call of no tokens.
TEST(PrefillCalls, NeverFewerThanTheLeast) {
  EXPECT_EQ(choose(8192, 0), kLeastPrefillTokens);
  EXPECT_EQ(choose(700, 0), kLeastPrefillTokens);
  // The module itself takes fewer.
  EXPECT_EQ(choose(100, 0), 100);
}

// The size of a call comes from the module.
TEST(PrefillCalls, ErrorsAreHandedOn) {
  int64_t chosen = 0;
  Status status = choosePrefillTokens(
      8192, 1,
      [](int64_t, uint64_t &) {
        return Status::error(Code::BadFile, "arena size is -1");
      },
      chosen);
  EXPECT_EQ(status.text, "arena size is -1");
}

/// The calls that `count` tokens are cut into.
static std::vector<int64_t> calls(int64_t count, int64_t chunk) {
  std::vector<int64_t> result;
  while (count > 0) {
    result.push_back(evenPrefillTokens(count, chunk));
    count -= result.back();
  }
  return result;
}

// A short rest would waste a call; tiles of 128 tokens are not cut.
TEST(PrefillCalls, CallsAreAboutAsLarge) {
  using Calls = std::vector<int64_t>;
  EXPECT_EQ(calls(500, 8192), Calls{500});
  EXPECT_EQ(calls(8192, 8192), Calls{8192});
  EXPECT_EQ(calls(8200, 8192), (Calls{4224, 3976}));
  EXPECT_EQ(calls(32000, 8192), (Calls{8064, 8064, 7936, 7936}));
  // Three calls of 344 tokens, rounded up to tiles.
  EXPECT_EQ(calls(1030, 512), (Calls{384, 384, 262}));
  EXPECT_EQ(calls(7, 3), (Calls{3, 3, 1})); // Fewer than a tile stay as asked.
}

static PromptBulk bulkOf(const std::string &property) {
  ModelInfo model;
  model.properties[kBulkProperty] = property;
  PromptBulk bulk;
  EXPECT_EQ(PromptBulk::create(model, bulk).text, "");
  return bulk;
}

static std::pair<size_t, size_t> find(const PromptBulk &bulk, size_t count,
                                      int64_t past) {
  PromptBulk::Range range = bulk.find(count, past);
  return {range.begin, range.end};
}

TEST(PromptBulk, EndsOfAPromptAreNotOfTheBulk) {
  using Range = std::pair<size_t, size_t>;
  PromptBulk bulk = bulkOf("4 128 64");
  EXPECT_EQ(find(bulk, 300, 0), Range(4, 172));
  EXPECT_EQ(find(bulk, 300, 3), Range(1, 172));
  EXPECT_EQ(find(bulk, 300, 1000), Range(0, 172));
  // Too few between the ends.
  EXPECT_EQ(find(bulk, 196, 0), Range(4, 68));
  EXPECT_EQ(find(bulk, 195, 0), Range(195, 195));
  // The last token has logits.
  EXPECT_EQ(find(bulkOf("0 0 1"), 2, 0), Range(0, 1));
  EXPECT_EQ(find(bulkOf("0 0 1"), 1, 0), Range(1, 1));
}

TEST(PromptBulk, WithoutAPlanAllTokensAreRead) {
  PromptBulk bulk;
  EXPECT_TRUE(PromptBulk::create({}, bulk).ok());
  EXPECT_EQ(find(bulk, 7, 3), (std::pair<size_t, size_t>(0, 7)));
}

TEST(PromptBulk, OtherTextIsRefused) {
  for (const char *text :
       {"", "4", "4 128", "4 128 64 1", "4 -1 64", "4 x 64", "4,128,64",
        "4 128 64 ", "4 128 16777217", "4 128 99999999999999999999"}) {
    ModelInfo model;
    model.properties[kBulkProperty] = text;
    PromptBulk bulk;
    EXPECT_EQ(PromptBulk::create(model, bulk).text,
              "the property 'bulk' is '" + std::string(text) +
                  "'; expected three numbers of tokens");
  }
}
