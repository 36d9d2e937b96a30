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

#include "runtime/session/StateStore.h"

#include <list>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace gist {

class PrefixTree {
public:
  /// A chunk after those on the way to it.
  class Node {
  public:
    /// That of the chunk's tokens, or where state has no rows all that a
    /// sequence has after the chunk. Null: not known.
    const std::shared_ptr<KeptState> &state() const { return kept; }

  private:
    friend class PrefixTree;
    std::shared_ptr<KeptState> kept;
    Node *parent = nullptr;
    std::map<uint64_t, std::unique_ptr<Node>> children; ///< by hash
    uint64_t hash = 0;                                  ///< the parent's key
    std::vector<int32_t> tokens;
    std::list<Node *>::iterator place; ///< among all, by when it was used
    uint64_t bytes() const;
    /// Whether a sequence has the state too.
    bool isShown() const { return kept.use_count() > 1; }
  };

  PrefixTree() = default;
  /// One by one: paths may be too long to forget them by recursion.
  ~PrefixTree() {
    while (!used.empty())
      forget(*used.back());
  }
  PrefixTree(const PrefixTree &) = delete;
  PrefixTree &operator=(const PrefixTree &) = delete;

  /// The beginning of all paths, which has no tokens.
  Node &root() { return begin; }

  /// The chunk of these tokens after `parent`, or null. `hash` is of them.
  Node *find(Node &parent, uint64_t hash, std::span<const int32_t> tokens);

  /// Adds a node that counts as used with its parent, or finds it. Room for its
  /// state is the caller's matter. Null: other tokens have this hash.
  Node *add(Node &parent, uint64_t hash, std::span<const int32_t> tokens);

  /// Gives a node its state.
  void keep(Node &node, std::shared_ptr<KeptState> state);

  /// Those on the way to a node count as used with it now, and after it.
  void use(Node &node);

  /// Forgets the node that was not used for the longest time, which has none
  /// behind it, and whose state no sequence has. False: there is none, or only
  /// `except` and those before it.
  bool forgetOne(const Node *except = nullptr);

  /// The same until those whose state no sequence has take so many bytes.
  /// False: they take more.
  bool shrinkTo(uint64_t bytes, const Node *except = nullptr);

  /// Bytes of all nodes, and of those whose state sequences have too.
  uint64_t bytes() const { return total; }
  uint64_t shownBytes() const;
  size_t size() const { return used.size(); }
  /// Changes when a node is forgotten: nodes are valid until then.
  uint64_t generation() const { return forgotten; }

private:
  void forget(Node &node);

  Node begin;
  /// The last used first. A node comes before those behind it in the tree, so
  /// that the last one is a leaf. Where a sequence has a node's state, it has
  /// those of all before it: the last one without is a leaf too.
  std::list<Node *> used;
  uint64_t total = 0; ///< bytes, those of tokens included
  uint64_t forgotten = 0;
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_PREFIXTREE_H
