//===- CApiMemoryTest.cpp - The C interface when memory runs out ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program of its own, because it replaces operator new.
//
//===----------------------------------------------------------------------===//

#include "runtime/gist.h"

#include "test/unit/TinyModel.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

using namespace gist::test;

/// Allocations of this thread that still succeed; negative: all do.
/// Threads of the device are not starved.
static thread_local int64_t allocationsLeft = -1;

// The array and nothrow forms of the library call this one; aligned forms do
// not, and are not refused.
void *operator new(size_t size) {
  if (allocationsLeft == 0)
    throw std::bad_alloc();
  if (allocationsLeft > 0)
    --allocationsLeft;
  if (void *memory = std::malloc(size))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

/// Calls `function` with 0, 1, 2 ... allocations until it succeeds; later ones
/// are visited less densely. Returns how often it failed.
template <typename Function> static int runOutOfMemory(Function function) {
  int failures = 0;
  for (int64_t limit = 0;; limit += 1 + limit / 32) {
    allocationsLeft = limit;
    gist_code code = function();
    // Before the checks below, which allocate too.
    allocationsLeft = -1;
    if (code == GIST_OK)
      return failures;
    ++failures;
    EXPECT_EQ(code, GIST_OUT_OF_MEMORY) << gist_last_error();
    EXPECT_STREQ(gist_last_error(), "out of memory");
    if (testing::Test::HasFailure())
      return failures;
  }
}

// An exception that leaves a C function terminates the caller's program. The
// lower bounds on failures show that allocations were really refused.
TEST(CApiMemory, EveryCallFailsCleanly) {
  TemporaryFolder folder;
  std::string path = TinyModel().write(folder.file("m.gist"));
  gist_module *module = nullptr;
  EXPECT_GT(
      runOutOfMemory([&] { return gist_module_load(path.c_str(), &module); }),
      10);
  gist_session *session = nullptr;
  EXPECT_GT(runOutOfMemory(
                [&] { return gist_session_create(module, nullptr, &session); }),
            5);
  ASSERT_NE(session, nullptr);
  int32_t tokens[64];
  EXPECT_GT(runOutOfMemory([&] {
              size_t count = 64;
              return gist_tokenize(module, "some text", 9, 1, tokens, &count);
            }),
            0);
  gist_message message{"user", "a question that is not short"};
  EXPECT_GT(runOutOfMemory([&] {
              size_t count = 64;
              return gist_chat_tokens(module, &message, 1, 1, tokens, &count);
            }),
            10);
  // A chat mends a session that a failure left in the middle.
  // Few tokens: each is run once for every allocation.
  gist_generate_options options{};
  options.max_tokens = 3;
  EXPECT_GT(runOutOfMemory([&] {
              return gist_session_chat(session, &message, 1, &options, nullptr,
                                       nullptr, nullptr);
            }),
            10);
  EXPECT_GT(runOutOfMemory([&] {
              // The reset is not under test here.
              int64_t left = allocationsLeft;
              allocationsLeft = -1;
              EXPECT_EQ(gist_session_reset(session), GIST_OK);
              allocationsLeft = left;
              return gist_session_generate(session, "some text", 9, &options,
                                           nullptr, nullptr, nullptr);
            }),
            0);
  gist_session_free(session);
  gist_module_free(module);
}
