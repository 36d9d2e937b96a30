//===- GrammarProgram.h - A grammar as steps to execute ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nodes with edges: take a byte, go either way, call a rule, return, count.
// GrammarMatcher follows them with a stack for each way to read a text.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_GRAMMAR_GRAMMARPROGRAM_H
#define GIST_RUNTIME_GRAMMAR_GRAMMARPROGRAM_H

#include "runtime/grammar/Grammar.h"

#include <array>
#include <bitset>
#include <optional>

namespace gist {

class GrammarProgram {
public:
  static constexpr size_t kMaxNodes = 1 << 19;
  static constexpr size_t kMaxByteSets = 4096;
  /// Calls and counts inside one another.
  static constexpr uint32_t kMaxStack = 256;

  using NodeId = uint32_t;

  enum class Kind : uint8_t {
    Byte,   ///< take a byte of `set`, go to `next`
    Split,  ///< go to `next` or to `other`
    Call,   ///< go to `other`, and to `next` after its Return
    Return, ///< a rule ends
    Count,  ///< begin to count: `other` is the body, `next` follows the last
    Again,  ///< a body ends; `other` is its Count
  };

  struct Node {
    Kind kind = Kind::Return;
    /// Call: nothing but a Return follows, so the caller's frame serves.
    bool isTail = false;
    uint16_t set = 0;
    uint32_t least = 0, most = 0;
    NodeId next = 0, other = 0;
    /// Frames that the stack needs at least to come to the rule's end from
    /// here; kNever where nothing finite does.
    uint32_t need = 0;
  };
  static constexpr uint32_t kNever = UINT32_MAX;

  /// Refuses grammars that are too large, match no text, or have a rule that
  /// begins with itself. `leadingSpace` allows one space in front of all.
  static Status create(const Grammar &grammar, bool leadingSpace,
                       GrammarProgram &result);

  NodeId start = 0;
  std::vector<Node> nodes;
  /// Bytes that no set tells apart are of one class.
  std::array<uint8_t, 256> classOf = {};
  uint32_t classCount = 0;
  /// For each set, the classes in it.
  std::vector<std::bitset<256>> classSets;
};

} // namespace gist

#endif // GIST_RUNTIME_GRAMMAR_GRAMMARPROGRAM_H
