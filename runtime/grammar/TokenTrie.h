//===- TokenTrie.h - A vocabulary by its bytes ------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_GRAMMAR_TOKENTRIE_H
#define GIST_RUNTIME_GRAMMAR_TOKENTRIE_H

#include "runtime/text/Tokenizer.h"

#include <cstdint>
#include <vector>

namespace gist {

/// The tokens of a vocabulary that are text, by their bytes: a node for each
/// beginning that tokens share. Only read once it is made.
class TokenTrie {
public:
  /// In the order of the bytes: what begins like a node follows it.
  struct Node {
    uint32_t end = 0; ///< the first node that does not begin like this one
    uint32_t firstToken = 0; ///< in `tokens`; the next node's is the end
    uint16_t depth = 0;      ///< bytes of it, less one
    uint8_t byte = 0;        ///< the last of them
    /// Bytes of the longest token from this byte on, where these and those of
    /// all other tokens that follow are plain; else 0.
    uint8_t plain = 0;
  };

  /// What strings of most languages hold as it is: visible ASCII and spaces,
  /// without quotes and backslashes. Most tokens have nothing else.
  static bool isPlainByte(uint8_t byte) {
    return byte >= ' ' && byte < 0x7F && byte != '"' && byte != '\\';
  }

  TokenTrie() = default;
  explicit TokenTrie(const Tokenizer &tokenizer);

  std::vector<Node> nodes; ///< with a sentinel at the end
  std::vector<int32_t> tokens;
  size_t longest = 0; ///< bytes of a token at most
};

} // namespace gist

#endif // GIST_RUNTIME_GRAMMAR_TOKENTRIE_H
