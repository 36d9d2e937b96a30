//===- SentencePiece.h - Reads tokenizer.model ------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SentencePiece's file is a protocol buffer. What a tokenizer needs of it is
// read here, by hand: it is a few numbers and a list of pieces.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_TEXT_SENTENCEPIECE_H
#define GIST_RUNTIME_TEXT_SENTENCEPIECE_H

#include "runtime/support/Bytes.h"
#include "runtime/support/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gist {

/// Pieces as SentencePiece and GGUF files list them. Nothing is checked yet but
/// their number.
struct RawPieces {
  std::vector<std::string> texts;
  std::vector<float> scores;
  std::vector<int32_t> types; ///< 1 normal, 2 unknown, 3 control, 4 defined by
                              ///< the user, 5 unused, 6 byte.
};

/// What a file says; the defaults are those of the format.
struct SentencePieceFile {
  enum ModelType { kUnigram = 1, kBpe = 2 };

  RawPieces pieces;
  int64_t modelType = kUnigram;
  bool byteFallback = false;
  bool spaceIsSuffix = false;
  int64_t bos = 1, eos = 2, pad = -1;

  std::string normalizer; ///< Its name.
  bool hasCharacterMap = false;
  bool addDummyPrefix = true;
  bool removeExtraSpaces = true;
  bool escapeSpaces = true;
};

/// On error `out` is left as it was.
Status readSentencePiece(Bytes file, SentencePieceFile &out);

} // namespace gist

#endif // GIST_RUNTIME_TEXT_SENTENCEPIECE_H
