//===- StateStoreTest.cpp - States apart from sequences -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/StateStore.h"

#include "test/unit/TinyModel.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>

using namespace gist;
using namespace gist::test;

namespace {
/// Rows of 36 bytes: 1,024 of them are nine whole pages.
constexpr int64_t kChunk = 1024, kCapacity = 4 * kChunk;
constexpr uint64_t kRow = 4 * TinyModel::kWidth;

class StateStoreTest : public ::testing::Test {
protected:
  void SetUp() override {
    model.write(folder.file("tiny.gist"));
    ASSERT_TRUE(Module::open(folder.file("tiny.gist"), module).ok());
    ASSERT_TRUE(openDevice("cpu", {.threads = 1}, device).ok());
    const EntrySpec *entry = module->findEntry(kEntryScore, 0);
    ASSERT_TRUE(entry && StateLayout::create(*module, *entry, layout).ok());
    ASSERT_TRUE(store.open(layout, *device, kChunk, kCapacity).ok());
    ASSERT_TRUE(store.shares());
    ASSERT_EQ(store.capacityStep(), kChunk);
  }
  std::unique_ptr<SequenceState> make(int64_t capacity) {
    std::unique_ptr<SequenceState> state;
    Status status = SequenceState::create(layout, *device, capacity, state);
    EXPECT_TRUE(status.ok()) << status.text;
    return state;
  }
  /// The rows of tokens, in the only buffer that there is.
  static char *rowsOf(const SequenceState &state, int64_t token) {
    for (const MemoryMap::Range &range : state.ranges())
      if (range.size != 0)
        return reinterpret_cast<char *>(range.address) + token * kRow;
    return nullptr;
  }
  static void fill(SequenceState &state, int64_t begin, int64_t end, int seed) {
    char *rows = rowsOf(state, begin);
    for (uint64_t i = 0; i < (end - begin) * kRow; ++i)
      rows[i] = static_cast<char>((i * 31 + seed) % 251);
  }
  static bool isFilled(const SequenceState &state, int64_t begin, int64_t end,
                       int seed) {
    const char *rows = rowsOf(state, begin);
    for (uint64_t i = 0; i < (end - begin) * kRow; ++i)
      if (rows[i] != static_cast<char>((i * 31 + seed) % 251))
        return false;
    return true;
  }
  std::shared_ptr<KeptState> keep(SequenceState &state, int64_t begin,
                                  KeptState *before) {
    std::shared_ptr<KeptState> kept;
    Status status = store.keep(state, begin, begin + kChunk, before, kept);
    EXPECT_TRUE(status.ok()) << status.text;
    return kept;
  }
  /// Pages of this process that are in memory, those of several places once.
  static uint64_t memoryOfProcess() {
    uint64_t kib = 0;
    FILE *file = std::fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    while (file && std::fgets(line, sizeof line, file))
      if (unsigned long value = 0; std::sscanf(line, "Pss: %lu", &value) == 1)
        kib = value;
    if (file)
      std::fclose(file);
    return kib << 10;
  }

  /// Pages that the store's file in memory has.
  static uint64_t memoryOfStore() {
    for (const auto &entry :
         std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code error;
      std::string name = std::filesystem::read_symlink(entry, error).string();
      struct stat info = {};
      if (name.find("memfd:gist-state") != std::string::npos &&
          ::stat(entry.path().c_str(), &info) == 0)
        return static_cast<uint64_t>(info.st_blocks) * 512;
    }
    return UINT64_MAX;
  }

  TemporaryFolder folder;
  TinyModel model;
  std::shared_ptr<const Module> module;
  std::unique_ptr<Device> device;
  StateLayout layout;
  StateStore store;
};
} // namespace

TEST_F(StateStoreTest, SequencesShowWhatOneHadKept) {
  auto first = make(kCapacity), second = make(2 * kChunk);
  uint64_t whole = first->bytes();
  fill(*first, 0, kChunk, 1);
  fill(*first, kChunk, 2 * kChunk, 2);
  fill(*first, 2 * kChunk, kCapacity, 3);
  std::vector<std::shared_ptr<KeptState>> kept = {keep(*first, 0, nullptr)};
  kept.push_back(keep(*first, kChunk, kept[0].get()));
  EXPECT_EQ(kept[0]->bytes(), kChunk * kRow);
  EXPECT_EQ(first->bytes(), whole - 2 * kChunk * kRow);
  EXPECT_TRUE(isFilled(*first, 0, kChunk, 1));
  EXPECT_TRUE(isFilled(*first, 2 * kChunk, kCapacity, 3));
  ASSERT_TRUE(store.take(*second, kept).ok());
  EXPECT_EQ(second->bytes(), 0u);
  EXPECT_TRUE(isFilled(*second, 0, kChunk, 1));
  EXPECT_TRUE(isFilled(*second, kChunk, 2 * kChunk, 2));
  // What one of them writes is its own.
  fill(*second, 0, kChunk, 4);
  EXPECT_TRUE(isFilled(*first, 0, kChunk, 1));
  first.reset();
  kept.clear();
  EXPECT_TRUE(isFilled(*second, 0, kChunk, 4));
  EXPECT_TRUE(isFilled(*second, kChunk, 2 * kChunk, 2));
}

TEST_F(StateStoreTest, MemoryIsThereOnce) {
  auto first = make(kCapacity);
  fill(*first, 0, 2 * kChunk, 1);
  std::vector<std::shared_ptr<KeptState>> kept = {keep(*first, 0, nullptr)};
  kept.push_back(keep(*first, kChunk, kept[0].get()));
  uint64_t before = memoryOfProcess(), rows = 2 * kChunk * kRow;
  if (before == 0)
    GTEST_SKIP() << "this system does not say how much memory is shared";
  std::vector<std::unique_ptr<SequenceState>> others;
  for (int i = 0; i < 200; ++i) {
    others.push_back(make(kCapacity));
    ASSERT_TRUE(store.take(*others.back(), kept).ok());
    EXPECT_TRUE(isFilled(*others.back(), 0, 2 * kChunk, 1));
  }
  // 200 copies would be 14 MiB.
  EXPECT_LT(memoryOfProcess(), before + 20 * rows);
  EXPECT_EQ(memoryOfStore(), rows);
  others.clear();
  first.reset();
  EXPECT_EQ(memoryOfStore(), rows);
  kept.clear();
  EXPECT_EQ(memoryOfStore(), 0u);
}

// Two texts part: what comes behind has a place of its own.
TEST_F(StateStoreTest, BranchesAreApart) {
  auto first = make(kCapacity), second = make(kCapacity),
       third = make(kCapacity);
  fill(*first, 0, 2 * kChunk, 1);
  std::shared_ptr<KeptState> root = keep(*first, 0, nullptr);
  std::shared_ptr<KeptState> one = keep(*first, kChunk, root.get());
  ASSERT_TRUE(store.take(*second, {&root, 1}).ok());
  fill(*second, kChunk, 2 * kChunk, 7);
  std::shared_ptr<KeptState> other = keep(*second, kChunk, root.get());
  std::shared_ptr<KeptState> path[] = {root, other};
  ASSERT_TRUE(store.take(*third, path).ok());
  EXPECT_TRUE(isFilled(*first, 0, 2 * kChunk, 1));
  EXPECT_TRUE(isFilled(*third, kChunk, 2 * kChunk, 7));
  EXPECT_EQ(std::memcmp(rowsOf(*first, 0), rowsOf(*third, 0), kChunk * kRow),
            0);
}

// Where its blocks are not whole pages a sequence copies.
TEST_F(StateStoreTest, SequencesOfOtherSizesCopy) {
  auto first = make(kCapacity), second = make(kChunk + 3);
  fill(*first, 0, kChunk, 1);
  std::shared_ptr<KeptState> kept = keep(*first, 0, nullptr);
  uint64_t whole = second->bytes();
  ASSERT_TRUE(store.take(*second, {&kept, 1}).ok());
  EXPECT_EQ(second->bytes(), whole);
  EXPECT_TRUE(isFilled(*second, 0, kChunk, 1));
  EXPECT_EQ(store.take(*make(kChunk - 1), {&kept, 1}).code, Code::BadArgument);
}

// Tokens behind a gap are copied: a sequence says with one number what it
// shows.
TEST_F(StateStoreTest, WhatIsShownHasNoGaps) {
  auto first = make(kCapacity), second = make(kCapacity);
  fill(*first, 0, kChunk, 1);
  fill(*first, kChunk, 2 * kChunk, 2);
  std::shared_ptr<KeptState> root = keep(*first, 0, nullptr);
  std::shared_ptr<KeptState> next = keep(*first, kChunk, root.get());
  EXPECT_EQ(first->shownTokens(), 2 * kChunk);
  uint64_t whole = second->bytes();
  ASSERT_TRUE(store.take(*second, {&next, 1}).ok());
  EXPECT_EQ(second->shownTokens(), 0);
  EXPECT_EQ(second->bytes(), whole);
  EXPECT_TRUE(isFilled(*second, kChunk, 2 * kChunk, 2));
  ASSERT_TRUE(store.take(*second, {&root, 1}).ok());
  EXPECT_EQ(second->shownTokens(), kChunk);
  EXPECT_TRUE(isFilled(*second, 0, kChunk, 1));
  EXPECT_TRUE(isFilled(*second, kChunk, 2 * kChunk, 2));
}
