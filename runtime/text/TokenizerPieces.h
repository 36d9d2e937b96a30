//===- TokenizerPieces.h - SentencePiece's models ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The two models that choose pieces by their scores, as SentencePiece computes
// them: BPE and unigram. What they are given is one text with marks for spaces,
// not words.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_TEXT_TOKENIZERPIECES_H
#define GIST_RUNTIME_TEXT_TOKENIZERPIECES_H

#include "runtime/text/TokenizerModels.h"
#include "runtime/text/TokenizerSpec.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gist {

/// What stands for a space in pieces.
inline constexpr std::string_view kSpaceMark = "\u2581";

/// The byte that a piece of the form <0xNN> stands for, or -1.
int byteOfPiece(std::string_view text);

/// `text` for a message: no control characters, no broken UTF-8, not too long.
std::string printable(std::string_view text);

/// `text` with marks for spaces, and with spaces for marks.
std::string markSpaces(std::string_view text);
std::string unmarkSpaces(std::string_view text);

/// Encodes with a model that has scores. Built once, then only read.
class PieceModel {
public:
  /// `spec` is verified and outlives this.
  void build(const TokenizerSpec &spec);

  /// Memory that is kept between texts.
  struct Workspace {
    struct Symbol {
      size_t begin;
      size_t size; ///< 0: joined to the one before.
      int32_t previous;
      int32_t next;
      bool frozen; ///< A piece that the user defined; it is never joined.
    };
    struct Candidate {
      float score;
      int32_t left;
      size_t size; ///< Of both symbols; another size shows that they changed.
    };
    /// The best way to an end of a text.
    struct Path {
      float score = 0;
      int32_t id = -1;
      int64_t begin = -1;
    };
    std::vector<Symbol> symbols;
    std::vector<Candidate> heap;
    std::vector<Path> paths;
    /// How unused pieces were joined: the bytes of the left part.
    std::unordered_map<std::string_view, size_t> unusedParts;
    std::vector<std::string_view> stack;
  };

  /// Appends the ids of a text, which is valid UTF-8.
  void encode(std::string_view text, Workspace &workspace,
              std::vector<int32_t> &ids) const;

private:
  /// Collects ids; neighbours that are unknown become one token.
  struct Output {
    std::vector<int32_t> &ids;
    bool wasUnknown = false;
  };

  void encodeBpe(std::string_view text, Workspace &workspace,
                 Output &output) const;
  void encodeUnigram(std::string_view text, Workspace &workspace,
                     Output &output) const;
  void push(std::string_view text, Workspace &workspace, int32_t left) const;
  void take(std::string_view piece, Workspace &workspace, Output &output) const;
  void append(std::string_view piece, int32_t id, Output &output) const;

  const TokenizerSpec *spec = nullptr;
  TextIndex pieces;         ///< Those that a text can have.
  LongestMatch userDefined; ///< Found before anything is joined.
  LongestMatch all;         ///< Unigram: for every place of a text.
  size_t longest = 0;       ///< Bytes of the longest piece.
  float lowest = 0;         ///< The lowest and the highest score of normal
  float highest = 0;        ///< pieces.
  std::array<int32_t, 256> byteIds;
};

} // namespace gist

#endif // GIST_RUNTIME_TEXT_TOKENIZERPIECES_H
