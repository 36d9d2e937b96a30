//===- TokenizerModels.h - From words to token ids --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pieces a Tokenizer is made of: an index from text to id, byte-pair
// merging, greedy word pieces, and the search for added tokens. Each is built
// once and then only read, so that threads may share it.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_TEXT_TOKENIZERMODELS_H
#define GIST_RUNTIME_TEXT_TOKENIZERMODELS_H

#include "runtime/text/TokenizerSpec.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gist {

/// Finds the id of a text. Keeps views of the texts it is built from.
class TextIndex {
public:
  static constexpr uint32_t kMissing = ~0u;

  /// Makes room for `count` texts and forgets the ones there were.
  void reset(size_t count);
  /// The first id given for a text stays.
  void insert(std::string_view text, uint32_t id);
  uint32_t find(std::string_view text) const;

private:
  struct Slot {
    std::string_view text;
    uint32_t id = kMissing;
  };
  size_t slotOf(std::string_view text) const;

  std::vector<Slot> slots; ///< A power of two, at most half full.
};

/// Finds the longest of a set of texts that stands at a place.
class LongestMatch {
public:
  /// Adds a text that outlives this; `value` is what a match gives.
  void build(const std::vector<std::pair<std::string_view, uint32_t>> &texts);

  /// Calls `accept(value)` for the texts at the front of `text`, longest first,
  /// until it returns true; gives the length of the accepted one or 0.
  template <typename Accept>
  size_t match(std::string_view text, Accept accept) const {
    if (text.empty())
      return 0;
    for (uint32_t length : lengths[static_cast<uint8_t>(text[0])]) {
      if (length > text.size())
        continue;
      uint32_t value = index.find(text.substr(0, length));
      if (value != TextIndex::kMissing && accept(value))
        return length;
    }
    return 0;
  }

private:
  TextIndex index;
  /// The lengths of the texts that begin with a byte, longest first.
  std::array<std::vector<uint32_t>, 256> lengths;
};

/// Byte-pair encoding: of all neighbours that a merge joins, the one with the
/// best rank, and of those the leftmost, is joined until none is left. A word
/// begins as its bytes, or as its characters.
class BpeModel {
public:
  /// A model without tokens, which encodes everything to nothing.
  BpeModel() { byteIds.fill(TextIndex::kMissing); }

  /// `spec` outlives this.
  Status build(const TokenizerSpec &spec, const TextIndex &vocab);

  /// Memory that is kept between words.
  struct Workspace {
    struct Symbol {
      uint32_t id;
      int32_t previous;
      int32_t next;
    };
    struct Candidate {
      uint32_t rank;
      uint32_t position;
      uint32_t left;
      uint32_t right;
    };
    std::vector<Symbol> symbols;
    std::vector<Candidate> heap;
  };

  /// Appends the ids of one word.
  void encode(std::string_view word, Workspace &workspace,
              std::vector<int32_t> &ids) const;

private:
  struct Merge {
    uint64_t pair = ~0ull; ///< Left id << 32 | right id.
    uint32_t rank = 0;
    uint32_t result = 0;
  };
  const Merge *find(uint32_t left, uint32_t right) const;
  void addBytes(std::string_view word, Workspace &workspace) const;
  void addChars(std::string_view word, Workspace &workspace) const;
  void push(Workspace &workspace, int32_t position) const;

  const TextIndex *vocab = nullptr;
  bool ignoreMerges = false;
  bool ofChars = false;
  bool byteFallback = false;
  bool fuseUnknown = false;
  int32_t unknown = TokenizerSpec::kNone;
  /// The tokens of single bytes: the byte itself, or <0xNN>.
  std::array<uint32_t, 256> byteIds;
  /// Open addressing; a power of two, at most half full.
  std::vector<Merge> merges = std::vector<Merge>(1);
};

/// Greedy longest pieces from the left; a word with a rest is unknown.
class WordPieceModel {
public:
  /// Both arguments outlive this.
  void build(const TokenizerSpec &spec, const TextIndex &vocab);

  /// Appends the ids of one word.
  void encode(std::string_view word, std::vector<int32_t> &ids) const;

private:
  const TokenizerSpec *spec = nullptr;
  const TextIndex *vocab = nullptr;
  size_t longest = 0; ///< Bytes of the longest token.
};

} // namespace gist

#endif // GIST_RUNTIME_TEXT_TOKENIZERMODELS_H
