//===- CApiTest.cpp - The C interface -------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/gist.h"

#include "test/unit/TinyModel.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace gist::test;

extern "C" gist_code gistHeaderLoad(const char *path, int64_t *vocabSize);

namespace {
class CApi : public ::testing::Test {
protected:
  void SetUp() override {
    std::string path = model.write(folder.file("m.gist"));
    ASSERT_EQ(gist_module_load(path.c_str(), &module), GIST_OK)
        << gist_last_error();
  }
  void TearDown() override {
    gist_session_free(session);
    gist_module_free(module);
  }

  void expectNear(const float *values, size_t count,
                  const std::vector<float> &expected) {
    ASSERT_EQ(count, expected.size());
    for (size_t i = 0; i < count; ++i)
      ASSERT_NEAR(values[i], expected[i], 1e-5f);
  }

  TemporaryFolder folder;
  TinyModel model;
  gist_module *module = nullptr;
  gist_session *session = nullptr;
};
} // namespace

TEST_F(CApi, FeedAndLogits) {
  EXPECT_EQ(gist_module_vocab_size(module), TinyModel::kVocab);
  EXPECT_STREQ(gist_module_architecture(module), "tiny");
  gist_session_options options{"cpu", 2, 60, 7, nullptr, 0};
  ASSERT_EQ(gist_session_create(module, &options, &session), GIST_OK)
      << gist_last_error();
  // The session keeps what it needs.
  gist_module_free(module);
  module = nullptr;
  EXPECT_EQ(gist_session_capacity(session), 60);
  size_t count = 99;
  EXPECT_EQ(gist_session_logits(session, &count), nullptr);
  EXPECT_EQ(count, 0u);
  std::vector<int32_t> tokens = {9, 8, 7, 200, 201, 202, 203, 204, 5};
  ASSERT_EQ(gist_session_feed(session, tokens.data(), tokens.size()), GIST_OK);
  EXPECT_EQ(gist_session_position(session), 9);
  const float *logits = gist_session_logits(session, &count);
  expectNear(logits, count, model.logitsAfter(tokens));
  ASSERT_EQ(gist_session_reset(session), GIST_OK);
  EXPECT_EQ(gist_session_position(session), 0);
}

TEST_F(CApi, TokensAndText) {
  int32_t tokens[16];
  size_t count = 16;
  ASSERT_EQ(gist_tokenize(module, "hey<|end|>", 10, 1, tokens, &count),
            GIST_OK);
  ASSERT_EQ(count, 4u);
  EXPECT_EQ(tokens[3], TinyModel::kEnd);
  char text[16];
  size_t size = sizeof(text);
  ASSERT_EQ(gist_detokenize(module, tokens, 3, text, &size), GIST_OK);
  EXPECT_EQ(std::string(text, size), "hey");
  count = 2;
  EXPECT_EQ(gist_tokenize(module, "hey", 3, 1, tokens, &count),
            GIST_OUT_OF_MEMORY);
  EXPECT_EQ(count, 3u);
  EXPECT_STREQ(gist_last_error(), "room for 2 values, need 3");
}

TEST_F(CApi, EmbedAndGenerate) {
  ASSERT_EQ(gist_session_create(module, nullptr, &session), GIST_OK);
  std::vector<int32_t> tokens = {1, 2, 3};
  float values[TinyModel::kWidth];
  size_t count = TinyModel::kWidth;
  ASSERT_EQ(gist_session_embed(session, tokens.data(), 3, values, &count),
            GIST_OK);
  expectNear(values, count, model.embedding(tokens));

  struct Received {
    std::string text;
    int calls = 0;
  } received;
  auto callback = [](const char *text, size_t size, void *data) {
    auto *to = static_cast<Received *>(data);
    to->text.append(text, size);
    return ++to->calls == 4 ? 1 : 0;
  };
  gist_generate_options options{};
  options.max_tokens = 20;
  ASSERT_EQ(
      gist_session_generate(session, "hello", 5, &options, callback, &received),
      GIST_OK)
      << gist_last_error();
  EXPECT_EQ(received.calls, 4);
  EXPECT_FALSE(received.text.empty());
}

TEST_F(CApi, Errors) {
  gist_module *none = nullptr;
  EXPECT_EQ(gist_module_load("/nowhere.gist", &none), GIST_NOT_FOUND);
  EXPECT_STREQ(gist_last_error(),
               "/nowhere.gist: cannot open: No such file or directory");
  EXPECT_EQ(none, nullptr);
  writeFile(folder.file("bad.gist"), "no module");
  EXPECT_EQ(gist_module_load(folder.file("bad.gist").c_str(), &none),
            GIST_BAD_FILE);
  gist_session_options options{"cuda", 0, 0, 0, "/nowhere.so", 0};
  EXPECT_EQ(gist_session_create(module, &options, &session), GIST_NOT_FOUND);
  EXPECT_EQ(session, nullptr);
  ASSERT_EQ(gist_session_create(module, nullptr, &session), GIST_OK);
  EXPECT_EQ(gist_session_feed(session, nullptr, 0), GIST_BAD_ARGUMENT);
  EXPECT_STREQ(gist_last_error(), "no tokens were given");
  gist_session_free(nullptr);
  gist_module_free(nullptr);
}

TEST_F(CApi, FromC) {
  int64_t vocabSize = 0;
  EXPECT_EQ(gistHeaderLoad(folder.file("m.gist").c_str(), &vocabSize), GIST_OK);
  EXPECT_EQ(vocabSize, TinyModel::kVocab);
}
