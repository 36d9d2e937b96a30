//===- PrefixTree.cpp - States of prompts, found by their tokens ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/PrefixTree.h"

using namespace gist;

uint64_t PrefixTree::Node::bytes() const {
  return state.size() + tokens->size() * sizeof(int32_t) + sizeof(Node);
}

/// Those on the way to a node are used with it, and after it.
void PrefixTree::use(Node &node) {
  for (Node *each = &node; each != &root; each = each->parent)
    used.splice(used.begin(), used, each->place);
}

std::vector<PrefixTree::Node *>
PrefixTree::find(std::span<const int32_t> tokens) {
  std::vector<Node *> path;
  Node *node = &root;
  for (; tokens.size() >= chunk; tokens = tokens.subspan(chunk)) {
    auto found = node->children.find({tokens.begin(), tokens.begin() + chunk});
    if (found == node->children.end())
      break;
    node = found->second.get();
    path.push_back(node);
  }
  use(*node);
  return path;
}

PrefixTree::Node *PrefixTree::add(std::span<Node *const> path,
                                  std::span<const int32_t> tokens) {
  Node *parent = path.empty() ? &root : path.back();
  auto [at, isNew] = parent->children.try_emplace(
      std::vector<int32_t>(tokens.begin(), tokens.end()));
  if (!isNew)
    return at->second.get();
  at->second = std::make_unique<Node>();
  Node &node = *at->second;
  node.parent = parent;
  node.tokens = &at->first;
  node.place = used.insert(used.begin(), &node);
  use(node);
  total += node.bytes();
  return &node;
}

void PrefixTree::keep(Node &node, DeviceMemory state) {
  total -= node.bytes();
  node.state = std::move(state);
  total += node.bytes();
}

bool PrefixTree::forgetOne(const Node *except) {
  if (used.empty() || used.back() == except)
    return false;
  Node *node = used.back();
  used.pop_back();
  total -= node->bytes();
  node->parent->children.erase(*node->tokens);
  return true;
}

bool PrefixTree::shrinkTo(uint64_t bytes, const Node *except) {
  while (total > bytes)
    if (!forgetOne(except))
      return false;
  return true;
}
