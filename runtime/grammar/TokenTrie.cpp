//===- TokenTrie.cpp - A vocabulary by its bytes --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/grammar/TokenTrie.h"

#include <algorithm>

using namespace gist;

TokenTrie::TokenTrie(const Tokenizer &tokenizer) {
  std::vector<std::pair<std::string_view, int32_t>> texts;
  for (size_t i = 0; i < tokenizer.vocabSize(); ++i) {
    auto token = static_cast<int32_t>(i);
    std::string_view text = tokenizer.tokenText(token);
    // Special tokens are not shown, and so are no text.
    if (!text.empty() && !tokenizer.isSpecial(token))
      texts.emplace_back(text, token);
  }
  std::sort(texts.begin(), texts.end());

  std::vector<uint32_t> path; // the nodes of the last text
  auto leave = [&](size_t depth) {
    for (; path.size() > depth; path.pop_back())
      nodes[path.back()].end = static_cast<uint32_t>(nodes.size());
  };
  std::string_view last;
  for (const auto &[text, token] : texts) {
    auto differs =
        std::mismatch(text.begin(), text.end(), last.begin(), last.end());
    leave(static_cast<size_t>(differs.first - text.begin()));
    for (size_t depth = path.size(); depth < text.size(); ++depth) {
      path.push_back(static_cast<uint32_t>(nodes.size()));
      nodes.push_back({.firstToken = static_cast<uint32_t>(tokens.size()),
                       .depth = static_cast<uint16_t>(depth),
                       .byte = static_cast<uint8_t>(text[depth])});
    }
    tokens.push_back(token);
    last = text;
    longest = std::max(longest, text.size());
  }
  leave(0);
  // From the back: what follows a node is known before it.
  for (size_t i = nodes.size(); i-- > 0;) {
    uint8_t longest = 0;
    bool isPlain = isPlainByte(nodes[i].byte);
    for (size_t next = i + 1; next < nodes[i].end; next = nodes[next].end) {
      isPlain &= nodes[next].plain != 0;
      longest = std::max(longest, nodes[next].plain);
    }
    nodes[i].plain = isPlain && longest < UINT8_MAX ? longest + 1 : 0;
  }
  nodes.push_back({.firstToken = static_cast<uint32_t>(tokens.size())});
}
