//===- StateFileTest.cpp - What a session has seen, in a file -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Conversation.h"
#include "runtime/support/AtomicFile.h"
#include "runtime/support/Hash.h"
#include "runtime/support/MappedFile.h"

#include "test/unit/TinyModel.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace gist;
using namespace gist::test;

using Tokens = std::vector<int32_t>;

/// Where a header has the number of tokens and the hash, and where it ends.
static constexpr size_t kTokensAt = 80, kHashAt = 88, kHeaderEnd = 96;

namespace {
class StateFile : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(openDevice("cpu", {.threads = 1}, device).ok());
    // Rows by position alone, as in modules without a plan.
    setCount(false);
    module = openModule(model);
    session = makeSession({.context = 40, .trust = true});
    ASSERT_TRUE(session->feed(seen).ok());
    path = folder.file("seen");
    Status status = session->saveState(path, seen);
    ASSERT_TRUE(status.ok()) << status.text;
  }

  void setCount(bool isCleared) {
    for (BufferSpec &buffer : model.writer.spec.buffers)
      if (buffer.name == "count") {
        buffer.zeroOnReset = isCleared;
        buffer.kind = isCleared ? BufferKind::State : buffer.kind;
      }
  }
  std::shared_ptr<const Module> openModule(TinyModel &from) {
    std::shared_ptr<const Module> opened;
    EXPECT_TRUE(Module::open(from.write(folder.file("m.gist")), opened).ok());
    return opened;
  }
  std::unique_ptr<Session> makeSession(const SessionOptions &options) {
    std::unique_ptr<Session> made;
    EXPECT_TRUE(Session::create(module, *device, options, made).ok());
    return made;
  }
  std::string read() {
    std::unique_ptr<MappedFile> file;
    EXPECT_TRUE(MappedFile::open(path, file).ok());
    return std::string(file->bytes().text());
  }
  /// What loading a file of this content says. The session has seen nothing
  /// after an error.
  Status load(const std::string &content, bool withHash = false) {
    std::string changed = content;
    if (withHash && content.size() >= kHeaderEnd) {
      uint64_t hash = hashBytes(
          {reinterpret_cast<const uint8_t *>(content.data()) + kHeaderEnd,
           content.size() - kHeaderEnd});
      std::memcpy(changed.data() + kHashAt, &hash, sizeof hash);
    }
    std::string file = folder.file("changed");
    EXPECT_TRUE(writeWhole(file, changed).ok());
    Tokens tokens;
    Status status = session->loadState(file, tokens);
    EXPECT_EQ(session->position(), status.ok() ? (int64_t)tokens.size() : 0);
    return status;
  }
  std::vector<float> logitsAfter(Session &of, int32_t token) {
    EXPECT_TRUE(of.feed({&token, 1}).ok());
    return {of.logits().begin(), of.logits().end()};
  }

  TemporaryFolder folder;
  TinyModel model;
  std::unique_ptr<Device> device;
  std::shared_ptr<const Module> module;
  std::unique_ptr<Session> session;
  Tokens seen = {5, 6, 7, 8, 9, 10, 11};
  std::string path;
};
} // namespace

// A session goes on from a file as if it had read the tokens, also one that can
// hold more or fewer.
TEST_F(StateFile, SessionsGoOn) {
  std::vector<float> expected = logitsAfter(*session, 3);
  for (int64_t context : {8, 40, 60}) {
    std::unique_ptr<Session> other =
        makeSession({.context = context, .trust = true});
    Tokens tokens;
    Status status = other->loadState(path, tokens);
    ASSERT_TRUE(status.ok()) << status.text;
    EXPECT_EQ(tokens, seen);
    EXPECT_EQ(other->position(), 7);
    EXPECT_EQ(logitsAfter(*other, 3), expected);
  }
}

TEST_F(StateFile, ConversationsForkAndGoOn) {
  ASSERT_TRUE(session->reset().ok());
  Conversation first(*session);
  ASSERT_TRUE(first.feed(seen).ok());
  std::unique_ptr<Session> other = makeSession({.context = 40, .trust = true});
  Conversation second(*other);
  ASSERT_TRUE(second.takeOver(first).ok());
  EXPECT_TRUE(std::equal(seen.begin(), seen.end(), second.tokens().begin(),
                         second.tokens().end()));
  // Both go on apart.
  ASSERT_TRUE(first.feed(Tokens{1}).ok());
  ASSERT_TRUE(second.feed(Tokens{2}).ok());
  Tokens whole = seen;
  whole.push_back(2);
  std::vector<float> expected = model.logitsAfter(whole);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(other->logits()[i], expected[i], 1e-4f);
  ASSERT_TRUE(second.save(path).ok());
  ASSERT_TRUE(first.load(path).ok());
  EXPECT_TRUE(std::equal(whole.begin(), whole.end(), first.tokens().begin(),
                         first.tokens().end()));
}

TEST_F(StateFile, RefusesFilesOfOthers) {
  EXPECT_EQ(load("").code, Code::BadFile);
  EXPECT_NE(load(std::string(200, 'x')).text.find("not a file of a session's"),
            std::string::npos);
  std::unique_ptr<Session> small = makeSession({.context = 6, .trust = true});
  Tokens tokens;
  Status status = small->loadState(path, tokens);
  EXPECT_NE(status.text.find("of 7 tokens, but the session can hold 6"),
            std::string::npos)
      << status.text;
  EXPECT_EQ(session->loadState(folder.file("none"), tokens).code,
            Code::NotFound);
  EXPECT_NE(session->saveState(path, Tokens{1}).text.find("were given"),
            std::string::npos);
  // Other weights of the same shape.
  TinyModel another(8);
  module = openModule(another);
  session = makeSession({.context = 40, .trust = true});
  EXPECT_NE(load(read()).text.find("of another module"), std::string::npos);
}

// Every file that was cut or has a bit changed is refused; with the hash made
// right, nothing outside the file and the state is read or written.
TEST_F(StateFile, HostileFilesAreRefused) {
  const std::string whole = read();
  ASSERT_TRUE(load(whole).ok());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(load(whole.substr(0, size)).ok()) << size;
    EXPECT_FALSE(load(whole.substr(0, size), true).ok()) << size;
  }
  EXPECT_FALSE(load(whole + "x").ok());
  EXPECT_FALSE(load(whole + "x", true).ok());
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x41);
    EXPECT_FALSE(load(changed).ok()) << i;
    // State is numbers, and any will do; tokens must be in the vocabulary.
    Status status = load(changed, true);
    size_t tokensEnd = kHeaderEnd + 4 * seen.size();
    if (i < kHashAt)
      EXPECT_FALSE(status.ok()) << i;
    else if (i >= tokensEnd)
      EXPECT_TRUE(status.ok()) << status.text;
  }
  for (int64_t tokens : {int64_t{-1}, int64_t{6}, int64_t{8}, int64_t{41},
                         INT64_MAX, INT64_MIN}) {
    std::string changed = whole;
    std::memcpy(changed.data() + kTokensAt, &tokens, sizeof tokens);
    EXPECT_FALSE(load(changed, true).ok()) << tokens;
  }
}

// A state that is more than rows by position steers kernels.
TEST_F(StateFile, PlansNeedTrust) {
  setCount(true);
  module = openModule(model);
  session = makeSession({.context = 40, .trust = true});
  ASSERT_TRUE(session->feed(seen).ok());
  ASSERT_TRUE(session->saveState(path, seen).ok());
  Tokens tokens;
  EXPECT_TRUE(session->loadState(path, tokens).ok());
  std::unique_ptr<Session> strict = makeSession({.context = 40});
  EXPECT_EQ(strict->loadState(path, tokens).code, Code::Untrusted);
}
