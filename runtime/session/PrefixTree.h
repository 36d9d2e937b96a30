//===- PrefixTree.h - States of prompts, found by their tokens --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tree over chunks of tokens. What two prompts begin with is one path from
// the root, and its state is there once.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_PREFIXTREE_H
#define GIST_RUNTIME_SESSION_PREFIXTREE_H

#include "runtime/device/Device.h"

#include <list>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace gist {

class PrefixTree {
public:
  /// A chunk after those on the way to it.
  struct Node {
    /// The rows of the chunk's tokens, or where state has no rows all that a
    /// sequence has after the chunk. Empty: not known.
    DeviceMemory state;

  private:
    friend class PrefixTree;
    Node *parent = nullptr;
    std::map<std::vector<int32_t>, std::unique_ptr<Node>> children;
    const std::vector<int32_t> *tokens = nullptr; ///< the parent's key
    std::list<Node *>::iterator place; ///< among all, by when it was used
    uint64_t bytes() const;
  };

  PrefixTree() = default;
  /// One by one: paths may be too long to forget them by recursion.
  ~PrefixTree() {
    while (forgetOne()) {
    }
  }
  PrefixTree(const PrefixTree &) = delete;
  PrefixTree &operator=(const PrefixTree &) = delete;

  /// Of chunks of so many tokens.
  void setChunk(int64_t tokens) { chunk = static_cast<size_t>(tokens); }

  /// The longest path of chunks that `tokens` begin with. The nodes are valid
  /// until one is added or forgotten. They count as used now.
  std::vector<Node *> find(std::span<const int32_t> tokens);

  /// Adds a node for the chunk behind `path`, or finds it. Room for its state
  /// is the caller's matter.
  Node *add(std::span<Node *const> path, std::span<const int32_t> tokens);

  /// Gives a node its state.
  void keep(Node &node, DeviceMemory state);

  /// Forgets the node that was not used for the longest time, which has none
  /// behind it. False: there is none, or only `except` and those before it.
  bool forgetOne(const Node *except = nullptr);

  /// The same until so many bytes are left. False: they are more.
  bool shrinkTo(uint64_t bytes, const Node *except = nullptr);

  uint64_t bytes() const { return total; }
  size_t size() const { return used.size(); }

private:
  void use(Node &node);

  size_t chunk = 1;
  Node root;
  /// The last used first. A node comes before those behind it in the tree, so
  /// that the last one is a leaf.
  std::list<Node *> used;
  uint64_t total = 0; ///< bytes, those of tokens included
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_PREFIXTREE_H
