//===- GeneratorTest.cpp - A prompt in, text out --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Conversation.h"

#include "test/unit/TinyModel.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace gist;
using namespace gist::test;

namespace {
class GeneratorTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(openDevice("cpu", {.threads = 2}, device).ok());
    ASSERT_TRUE(Module::open(model.write(folder.file("m.gist")), module).ok());
    Status status = loadTokenizer(*module, tokenizer);
    ASSERT_TRUE(status.ok()) << status.text;
    ASSERT_TRUE(Session::create(module, *device, {}, session).ok());
    tokenizer.encode("hello", prompt);
    ASSERT_EQ(prompt, (std::vector<int32_t>{'h', 'e', 'l', 'l', 'o'}));
  }

  /// What the model must say, by the reference alone. With a penalty, tokens
  /// that are among the last `window` are less likely.
  std::vector<int32_t> greedy(size_t count, float penalty = 1,
                              size_t window = 0) const {
    std::vector<int32_t> tokens = prompt;
    for (size_t i = 0; i < count; ++i) {
      std::vector<float> logits = model.logitsAfter(tokens);
      for (size_t token = 0; token < logits.size(); ++token) {
        auto recent = tokens.end() -
                      static_cast<ptrdiff_t>(std::min(window, tokens.size()));
        if (std::find(recent, tokens.end(), static_cast<int32_t>(token)) !=
            tokens.end())
          // Either way the logit becomes smaller.
          logits[token] *= logits[token] > 0 ? 1 / penalty : penalty;
      }
      tokens.push_back(static_cast<int32_t>(
          std::max_element(logits.begin(), logits.end()) - logits.begin()));
    }
    return {tokens.begin() + static_cast<ptrdiff_t>(prompt.size()),
            tokens.end()};
  }

  TemporaryFolder folder;
  TinyModel model;
  std::unique_ptr<Device> device;
  std::shared_ptr<const Module> module;
  std::unique_ptr<Session> session;
  Tokenizer tokenizer;
  std::vector<int32_t> prompt;
};
} // namespace

// The whole chain: prefill, decode, sampling and the stream of text.
TEST_F(GeneratorTest, GreedyEqualsTheReference) {
  GenerateOptions options{.maxTokens = 20, .ignoreEnd = true};
  GenerateResult result;
  std::string streamed;
  Status status = generate(
      *session, tokenizer, prompt, options,
      [&](std::string_view piece) {
        streamed += piece;
        return true;
      },
      result);
  ASSERT_TRUE(status.ok()) << status.text;
  EXPECT_EQ(result.tokens, greedy(20));
  EXPECT_EQ(result.reason, FinishReason::MaxTokens);
  EXPECT_EQ(streamed, result.text);
  // The prompt's own call gave the first of the 20.
  EXPECT_EQ(result.decodedTokens, 19);
  // All but the last token have been fed.
  EXPECT_EQ(session->position(), 24);
  // A reference that repeated one token would show little.
  std::vector<int32_t> distinct = result.tokens;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  EXPECT_GT(distinct.size(), 5u);
}

TEST_F(GeneratorTest, RepeatPenalty) {
  GenerateOptions options{.maxTokens = 20, .ignoreEnd = true};
  options.sampler.repeatPenalty = 4;
  options.sampler.repeatWindow = 16;
  GenerateResult result;
  ASSERT_TRUE(
      generate(*session, tokenizer, prompt, options, nullptr, result).ok());
  EXPECT_EQ(result.tokens, greedy(20, 4, 16));
  EXPECT_NE(result.tokens, greedy(20));
}

// The token that ends is part of the result.
TEST_F(GeneratorTest, EndTokenStops) {
  // Make a token that the reference chooses into one that ends.
  std::vector<int32_t> expected = greedy(6);
  auto end = expected[4];
  // The reference may have chosen it before.
  auto first = std::find(expected.begin(), expected.end(), end);
  model.writer.spec.model.stopTokens = {end};
  ASSERT_TRUE(Module::open(model.write(folder.file("m.gist")), module).ok());
  ASSERT_TRUE(Session::create(module, *device, {}, session).ok());
  GenerateResult result;
  ASSERT_TRUE(
      generate(*session, tokenizer, prompt, {.maxTokens = 20}, nullptr, result)
          .ok());
  EXPECT_EQ(result.reason, FinishReason::EndToken);
  EXPECT_EQ(result.tokens, std::vector<int32_t>(expected.begin(), first + 1));
}

// No call may go beyond the capacity.
TEST_F(GeneratorTest, FullContextStops) {
  GenerateOptions options{.ignoreEnd = true};
  GenerateResult result;
  ASSERT_TRUE(
      generate(*session, tokenizer, prompt, options, nullptr, result).ok());
  EXPECT_EQ(result.reason, FinishReason::ContextFull);
  EXPECT_EQ(session->position(), TinyModel::kContext);
  // 35 tokens fill the context, and the logits after the last give one more.
  EXPECT_EQ(result.tokens, greedy(36));
}

// A stop string may be spread over tokens, and nothing of it is shown.
TEST_F(GeneratorTest, CancelAndStopStrings) {
  GenerateOptions options{.maxTokens = 30, .ignoreEnd = true};
  options.showSpecial = true;
  GenerateResult whole;
  ASSERT_TRUE(
      generate(*session, tokenizer, prompt, options, nullptr, whole).ok());
  ASSERT_TRUE(session->reset().ok());
  GenerateResult result;
  int pieces = 0;
  ASSERT_TRUE(generate(
                  *session, tokenizer, prompt, options,
                  [&](std::string_view) { return ++pieces < 3; }, result)
                  .ok());
  EXPECT_EQ(result.reason, FinishReason::Cancelled);
  EXPECT_EQ(pieces, 3);

  // Any character of the text, as a stop string, ends it before that.
  size_t at = whole.text.find_first_of(
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
  ASSERT_NE(at, std::string::npos);
  options.stops = {whole.text.substr(at, 1)};
  ASSERT_TRUE(session->reset().ok());
  ASSERT_TRUE(
      generate(*session, tokenizer, prompt, options, nullptr, result).ok());
  EXPECT_EQ(result.reason, FinishReason::StopString);
  EXPECT_EQ(result.text, whole.text.substr(0, at));
}

// A text can be had again by its seed.
TEST_F(GeneratorTest, SeedDecides) {
  GenerateOptions options{.maxTokens = 25, .ignoreEnd = true};
  options.sampler.temperature = 1.0f;
  auto sampled = [&](uint64_t seed) {
    options.sampler.seed = seed;
    GenerateResult result;
    EXPECT_TRUE(session->reset().ok());
    EXPECT_TRUE(
        generate(*session, tokenizer, prompt, options, nullptr, result).ok());
    return result.tokens;
  };
  EXPECT_EQ(sampled(1), sampled(1));
  EXPECT_NE(sampled(1), sampled(2));
}

// Pulling tokens one by one gives the same as the callback gets.
TEST_F(GeneratorTest, StreamDrawsWhenAsked) {
  GenerateOptions options{.maxTokens = 6, .ignoreEnd = true};
  std::unique_ptr<TokenStream> stream;
  ASSERT_TRUE(
      TokenStream::begin(*session, tokenizer, prompt, options, stream).ok());
  EXPECT_EQ(session->position(), 0);
  std::vector<int32_t> expected = greedy(6), tokens;
  std::string text;
  std::optional<TokenPiece> piece;
  while (true) {
    ASSERT_TRUE(stream->next(piece).ok());
    if (!piece)
      break;
    text += piece->text;
    if (piece->token < 0)
      continue;
    tokens.push_back(piece->token);
    // The token that was drawn last is not fed yet.
    EXPECT_EQ(session->position(), static_cast<int64_t>(4 + tokens.size()));
  }
  EXPECT_EQ(tokens, expected);
  EXPECT_TRUE(stream->isFinished());
  EXPECT_EQ(stream->result().reason, FinishReason::MaxTokens);
  EXPECT_EQ(stream->result().text, text);
  ASSERT_TRUE(stream->next(piece).ok());
  EXPECT_FALSE(piece);
}

// What ends a stream feeds its last token, so that the text goes on after it.
TEST_F(GeneratorTest, ConversationEndsItsStream) {
  Conversation conversation(*session);
  GenerateOptions options{.ignoreEnd = true, .feedLast = true};
  std::vector<int32_t> expected = greedy(5);
  ASSERT_TRUE(conversation.begin(tokenizer, prompt, options).ok());
  std::shared_ptr<const TokenStream> stream = conversation.stream();
  std::optional<TokenPiece> piece;
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(conversation.next(piece).ok());
  EXPECT_EQ(conversation.tokens().size(), 7u);
  options.maxTokens = 2;
  GenerateResult result;
  ASSERT_TRUE(
      conversation.generate(tokenizer, {}, options, nullptr, result).ok());
  EXPECT_EQ(stream->result().reason, FinishReason::Cancelled);
  std::vector<int32_t> all = prompt;
  all.insert(all.end(), expected.begin(), expected.end());
  EXPECT_EQ(std::vector<int32_t>(conversation.tokens().begin(),
                                 conversation.tokens().end()),
            all);
  ASSERT_TRUE(conversation.next(piece).ok());
  EXPECT_FALSE(piece);
  // Some of this model's state is more than rows by position.
  EXPECT_EQ(conversation.rewind(9).code, Code::Unsupported);
  EXPECT_EQ(conversation.tokens().size(), 10u);
  EXPECT_TRUE(conversation.rewind(0).ok());
  EXPECT_EQ(conversation.tokens().size(), 0u);
  // What cannot be drawn ends the stream.
  ASSERT_TRUE(conversation.reset().ok());
  ASSERT_TRUE(conversation.begin(tokenizer, {}, options).ok());
  EXPECT_EQ(conversation.next(piece).text, "no tokens were given");
  EXPECT_TRUE(conversation.stream()->isFinished());
  EXPECT_EQ(session->position(), 0);
}

// Memory that stays is what views of logits may look into.
TEST_F(GeneratorTest, LogitsStayOnTheCpu) {
  EXPECT_TRUE(session->keepsLogits());
  ASSERT_TRUE(session->feed(prompt).ok());
  const float *first = session->logits().data();
  EXPECT_TRUE(session->keepsLogits());
  ASSERT_TRUE(session->reset().ok());
  std::vector<int32_t> longer(30, 'a');
  ASSERT_TRUE(session->feed(longer).ok());
  EXPECT_EQ(session->logits().data(), first);
}

// A tokenizer with more tokens than the model would give ids beyond its tables.
TEST_F(GeneratorTest, Refusals) {
  GenerateResult result;
  EXPECT_EQ(generate(*session, tokenizer, {}, {}, nullptr, result).text,
            "no tokens were given");
  EXPECT_EQ(
      generate(*session, tokenizer, prompt, {.maxTokens = -1}, nullptr, result)
          .text,
      "the number of tokens cannot be negative");
  TinyModel silent;
  silent.writer.setTokenizer("");
  ASSERT_TRUE(Module::open(silent.write(folder.file("s.gist")), module).ok());
  EXPECT_EQ(loadTokenizer(*module, tokenizer).text,
            "the module has no tokenizer");
  TinyModel small;
  small.writer.spec.model.vocabSize = 260;
  // 260 would be refused before, as outside of the vocabulary.
  small.writer.spec.model.padToken = -1;
  ASSERT_TRUE(Module::open(small.write(folder.file("s.gist")), module).ok());
  EXPECT_EQ(loadTokenizer(*module, tokenizer).text,
            "the tokenizer has 261 tokens, but the model has 260");
}
