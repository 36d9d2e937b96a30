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

/// Adds what is missing of the path of `tokens`.
static Path addPath(PrefixTree &tree, const Tokens &tokens, size_t chunk) {
  Path path = tree.find(tokens);
  while (path.size() < tokens.size() / chunk)
    path.push_back(
        tree.add(path, std::span(tokens).subspan(path.size() * chunk, chunk)));
  return path;
}

TEST(PrefixTree, FindsWhatTokensBeginWith) {
  PrefixTree tree;
  tree.setChunk(2);
  EXPECT_TRUE(tree.find(Tokens{1, 2}).empty());
  Path path = addPath(tree, {1, 2, 3, 4}, 2);
  EXPECT_EQ(tree.size(), 2u);
  EXPECT_EQ(tree.find(Tokens{1, 2, 3, 4, 5}), path);
  EXPECT_EQ(tree.find(Tokens{1, 2, 3}), Path{path[0]});
  EXPECT_EQ(tree.find(Tokens{1, 2, 3, 5}), Path{path[0]});
  EXPECT_TRUE(tree.find(Tokens{2, 1, 3, 4}).empty());
  EXPECT_TRUE(tree.find(Tokens{1}).empty());
  // The same beginning is there once.
  addPath(tree, {1, 2, 5, 6}, 2);
  EXPECT_EQ(tree.size(), 3u);
}

TEST(PrefixTree, ForgetsTheLeastRecentlyUsed) {
  PrefixTree tree;
  tree.setChunk(1);
  addPath(tree, {1, 2}, 1);
  addPath(tree, {1, 3}, 1);
  addPath(tree, {4}, 1);
  EXPECT_EQ(tree.find(Tokens{1, 2}).size(), 2u); // Used again.
  EXPECT_TRUE(tree.forgetOne());                 // 1 3
  EXPECT_EQ(tree.find(Tokens{1, 3}).size(), 1u); // Uses 1, and not 1 2.
  EXPECT_TRUE(tree.forgetOne());
  EXPECT_TRUE(tree.find(Tokens{4}).empty());
  EXPECT_EQ(tree.find(Tokens{1, 2}).size(), 2u);
  Path kept = tree.find(Tokens{1, 2});
  EXPECT_FALSE(tree.shrinkTo(0, kept.back()));
  EXPECT_EQ(tree.size(), 2u);
  EXPECT_TRUE(tree.shrinkTo(0));
  EXPECT_EQ(tree.bytes(), 0u);
  EXPECT_FALSE(tree.forgetOne());
}

// A long path is destroyed without recursion.
TEST(PrefixTree, PathsMayBeLong) {
  PrefixTree tree;
  tree.setChunk(1);
  constexpr size_t kLength = 20000;
  Path path;
  for (size_t i = 0; i < kLength; ++i)
    path.assign(1, tree.add(path, Tokens{7}));
  EXPECT_EQ(tree.size(), kLength);
}
