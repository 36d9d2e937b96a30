//===- PrefixTree.cpp - States of prompts, found by their tokens ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/PrefixTree.h"

#include <algorithm>

using namespace gist;

uint64_t PrefixTree::Node::bytes() const {
  return (kept ? kept->bytes() : 0) + tokens.size() * sizeof(int32_t) +
         sizeof(Node);
}

void PrefixTree::use(Node &node) {
  for (Node *each = &node; each != &begin; each = each->parent)
    used.splice(used.begin(), used, each->place);
}

/// Names are hashes: whether tokens are the same is another question.
static bool isSame(const std::vector<int32_t> &a, std::span<const int32_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

PrefixTree::Node *PrefixTree::find(Node &parent, uint64_t hash,
                                   std::span<const int32_t> tokens) {
  auto found = parent.children.find(hash);
  return found != parent.children.end() && isSame(found->second->tokens, tokens)
             ? found->second.get()
             : nullptr;
}

PrefixTree::Node *PrefixTree::add(Node &parent, uint64_t hash,
                                  std::span<const int32_t> tokens) {
  auto [at, isNew] = parent.children.try_emplace(hash);
  if (!isNew)
    return find(parent, hash, tokens);
  at->second = std::make_unique<Node>();
  Node &node = *at->second;
  node.parent = &parent;
  node.hash = hash;
  node.tokens.assign(tokens.begin(), tokens.end());
  node.place = used.insert(
      &parent == &begin ? used.begin() : std::next(parent.place), &node);
  total += node.bytes();
  return &node;
}

void PrefixTree::keep(Node &node, std::shared_ptr<KeptState> state) {
  total -= node.bytes();
  node.kept = std::move(state);
  total += node.bytes();
}

void PrefixTree::forget(Node &node) {
  used.erase(node.place);
  total -= node.bytes();
  ++forgotten;
  node.parent->children.erase(node.hash);
}

bool PrefixTree::forgetOne(const Node *except) {
  for (auto each = used.rbegin(); each != used.rend(); ++each) {
    if ((*each)->isShown())
      continue;
    if (*each == except)
      return false;
    forget(**each);
    return true;
  }
  return false;
}

uint64_t PrefixTree::shownBytes() const {
  uint64_t bytes = 0;
  for (const Node *node : used)
    bytes += node->isShown() ? node->bytes() : 0;
  return bytes;
}

bool PrefixTree::shrinkTo(uint64_t bytes, const Node *except) {
  uint64_t shown = shownBytes();
  while (total - shown > bytes)
    if (!forgetOne(except))
      return false;
  return true;
}
