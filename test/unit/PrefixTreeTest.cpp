//===- PrefixTreeTest.cpp - States of prompts, found by their tokens ------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/PrefixTree.h"

#include <gtest/gtest.h>

using namespace gist;

using Tokens = std::vector<int32_t>;
using Path = std::vector<PrefixTree::Node *>;

/// The nodes of single tokens that these begin with; with `adds` all of them.
/// Two tokens have the same hash where they differ by 100.
static Path pathOf(PrefixTree &tree, const Tokens &tokens, bool adds = false) {
  Path path;
  PrefixTree::Node *node = &tree.root();
  for (const int32_t &token : tokens) {
    auto hash = static_cast<uint64_t>(token % 100);
    node = adds ? tree.add(*node, hash, {&token, 1})
                : tree.find(*node, hash, {&token, 1});
    if (!node)
      return path;
    path.push_back(node);
  }
  return path;
}

/// The same, and they count as used.
static size_t useOf(PrefixTree &tree, const Tokens &tokens) {
  Path path = pathOf(tree, tokens);
  if (!path.empty())
    tree.use(*path.back());
  return path.size();
}

TEST(PrefixTree, FindsWhatTokensBeginWith) {
  PrefixTree tree;
  EXPECT_TRUE(pathOf(tree, {1, 2}).empty());
  Path path = pathOf(tree, {1, 2}, true);
  EXPECT_EQ(tree.size(), 2u);
  EXPECT_EQ(pathOf(tree, {1, 2, 5}), path);
  EXPECT_EQ(pathOf(tree, {1, 3}), Path{path[0]});
  EXPECT_TRUE(pathOf(tree, {2, 1}).empty());
  // The same beginning is there once.
  pathOf(tree, {1, 3}, true);
  EXPECT_EQ(tree.size(), 3u);
}

// A hash alone does not say that tokens are the same.
TEST(PrefixTree, ComparesTokensOfOneHash) {
  PrefixTree tree;
  pathOf(tree, {1, 2}, true);
  EXPECT_EQ(pathOf(tree, {1, 102}).size(), 1u);
  EXPECT_TRUE(pathOf(tree, {101, 2}).empty());
  EXPECT_EQ(pathOf(tree, {1, 102}, true).size(), 1u);
  EXPECT_EQ(tree.size(), 2u);
}

TEST(PrefixTree, ForgetsTheLeastRecentlyUsed) {
  PrefixTree tree;
  pathOf(tree, {1, 2}, true);
  pathOf(tree, {1, 3}, true);
  pathOf(tree, {4}, true);
  EXPECT_EQ(useOf(tree, {1, 2}), 2u);
  uint64_t before = tree.generation();
  EXPECT_TRUE(tree.forgetOne()); // 1 3
  EXPECT_NE(tree.generation(), before);
  EXPECT_EQ(useOf(tree, {1, 3}), 1u); // Uses 1, and not 1 2.
  EXPECT_TRUE(tree.forgetOne());
  EXPECT_TRUE(pathOf(tree, {4}).empty());
  Path kept = pathOf(tree, {1, 2});
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_FALSE(tree.shrinkTo(0, kept.back()));
  EXPECT_EQ(tree.size(), 2u);
  EXPECT_TRUE(tree.shrinkTo(0));
  EXPECT_EQ(tree.bytes(), 0u);
  EXPECT_FALSE(tree.forgetOne());
}

// What a sequence has too stays, and its bytes are no part of any limit.
TEST(PrefixTree, StatesInUseStay) {
  PrefixTree tree;
  Path used = pathOf(tree, {1, 2}, true);
  std::vector<std::shared_ptr<KeptState>> states;
  for (PrefixTree::Node *node : used)
    tree.keep(*node, states.emplace_back(std::make_shared<KeptState>()));
  EXPECT_EQ(tree.shownBytes(), tree.bytes());
  pathOf(tree, {1, 3}, true); // Added last, and the first to go.
  EXPECT_TRUE(tree.shrinkTo(0));
  EXPECT_EQ(pathOf(tree, {1, 2}), used);
  EXPECT_EQ(tree.size(), 2u);
  EXPECT_FALSE(tree.forgetOne());
  states.clear();
  EXPECT_TRUE(tree.shrinkTo(0));
  EXPECT_EQ(tree.size(), 0u);
}

// A long path is destroyed without recursion.
TEST(PrefixTree, PathsMayBeLong) {
  PrefixTree tree;
  constexpr size_t kLength = 20000;
  PrefixTree::Node *node = &tree.root();
  const int32_t token = 7;
  for (size_t i = 0; i < kLength; ++i)
    node = tree.add(*node, 7, {&token, 1});
  EXPECT_EQ(tree.size(), kLength);
}
