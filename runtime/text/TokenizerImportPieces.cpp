//===- TokenizerImportPieces.cpp - Pieces with scores ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What tokenizer.model and GGUF files of the model "llama" have in common:
// pieces, their scores and their types. Nothing of it is trusted.
//
//===----------------------------------------------------------------------===//

#include "runtime/support/TextBytes.h"
#include "runtime/text/TokenizerImport.h"
#include "runtime/text/TokenizerPieces.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

using namespace gist;
using namespace gist::detail;

/// The numbers in files.
static bool kindOfType(int32_t type, PieceKind &kind) {
  static constexpr PieceKind kinds[] = {
      PieceKind::Normal,      PieceKind::Unknown, PieceKind::Control,
      PieceKind::UserDefined, PieceKind::Unused,  PieceKind::Byte};
  if (type < 1 || type > 6)
    return false;
  kind = kinds[type - 1];
  return true;
}

/// A text that can be encoded must mean one piece, and so must the name of one
/// that cannot. SentencePiece keeps the two apart, too.
static Status checkUnique(const std::vector<std::string> &texts,
                          const std::vector<PieceKind> &kinds) {
  std::unordered_set<std::string_view> found, named;
  for (size_t id = 0; id < texts.size(); ++id) {
    bool canBeFound = kinds[id] == PieceKind::Normal ||
                      kinds[id] == PieceKind::UserDefined ||
                      kinds[id] == PieceKind::Unused;
    if (texts[id].empty())
      return Status::error(Code::BadFile, "piece %zu has no text", id);
    if (!(canBeFound ? found : named).insert(texts[id]).second)
      return Status::error(Code::BadFile,
                           "piece '%s' appears twice; the second is piece %zu",
                           printable(texts[id]).c_str(), id);
  }
  return {};
}

Status detail::setPieces(RawPieces pieces, TokenizerSpec &spec) {
  size_t count = pieces.texts.size();
  if (pieces.scores.size() != count || pieces.types.size() != count)
    return Status::error(Code::BadFile,
                         "there are %zu pieces, %zu scores and %zu types; "
                         "expected as many of each",
                         count, pieces.scores.size(), pieces.types.size());
  std::vector<PieceKind> kinds(count);
  int32_t unknown = TokenizerSpec::kNone;
  for (size_t id = 0; id < count; ++id) {
    if (!kindOfType(pieces.types[id], kinds[id]))
      return Status::error(Code::BadFile,
                           "piece %zu has the type %d; known are 1 to 6", id,
                           pieces.types[id]);
    if (kinds[id] == PieceKind::Unknown) {
      if (unknown != TokenizerSpec::kNone)
        return Status::error(Code::BadFile,
                             "pieces %d and %zu are both for unknown text",
                             unknown, id);
      unknown = static_cast<int32_t>(id);
    }
    if (kinds[id] == PieceKind::Byte)
      spec.byteFallback = true;
  }
  if (unknown == TokenizerSpec::kNone)
    return Status::error(Code::BadFile, "no piece is for unknown text");
  GIST_TRY(checkUnique(pieces.texts, kinds));

  for (size_t id = 0; id < count; ++id) {
    if (kinds[id] != PieceKind::Control && kinds[id] != PieceKind::Unknown)
      continue;
    AddedToken token;
    token.text = pieces.texts[id];
    token.id = static_cast<uint32_t>(id);
    token.special = true;
    spec.added.push_back(std::move(token));
  }
  spec.unknown = unknown;
  spec.vocab = std::move(pieces.texts);
  spec.scores = std::move(pieces.scores);
  spec.kinds = std::move(kinds);
  return {};
}

/// An id of a control piece, or kNone.
static int32_t controlId(int64_t id, const TokenizerSpec &spec) {
  bool isControl = id >= 0 && id < static_cast<int64_t>(spec.kinds.size()) &&
                   spec.kinds[id] == PieceKind::Control;
  return isControl ? static_cast<int32_t>(id) : TokenizerSpec::kNone;
}

Status detail::readSentencePieceSpec(std::string_view text,
                                     TokenizerSpec &spec) {
  SentencePieceFile file;
  GIST_TRY(readSentencePiece(bytesOf(text), file));
  if (file.modelType != SentencePieceFile::kBpe &&
      file.modelType != SentencePieceFile::kUnigram)
    return Status::error(Code::Unsupported,
                         "tokenizer.model is of type %lld; supported are "
                         "unigram (1) and BPE (2)",
                         static_cast<long long>(file.modelType));
  if (file.hasCharacterMap)
    return Status::error(Code::Unsupported,
                         "tokenizer.model has the normalizer '%s'; supported "
                         "is identity",
                         printable(file.normalizer).c_str());
  if (file.spaceIsSuffix || !file.escapeSpaces)
    return Status::error(Code::Unsupported,
                         "tokenizer.model %s, which is not supported",
                         file.spaceIsSuffix ? "has spaces behind words"
                                            : "does not mark spaces");
  spec.model = file.modelType == SentencePieceFile::kBpe
                   ? TokenizerModel::ScoreBpe
                   : TokenizerModel::Unigram;
  spec.split = TokenizerSplit::None;
  spec.normalizer = TokenizerNormalizer::Spaces;
  spec.prefixSpace = file.addDummyPrefix;
  spec.removeExtraSpaces = file.removeExtraSpaces;
  spec.leadingSpace = file.addDummyPrefix || file.removeExtraSpaces
                          ? LeadingSpace::DropOne
                          : LeadingSpace::Keep;
  GIST_TRY(setPieces(std::move(file.pieces), spec).in("tokenizer.model"));
  if (spec.byteFallback != file.byteFallback)
    return Status::error(Code::BadFile,
                         "tokenizer.model has %s pieces for bytes, but says "
                         "the opposite",
                         spec.byteFallback ? "some" : "no");
  spec.bos = controlId(file.bos, spec);
  spec.eos = controlId(file.eos, spec);
  spec.pad = controlId(file.pad, spec);
  return {};
}
