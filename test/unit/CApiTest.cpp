//===- CApiTest.cpp - The C interface -------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/gist.h"

#include "runtime/module/Properties.h"
#include "runtime/session/Generator.h"
#include "test/unit/TinyModel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

using namespace gist::test;

// From a file that a C compiler has read: the header is plain C.
extern "C" gist_code gistHeaderLoad(const char *path, int64_t *vocabSize);

namespace {
/// What a callback got.
struct Received {
  std::vector<int32_t> tokens; ///< without those that only bring text
  std::string text;
  int calls = 0, stopAfter = 0;
};
} // namespace

/// As a program in C would write it; the token is -1 where only text comes.
static int receive(int32_t token, const char *text, size_t size, void *data) {
  auto *to = static_cast<Received *>(data);
  if (token >= 0)
    to->tokens.push_back(token);
  to->text.append(text, size);
  return ++to->calls == to->stopAfter ? 1 : 0;
}

namespace {
/// Goes through the C interface alone; C++ is only for what is expected.
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

// A prompt in chunks of seven, against the reference.
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
  // A value that must be overwritten.
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

// A buffer that is too small is told its size, so that the caller can ask
// again.
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
  EXPECT_STREQ(gist_last_error(),
               "the buffer has room for 2 values, but 3 are needed");
}

TEST_F(CApi, ChangesOfLogits) {
  ASSERT_EQ(gist_session_create(module, nullptr, &session), GIST_OK);
  auto write = [&](const gist_generate_options &options) {
    Received received;
    EXPECT_EQ(gist_session_reset(session), GIST_OK);
    EXPECT_EQ(gist_session_generate(session, "hello", 5, &options, receive,
                                    &received, nullptr),
              GIST_OK)
        << gist_last_error();
    return received.tokens;
  };
  const gist_logit_bias bias = {90, 100};
  const int32_t stop = 90;
  gist_generate_options options{};
  options.max_tokens = 4;
  options.logit_bias = &bias;
  options.logit_bias_count = 1;
  EXPECT_EQ(write(options), std::vector<int32_t>(4, 90));
  gist_generate_options penalised = options;
  penalised.frequency_penalty = 200;
  std::vector<int32_t> tokens = write(penalised);
  EXPECT_EQ(std::count(tokens.begin(), tokens.end(), 90), 1);
  options.stop_tokens = &stop;
  options.stop_token_count = 1;
  EXPECT_EQ(write(options), std::vector<int32_t>(1, 90));
  options.min_tokens = 2;
  tokens = write(options);
  ASSERT_EQ(tokens.size(), 3u);
  EXPECT_NE(tokens[1], 90);
  EXPECT_EQ(tokens[2], 90);
}

// Drafts change nothing in a text.
TEST_F(CApi, Drafts) {
  for (gist::BufferSpec &buffer : model.writer.spec.buffers)
    buffer.zeroOnReset = false;
  gist_module_free(module);
  module = nullptr;
  ASSERT_EQ(
      gist_module_load(model.write(folder.file("r.gist")).c_str(), &module),
      GIST_OK);
  ASSERT_EQ(gist_session_create(module, nullptr, &session), GIST_OK);
  auto write = [&] {
    gist_generate_options options{};
    options.max_tokens = 25;
    options.ignore_end = 1;
    Received received;
    EXPECT_EQ(gist_session_reset(session), GIST_OK);
    EXPECT_EQ(gist_session_generate(session, "hello", 5, &options, receive,
                                    &received, nullptr),
              GIST_OK)
        << gist_last_error();
    return received.tokens;
  };
  std::vector<int32_t> plain = write();
  ASSERT_EQ(plain.size(), 25u);
  ASSERT_EQ(gist_session_draft_by_lookup(session), GIST_OK);
  EXPECT_EQ(write(), plain);
  ASSERT_EQ(gist_session_draft_by_module(session, module), GIST_OK);
  EXPECT_EQ(write(), plain);
  ASSERT_EQ(gist_session_draft_by_module(session, nullptr), GIST_OK);
  EXPECT_EQ(write(), plain);
}

// A session computes with the adapter that it was given, as do its forks and
// files.
TEST_F(CApi, Adapters) {
  ASSERT_EQ(gist_session_create(module, nullptr, &session), GIST_OK);
  EXPECT_EQ(gist_session_set_adapter(session, "red"), GIST_NOT_FOUND);
  EXPECT_STREQ(gist_last_error(), "the module has no adapter 'red'; it has "
                                  "none ('gist-compile --adapter')");
  EXPECT_EQ(gist_session_set_adapter(session, nullptr), GIST_OK);
  EXPECT_EQ(gist_session_set_adapter(nullptr, "red"), GIST_BAD_ARGUMENT);
  EXPECT_STREQ(gist_last_error(), "'session' is a null pointer");
  gist_session_free(session);
  session = nullptr;
  gist_module_free(module);
  module = nullptr;
  model.writer.spec.model.properties[gist::kAdaptersProperty] = "red blue";
  std::string path = model.write(folder.file("a.gist"));
  ASSERT_EQ(gist_module_load(path.c_str(), &module), GIST_OK);
  ASSERT_EQ(gist_module_trust(module), GIST_OK);
  ASSERT_EQ(gist_session_create(module, nullptr, &session), GIST_OK);

  const int32_t tokens[] = {5, 90, 7}, last = 8;
  auto expectLogits = [&](gist_session *of, std::vector<int32_t> rows) {
    size_t count = 0;
    const float *logits = gist_session_logits(of, &count);
    expectNear(logits, count, model.logitsAfter(rows));
  };
  const std::pair<const char *, int> adapters[] = {
      {"blue", 2}, {nullptr, 0}, {"red", 1}};
  for (auto [name, number] : adapters) {
    ASSERT_EQ(gist_session_set_adapter(session, name), GIST_OK);
    EXPECT_EQ(gist_session_position(session), 0);
    ASSERT_EQ(gist_session_feed(session, tokens, 3), GIST_OK);
    expectLogits(session, {5 + number, 90 + number, 7 + number});
  }
  gist_session *fork = nullptr;
  std::string file = folder.file("seen");
  ASSERT_EQ(gist_session_fork(session, &fork), GIST_OK) << gist_last_error();
  ASSERT_EQ(gist_session_save(session, file.c_str()), GIST_OK);
  ASSERT_EQ(gist_session_feed(fork, &last, 1), GIST_OK);
  expectLogits(fork, {6, 91, 8, 9});
  EXPECT_EQ(gist_session_set_adapter(fork, nullptr), GIST_OK);
  ASSERT_EQ(gist_session_load(fork, file.c_str()), GIST_OK)
      << gist_last_error();
  ASSERT_EQ(gist_session_feed(fork, &last, 1), GIST_OK);
  expectLogits(fork, {6, 91, 8, 9});
  gist_session_free(fork);
  EXPECT_EQ(gist_session_set_adapter(session, "green"), GIST_NOT_FOUND);
  EXPECT_STREQ(gist_last_error(),
               "the module has no adapter 'green'; it has red, blue");
}

// A fork and a file go on where a session was.
TEST_F(CApi, ForkAndFiles) {
  ASSERT_EQ(gist_module_trust(module), GIST_OK);
  ASSERT_EQ(gist_session_create(module, nullptr, &session), GIST_OK);
  const int32_t tokens[] = {5, 6, 7}, last = 8;
  ASSERT_EQ(gist_session_feed(session, tokens, 3), GIST_OK);
  gist_session *fork = nullptr;
  ASSERT_EQ(gist_session_fork(session, &fork), GIST_OK) << gist_last_error();
  std::string path = folder.file("seen");
  ASSERT_EQ(gist_session_save(session, path.c_str()), GIST_OK);
  EXPECT_EQ(gist_session_position(fork), 3);
  auto logitsAfterLast = [&](gist_session *of) {
    EXPECT_EQ(gist_session_feed(of, &last, 1), GIST_OK);
    size_t count = 0;
    const float *logits = gist_session_logits(of, &count);
    return std::vector<float>(logits, logits + count);
  };
  std::vector<float> expected = logitsAfterLast(session);
  EXPECT_EQ(logitsAfterLast(fork), expected);
  ASSERT_EQ(gist_session_load(fork, path.c_str()), GIST_OK)
      << gist_last_error();
  EXPECT_EQ(gist_session_position(fork), 3);
  EXPECT_EQ(logitsAfterLast(fork), expected);
  EXPECT_EQ(gist_session_load(fork, "/nowhere"), GIST_NOT_FOUND);
  EXPECT_EQ(gist_session_position(fork), 0);
  EXPECT_EQ(gist_session_save(fork, nullptr), GIST_BAD_ARGUMENT);
  EXPECT_EQ(gist_session_load(nullptr, path.c_str()), GIST_BAD_ARGUMENT);
  EXPECT_EQ(gist_session_fork(session, nullptr), GIST_BAD_ARGUMENT);
  gist_session_free(fork);
}

// The callback can stop, and the result says that it did.
TEST_F(CApi, EmbedAndGenerate) {
  ASSERT_EQ(gist_session_create(module, nullptr, &session), GIST_OK);
  std::vector<int32_t> tokens = {1, 2, 3};
  float values[TinyModel::kWidth];
  size_t count = TinyModel::kWidth;
  ASSERT_EQ(gist_session_embed(session, tokens.data(), 3, values, &count),
            GIST_OK);
  expectNear(values, count, model.embedding(tokens));

  Received received;
  received.stopAfter = 4;
  gist_generate_options options{};
  options.max_tokens = 20;
  gist_generate_result result{};
  ASSERT_EQ(gist_session_generate(session, "hello", 5, &options, receive,
                                  &received, &result),
            GIST_OK)
      << gist_last_error();
  EXPECT_EQ(received.calls, 4);
  EXPECT_FALSE(received.text.empty());
  EXPECT_EQ(result.finish, GIST_FINISH_CANCELLED);
  EXPECT_EQ(result.prompt_tokens, 5u);
  EXPECT_EQ(result.tokens, 4u);
}

TEST_F(CApi, GrammarsAndSchemas) {
  ASSERT_EQ(gist_session_create(module, nullptr, &session), GIST_OK);
  gist_generate_options options{};
  options.max_tokens = 30;
  options.temperature = 1;
  auto write = [&] {
    Received received;
    ++options.seed;
    EXPECT_EQ(gist_session_reset(session), GIST_OK);
    EXPECT_EQ(gist_session_generate(session, "hello", 5, &options, receive,
                                    &received, nullptr),
              GIST_OK)
        << gist_last_error();
    return received.text;
  };
  ASSERT_EQ(gist_session_set_grammar(session, "root ::= \"ab\"{3}"), GIST_OK);
  EXPECT_EQ(write(), "ababab");
  ASSERT_EQ(gist_session_set_schema(session, R"({"const": [1, "a"]})"),
            GIST_OK);
  std::string text = write();
  std::erase_if(text,
                [](char c) { return c == ' ' || c == '\n' || c == '\t'; });
  EXPECT_EQ(text, R"([1,"a"])");
  // An error leaves it as it was.
  EXPECT_EQ(gist_session_set_grammar(session, "root ="), GIST_BAD_ARGUMENT);
  EXPECT_STREQ(gist_last_error(), "line 1, column 6: expected 'name ::='");
  EXPECT_EQ(write().substr(0, 1), "[");
  ASSERT_EQ(gist_session_set_schema(session, nullptr), GIST_OK);
  EXPECT_NE(write().substr(0, 1), "[");
  EXPECT_EQ(gist_session_set_schema(nullptr, "{}"), GIST_BAD_ARGUMENT);
}

// Three turns in C: what the reference says of everything before each token,
// and what the C++ generator says of the same turns.
TEST_F(CApi, TurnsContinue) {
  gist_session_options sessionOptions{"cpu", 2, 200, 0, nullptr, 0};
  ASSERT_EQ(gist_session_create(module, &sessionOptions, &session), GIST_OK);
  std::unique_ptr<gist::Device> device;
  std::shared_ptr<const gist::Module> opened;
  std::unique_ptr<gist::Session> other;
  gist::Tokenizer tokenizer;
  ASSERT_TRUE(gist::openDevice("cpu", {.threads = 2}, device).ok());
  ASSERT_TRUE(gist::Module::open(folder.file("m.gist"), opened).ok());
  ASSERT_TRUE(gist::loadTokenizer(*opened, tokenizer).ok());
  ASSERT_TRUE(
      gist::Session::create(opened, *device, {.context = 200}, other).ok());

  std::vector<int32_t> all;
  int32_t last = -1;
  // The last turn has no prompt: it goes on after the second.
  for (std::string prompt : {"hello", " and you?", ""}) {
    gist_generate_options options{};
    options.max_tokens = 9;
    options.ignore_end = 1;
    Received received;
    gist_generate_result result{};
    ASSERT_EQ(gist_session_generate(session, prompt.data(), prompt.size(),
                                    &options, receive, &received, &result),
              GIST_OK)
        << gist_last_error();
    ASSERT_EQ(received.tokens.size(), 9u);
    EXPECT_EQ(result.tokens, 9u);
    EXPECT_EQ(result.finish, GIST_FINISH_MAX_TOKENS);
    EXPECT_EQ(result.prompt_tokens, prompt.size());

    // The tiny model's tokens are bytes.
    std::vector<int32_t> given;
    if (last >= 0)
      given.push_back(last);
    given.insert(given.end(), prompt.begin(), prompt.end());
    gist::GenerateResult expected;
    ASSERT_TRUE(gist::generate(*other, tokenizer, given,
                               {.maxTokens = 9, .ignoreEnd = true}, nullptr,
                               expected)
                    .ok());
    EXPECT_EQ(received.tokens, expected.tokens);
    last = expected.tokens.back();

    all.insert(all.end(), prompt.begin(), prompt.end());
    for (int32_t token : received.tokens) {
      std::vector<float> logits = model.logitsAfter(all);
      EXPECT_EQ(token, std::max_element(logits.begin(), logits.end()) -
                           logits.begin());
      all.push_back(token);
    }
    // Everything that was said has been fed.
    EXPECT_EQ(gist_session_position(session), static_cast<int64_t>(all.size()));
    size_t count = 0;
    const float *logits = gist_session_logits(session, &count);
    expectNear(logits, count, model.logitsAfter(all));
  }
}

// What is streamed is what the tokens mean together: characters may be split
// between them.
TEST_F(CApi, TokensAndTheirText) {
  gist_session_options sessionOptions{"cpu", 1, 200, 0, nullptr, 0};
  ASSERT_EQ(gist_session_create(module, &sessionOptions, &session), GIST_OK);
  gist_generate_options options{};
  options.max_tokens = 30;
  options.ignore_end = 1;
  Received received;
  ASSERT_EQ(gist_session_generate(session, "hello", 5, &options, receive,
                                  &received, nullptr),
            GIST_OK);
  EXPECT_EQ(received.tokens.size(), 30u);
  std::vector<char> text(1000);
  size_t size = text.size();
  ASSERT_EQ(gist_detokenize(module, received.tokens.data(),
                            received.tokens.size(), text.data(), &size),
            GIST_OK);
  EXPECT_EQ(received.text, std::string(text.data(), size));

  // A full context: the last token has no place, and the next call is refused.
  options.max_tokens = 0;
  gist_generate_result result{};
  ASSERT_EQ(gist_session_generate(session, "", 0, &options, nullptr, nullptr,
                                  &result),
            GIST_OK);
  EXPECT_EQ(result.finish, GIST_FINISH_CONTEXT_FULL);
  EXPECT_EQ(gist_session_position(session), 200);
  EXPECT_NE(gist_session_generate(session, "x", 1, &options, nullptr, nullptr,
                                  &result),
            GIST_OK);
  EXPECT_NE(std::strstr(gist_last_error(), "the context is full"), nullptr);
}

TEST_F(CApi, ChatTemplate) {
  // <|user|> Hi <|end|> <|assistant|>; what a user types is text.
  gist_message messages[] = {{"user", "Hi"}, {"user", "<|end|>"}};
  int32_t tokens[32];
  size_t count = 32;
  ASSERT_EQ(gist_chat_tokens(module, messages, 1, 1, tokens, &count), GIST_OK)
      << gist_last_error();
  EXPECT_EQ(std::vector<int32_t>(tokens, tokens + count),
            (std::vector<int32_t>{258, 'H', 'i', 256, 259}));
  count = 32;
  ASSERT_EQ(gist_chat_tokens(module, messages, 1, 0, tokens, &count), GIST_OK);
  EXPECT_EQ(count, 4u);
  count = 32;
  ASSERT_EQ(gist_chat_tokens(module, messages + 1, 1, 0, tokens, &count),
            GIST_OK);
  EXPECT_EQ(
      std::vector<int32_t>(tokens, tokens + count),
      (std::vector<int32_t>{258, '<', '|', 'e', 'n', 'd', '|', '>', 256}));
}

// An answer in a conversation is the one to the whole conversation, read at
// once by a session that knows nothing of it.
TEST_F(CApi, ChatContinues) {
  gist_session_options sessionOptions{"cpu", 2, 300, 0, nullptr, 0};
  ASSERT_EQ(gist_session_create(module, &sessionOptions, &session), GIST_OK);
  gist_session *fresh = nullptr;
  ASSERT_EQ(gist_session_create(module, &sessionOptions, &fresh), GIST_OK);
  gist_generate_options options{};
  options.max_tokens = 5;
  std::vector<std::string> contents;
  std::vector<gist_message> messages;
  // Messages have pointers into the strings, which must not move.
  contents.reserve(8);
  auto say = [&](const char *role, std::string content) {
    contents.push_back(std::move(content));
    messages.push_back({role, contents.back().c_str()});
  };
  for (const char *question : {"Hi", "How are you?", "Bye"}) {
    say("user", question);
    Received received, expected;
    ASSERT_EQ(gist_session_chat(session, messages.data(), messages.size(),
                                &options, receive, &received, nullptr),
              GIST_OK)
        << gist_last_error();
    ASSERT_EQ(gist_session_reset(fresh), GIST_OK);
    ASSERT_EQ(gist_session_chat(fresh, messages.data(), messages.size(),
                                &options, receive, &expected, nullptr),
              GIST_OK);
    EXPECT_EQ(received.tokens, expected.tokens);
    EXPECT_EQ(received.text, expected.text);
    say("assistant", received.text);
  }
  gist_session_free(fresh);
}

// What was read is not read again, where the answer is text that gives the
// same tokens again: one ASCII character here.
TEST_F(CApi, ChatReadsWhatIsNew) {
  gist_session_options sessionOptions{"cpu", 2, 300, 0, nullptr, 0};
  ASSERT_EQ(gist_session_create(module, &sessionOptions, &session), GIST_OK);
  gist_generate_options options{};
  options.max_tokens = 1;
  bool found = false;
  // Which question is answered by such a character depends on the weights.
  for (char letter = 'a'; letter <= 'z' && !found; ++letter) {
    std::string question(1, letter);
    gist_message messages[] = {
        {"user", question.c_str()}, {"assistant", ""}, {"user", "next"}};
    Received received;
    ASSERT_EQ(gist_session_reset(session), GIST_OK);
    gist_generate_result result{};
    ASSERT_EQ(gist_session_chat(session, messages, 1, &options, receive,
                                &received, &result),
              GIST_OK);
    // <|user|> letter <|end|> <|assistant|>
    EXPECT_EQ(result.prompt_tokens, 4u);
    found = received.tokens[0] >= ' ' && received.tokens[0] < 127;
    if (!found)
      continue;
    messages[1].content = received.text.c_str();
    ASSERT_EQ(gist_session_chat(session, messages, 3, &options, nullptr,
                                nullptr, &result),
              GIST_OK);
    // <|end|> <|user|> n e x t <|end|> <|assistant|>
    EXPECT_EQ(result.prompt_tokens, 8u);
  }
  EXPECT_TRUE(found);
}

// A program may check the library it was started with.
TEST_F(CApi, Versions) {
  EXPECT_EQ(gist_abi_version(), GIST_ABI_VERSION);
  int major = -1, minor = -1, patch = -1;
  EXPECT_EQ(std::sscanf(gist_version(), "%d.%d.%d", &major, &minor, &patch), 3);
}

// Errors of C are a code and a sentence that stays until the next call.
TEST_F(CApi, Errors) {
  gist_module *none = nullptr;
  EXPECT_EQ(gist_module_load("/nowhere.gist", &none), GIST_NOT_FOUND);
  EXPECT_STREQ(gist_last_error(),
               "/nowhere.gist: cannot open: No such file or directory");
  EXPECT_EQ(none, nullptr);
  writeFile(folder.file("bad.gist"), "no module");
  EXPECT_EQ(gist_module_load(folder.file("bad.gist").c_str(), &none),
            GIST_BAD_FILE);
  // A driver that cannot be opened, on machines with a card as well.
  gist_session_options options{"cuda", 0, 0, 0, "/nowhere.so", 0};
  EXPECT_EQ(gist_session_create(module, &options, &session), GIST_NOT_FOUND);
  EXPECT_EQ(session, nullptr);
  ASSERT_EQ(gist_session_create(module, nullptr, &session), GIST_OK);
  EXPECT_EQ(gist_session_feed(session, nullptr, 0), GIST_BAD_ARGUMENT);
  EXPECT_STREQ(gist_last_error(), "no tokens were given");
  gist_session_free(nullptr);
  gist_module_free(nullptr);
}

/// Expects a bad argument and this sentence.
static void expectBad(gist_code code, const char *sentence) {
  EXPECT_EQ(code, GIST_BAD_ARGUMENT);
  EXPECT_STREQ(gist_last_error(), sentence);
}

// Every pointer of every function, one after the other.
TEST_F(CApi, NullPointers) {
  ASSERT_EQ(gist_session_create(module, nullptr, &session), GIST_OK);
  gist_module *loaded = nullptr;
  gist_session *created = nullptr;
  int32_t token = 1;
  size_t count = 1;
  char letter = 'a';
  float value = 0;
  gist_message message{"user", "Hi"};
  const char *moduleIsNull = "'module' is a null pointer";
  const char *sessionIsNull = "'session' is a null pointer";
  const char *countIsNull = "'count' is a null pointer";
  expectBad(gist_module_load(nullptr, &loaded), "'path' is a null pointer");
  expectBad(gist_module_load("x", nullptr), "'result' is a null pointer");
  EXPECT_EQ(gist_module_vocab_size(nullptr), -1);
  EXPECT_EQ(gist_module_architecture(nullptr), nullptr);
  expectBad(gist_tokenize(nullptr, "a", 1, 0, &token, &count), moduleIsNull);
  expectBad(gist_tokenize(module, nullptr, 1, 0, &token, &count),
            "'text' is a null pointer, but its size is 1");
  expectBad(gist_tokenize(module, "a", 1, 0, nullptr, &count),
            "'tokens' is a null pointer, but its size is 1");
  expectBad(gist_tokenize(module, "a", 1, 0, &token, nullptr), countIsNull);
  expectBad(gist_detokenize(nullptr, &token, 1, &letter, &count), moduleIsNull);
  expectBad(gist_detokenize(module, nullptr, 1, &letter, &count),
            "'tokens' is a null pointer, but its size is 1");
  expectBad(gist_detokenize(module, &token, 1, nullptr, &count),
            "'text' is a null pointer, but its size is 1");
  expectBad(gist_detokenize(module, &token, 1, &letter, nullptr),
            "'size' is a null pointer");
  expectBad(gist_chat_tokens(nullptr, &message, 1, 1, &token, &count),
            moduleIsNull);
  expectBad(gist_chat_tokens(module, nullptr, 1, 1, &token, &count),
            "'messages' is a null pointer, but its size is 1");
  expectBad(gist_chat_tokens(module, &message, 1, 1, &token, nullptr),
            countIsNull);
  expectBad(gist_session_create(nullptr, nullptr, &created), moduleIsNull);
  expectBad(gist_session_create(module, nullptr, nullptr),
            "'result' is a null pointer");
  expectBad(gist_session_feed(nullptr, &token, 1), sessionIsNull);
  expectBad(gist_session_feed(session, nullptr, 1),
            "'tokens' is a null pointer, but its size is 1");
  EXPECT_EQ(gist_session_logits(nullptr, &count), nullptr);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(gist_session_logits(session, nullptr), nullptr);
  expectBad(gist_session_reset(nullptr), sessionIsNull);
  EXPECT_EQ(gist_session_position(nullptr), -1);
  EXPECT_EQ(gist_session_capacity(nullptr), -1);
  count = 1;
  expectBad(gist_session_embed(nullptr, &token, 1, &value, &count),
            sessionIsNull);
  expectBad(gist_session_embed(session, nullptr, 1, &value, &count),
            "'tokens' is a null pointer, but its size is 1");
  expectBad(gist_session_embed(session, &token, 1, nullptr, &count),
            "'values' is a null pointer, but its size is 1");
  expectBad(gist_session_embed(session, &token, 1, &value, nullptr),
            countIsNull);
  expectBad(gist_session_generate(nullptr, "a", 1, nullptr, nullptr, nullptr,
                                  nullptr),
            sessionIsNull);
  expectBad(gist_session_generate(session, nullptr, 1, nullptr, nullptr,
                                  nullptr, nullptr),
            "'prompt' is a null pointer, but its size is 1");
  expectBad(gist_session_chat(nullptr, &message, 1, nullptr, nullptr, nullptr,
                              nullptr),
            sessionIsNull);
  expectBad(gist_session_chat(session, nullptr, 1, nullptr, nullptr, nullptr,
                              nullptr),
            "'messages' is a null pointer, but its size is 1");
  message.role = nullptr;
  expectBad(gist_session_chat(session, &message, 1, nullptr, nullptr, nullptr,
                              nullptr),
            "'role' of message 0 is a null pointer");
  message = {"user", nullptr};
  expectBad(gist_session_chat(session, &message, 1, nullptr, nullptr, nullptr,
                              nullptr),
            "'content' of message 0 is a null pointer");
}

// Sizes that were negative before a conversion, and counts without a list.
TEST_F(CApi, BadValues) {
  ASSERT_EQ(gist_session_create(module, nullptr, &session), GIST_OK);
  int32_t tokens[2] = {1, -7};
  size_t count = SIZE_MAX;
  auto negative = static_cast<size_t>(-3);
  std::string large = std::to_string(negative);
  expectBad(
      gist_session_feed(session, tokens, negative),
      ("'tokens' has a size of " + large + ", which is not possible").c_str());
  expectBad(
      gist_tokenize(module, "a", negative, 0, tokens, &count),
      ("'text' has a size of " + large + ", which is not possible").c_str());
  expectBad(gist_session_feed(session, tokens, 2),
            "token -7 is outside a vocabulary of 261");
  expectBad(gist_session_chat(session, nullptr, 0, nullptr, nullptr, nullptr,
                              nullptr),
            "the conversation is empty");
  gist_generate_options options{};
  options.stop_count = 1;
  expectBad(gist_session_generate(session, "a", 1, &options, nullptr, nullptr,
                                  nullptr),
            "'stops' is a null pointer, but its size is 1");
  const char *stops[] = {"a", nullptr};
  options.stops = stops;
  options.stop_count = 2;
  expectBad(gist_session_generate(session, "a", 1, &options, nullptr, nullptr,
                                  nullptr),
            "'stops[1]' is a null pointer");
  options = {};
  options.logit_bias_count = 1;
  expectBad(gist_session_generate(session, "a", 1, &options, nullptr, nullptr,
                                  nullptr),
            "'logit_bias' is a null pointer, but its size is 1");
  options = {};
  options.stop_token_count = 2;
  expectBad(gist_session_generate(session, "a", 1, &options, nullptr, nullptr,
                                  nullptr),
            "'stop_tokens' is a null pointer, but its size is 2");
  options = {};
  options.min_tokens = -1;
  expectBad(gist_session_generate(session, "a", 1, &options, nullptr, nullptr,
                                  nullptr),
            "an answer cannot have at least -1 tokens; expected 0 or more");
  EXPECT_EQ(gist_session_draft_by_lookup(session), GIST_UNSUPPORTED);
  EXPECT_EQ(std::string(gist_last_error()),
            "drafts: state 'count' cannot go back to an earlier token");
  expectBad(gist_session_draft_by_lookup(nullptr),
            "'session' is a null pointer");
  expectBad(gist_session_draft_by_module(nullptr, module),
            "'session' is a null pointer");
  EXPECT_EQ(gist_session_draft_by_module(session, nullptr), GIST_OK);
  options = {};
  options.max_tokens = -1;
  expectBad(gist_session_generate(session, "a", 1, &options, nullptr, nullptr,
                                  nullptr),
            "the number of tokens cannot be negative");
  gist_session *none = nullptr;
  gist_session_options wrong{"cpu", 4000000000u, 0, 0, nullptr, 0};
  expectBad(gist_session_create(module, &wrong, &none),
            "4000000000 threads were asked for; at most 1024 are allowed");
  wrong = {"cpu", 1, -1, 0, nullptr, 0};
  EXPECT_NE(gist_session_create(module, &wrong, &none), GIST_OK);
  wrong = {"cpu", 1, 0, -1, nullptr, 0};
  EXPECT_NE(gist_session_create(module, &wrong, &none), GIST_OK);
  EXPECT_EQ(none, nullptr);
}

// An exception must not leave a function of C, even one of a callback.
TEST_F(CApi, CallbackThrows) {
  ASSERT_EQ(gist_session_create(module, nullptr, &session), GIST_OK);
  auto throwing = [](int32_t, const char *, size_t, void *) -> int { throw 1; };
  EXPECT_EQ(gist_session_generate(session, "a", 1, nullptr, throwing, nullptr,
                                  nullptr),
            GIST_UNSUPPORTED);
  EXPECT_STREQ(gist_last_error(), "an exception was thrown");
  // The session cannot know what it has seen, and says so.
  expectBad(gist_session_feed(session, nullptr, 0),
            "an earlier call was broken off; reset the session");
  ASSERT_EQ(gist_session_reset(session), GIST_OK);
  EXPECT_EQ(gist_session_generate(session, "a", 1, nullptr, nullptr, nullptr,
                                  nullptr),
            GIST_OK);
}

TEST_F(CApi, FromC) {
  int64_t vocabSize = 0;
  EXPECT_EQ(gistHeaderLoad(folder.file("m.gist").c_str(), &vocabSize), GIST_OK);
  EXPECT_EQ(vocabSize, TinyModel::kVocab);
}
