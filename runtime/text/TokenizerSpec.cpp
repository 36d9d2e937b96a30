//===- TokenizerSpec.cpp - A tokenizer as data ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tokenizer section of a module. Numbers are little-endian and not aligned:
//
//   u32 version; u8 model, split, normalizer, options; u32 maxWordChars;
//   i32 bos, eos, unknown, pad, mask;
//   u16 + text wordPrefix; u32 + text chatTemplate;
//   u32 + u32[] prefix, suffix, stop;
//   u32 + (u16 + text)[] vocab; u32 + (u32, u32)[] merges;
//   u32 + (u32 id, u8 options, u16 + text)[] added;
//   for models with pieces:
//   u8 pieceOptions, spaceMarks, leadingSpace; u32 + f32[] scores;
//   u32 + u8[] kinds.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/TokenizerSpec.h"

#include "runtime/text/TokenizerPieces.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

using namespace gist;

/// Raised when the bytes' meaning changes: a runtime refuses all others.
static constexpr uint32_t kFormatVersion = 1;

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static Status checkId(const char *what, int64_t id, size_t count) {
  if (id < 0 || id >= static_cast<int64_t>(count))
    return Status::error(
        Code::BadFile,
        "tokenizer: %s is token %lld, which is outside a vocabulary of %zu",
        what, static_cast<long long>(id), count);
  return {};
}

void TokenizerSpec::growVocab(size_t count) {
  if (count <= vocab.size())
    return;
  vocab.resize(count);
  if (hasScores(model)) {
    scores.resize(count);
    // The encoders never make a control piece of text, so that a hole stays
    // one.
    kinds.resize(count, PieceKind::Control);
  }
}

/// What the encoders of models with scores rely on.
static Status verifyPieces(const TokenizerSpec &spec) {
  size_t expected = hasScores(spec.model) ? spec.vocab.size() : 0;
  if (spec.scores.size() != expected || spec.kinds.size() != expected)
    return Status::error(
        Code::BadFile,
        "tokenizer: there are %zu scores and %zu kinds for %zu pieces",
        spec.scores.size(), spec.kinds.size(), expected);
  std::array<bool, 256> found{};
  for (size_t id = 0; id < expected; ++id) {
    if (!std::isfinite(spec.scores[id]))
      return Status::error(Code::BadFile,
                           "tokenizer: the score of piece %zu is not a finite "
                           "number",
                           id);
    if (spec.kinds[id] > PieceKind::Byte)
      return Status::error(Code::BadFile,
                           "tokenizer: piece %zu is of the unknown kind %u", id,
                           static_cast<unsigned>(spec.kinds[id]));
    if (spec.kinds[id] != PieceKind::Byte)
      continue;
    int byte = byteOfPiece(spec.vocab[id]);
    if (byte < 0)
      return Status::error(
          Code::BadFile,
          "tokenizer: piece %zu stands for a byte, but its text is '%s'; "
          "expected <0x00> to <0xFF>",
          id, printable(spec.vocab[id]).c_str());
    found[byte] = true;
  }
  // SentencePiece has all of them or none.
  auto count = std::count(found.begin(), found.end(), true);
  if (hasScores(spec.model) && count != (spec.byteFallback ? 256 : 0))
    return Status::error(Code::BadFile,
                         "tokenizer: there are pieces for %d of 256 bytes",
                         static_cast<int>(count));
  return {};
}

Status TokenizerSpec::verify() const {
  if (vocab.empty() || vocab.size() > kMaxTokens)
    return Status::error(
        Code::BadFile,
        "tokenizer: the vocabulary has %zu tokens; 1 to %u are supported",
        vocab.size(), kMaxTokens);
  for (const std::string &text : vocab)
    if (text.size() > kMaxTokenBytes)
      return Status::error(
          Code::BadFile, "tokenizer: a token has %zu bytes, which is too long",
          text.size());
  for (const TokenizerMerge &merge : merges) {
    GIST_TRY(checkId("part of a merge", merge.left, vocab.size()));
    GIST_TRY(checkId("part of a merge", merge.right, vocab.size()));
  }
  for (const AddedToken &token : added) {
    GIST_TRY(checkId("an added token", token.id, vocab.size()));
    if (token.text.empty() || token.text.size() > kMaxTokenBytes)
      return Status::error(
          Code::BadFile,
          "tokenizer: an added token has %zu bytes; it is empty or too long",
          token.text.size());
  }
  for (int32_t id : {bos, eos, unknown, pad, mask})
    if (id != kNone)
      GIST_TRY(checkId("a special token", id, vocab.size()));
  for (const std::vector<uint32_t> *list : {&prefix, &suffix, &stop})
    for (uint32_t id : *list)
      GIST_TRY(checkId("a special token", id, vocab.size()));
  GIST_TRY(verifyPieces(*this));
  // WordPiece, alphabets and SentencePiece write `unknown` for what they cannot
  // say. Merges skip it.
  if (model != TokenizerModel::ByteBpe && model != TokenizerModel::CharBpe &&
      unknown == kNone)
    return Status::error(Code::BadFile,
                         "tokenizer: there is no token for unknown words");
  if (maxWordChars > kMaxTokenBytes)
    return Status::error(
        Code::BadFile,
        "tokenizer: the limit of %u characters for a word is too large",
        maxWordChars);
  if (wordPrefix.size() > kMaxTokenBytes ||
      chatTemplate.size() > kMaxTemplateBytes)
    return Status::error(
        Code::BadFile,
        "tokenizer: the chat template has %zu bytes, which is too long",
        chatTemplate.size());
  return {};
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// The options as bits, in the order of this list.
/// The order is part of the format. A new option goes to the end.
template <typename Spec> static auto optionsOf(Spec &spec) {
  return std::to_array({&spec.splitDigits, &spec.prefixSpace,
                        &spec.ignoreMerges, &spec.cleanText, &spec.splitChinese,
                        &spec.stripAccents, &spec.lowercase});
}

template <typename Spec> static auto pieceOptionsOf(Spec &spec) {
  return std::to_array({&spec.byteFallback, &spec.fuseUnknown,
                        &spec.removeExtraSpaces, &spec.prefixFirstOnly,
                        &spec.splitAtMarks});
}

template <typename Token> static auto optionsOfToken(Token &token) {
  return std::to_array({&token.special, &token.singleWord, &token.stripLeft,
                        &token.stripRight, &token.normalized});
}

template <typename Options> static uint8_t packBits(const Options &options) {
  uint8_t bits = 0;
  for (size_t i = 0; i < options.size(); ++i)
    bits |= static_cast<uint8_t>(*options[i] << i);
  return bits;
}

/// Writes the bytes of a value as they are in memory; Bytes.h reads them so
/// too.
template <typename T> static void put(std::string &out, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  out.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

template <typename Size>
static void putText(std::string &out, const std::string &text) {
  put(out, static_cast<Size>(text.size()));
  out += text;
}

template <typename T>
static void putList(std::string &out, const std::vector<T> &list) {
  put(out, static_cast<uint32_t>(list.size()));
  for (const T &entry : list)
    put(out, entry);
}

std::string TokenizerSpec::serialize() const {
  std::string out;
  put(out, kFormatVersion);
  put(out, model);
  put(out, split);
  put(out, normalizer);
  put(out, packBits(optionsOf(*this)));
  put(out, maxWordChars);
  for (int32_t id : {bos, eos, unknown, pad, mask})
    put(out, id);
  putText<uint16_t>(out, wordPrefix);
  putText<uint32_t>(out, chatTemplate);
  putList(out, prefix);
  putList(out, suffix);
  putList(out, stop);
  put(out, static_cast<uint32_t>(vocab.size()));
  for (const std::string &text : vocab)
    putText<uint16_t>(out, text);
  putList(out, merges);
  put(out, static_cast<uint32_t>(added.size()));
  for (const AddedToken &token : added) {
    put(out, token.id);
    put(out, packBits(optionsOfToken(token)));
    putText<uint16_t>(out, token.text);
  }
  if (hasPieces(model)) {
    put(out, packBits(pieceOptionsOf(*this)));
    put(out, spaceMarks);
    put(out, leadingSpace);
    putList(out, scores);
    putList(out, kinds);
  }
  return out;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// An unknown bit is an error: it means a newer writer, whose option would be
/// ignored.
template <typename Options>
static Status unpackBits(uint8_t bits, const char *what,
                         const Options &options) {
  if (bits >> options.size())
    return Status::error(Code::BadFile, "%s: 0x%02x has unknown bits", what,
                         bits);
  for (size_t i = 0; i < options.size(); ++i)
    *options[i] = bits >> i & 1;
  return {};
}

/// `last` is the last value of the enumeration.
template <typename Enum>
static Status readEnum(Cursor &cursor, const char *what, Enum last, Enum &out) {
  uint8_t value = 0;
  GIST_TRY(cursor.read(what, value));
  if (value > static_cast<uint8_t>(last))
    return Status::error(Code::BadFile, "%s: %u is not known", what, value);
  out = static_cast<Enum>(value);
  return {};
}

template <typename Size>
static Status readSizedText(Cursor &cursor, const char *what,
                            std::string &out) {
  Size size = 0;
  GIST_TRY(cursor.read(what, size));
  Bytes bytes;
  GIST_TRY(cursor.take(size, what, bytes));
  out = bytes.text();
  return {};
}

/// Reads a count of entries that take at least `entrySize` bytes each, so that
/// no more is allocated than the file could fill.
static Status readCount(Cursor &cursor, const char *what, uint64_t entrySize,
                        uint32_t &count) {
  GIST_TRY(cursor.read(what, count));
  if (count > cursor.left() / entrySize)
    return Status::error(Code::BadFile,
                         "%s: %u entries do not fit in %" PRIu64 " bytes", what,
                         count, cursor.left());
  return {};
}

template <typename T>
static Status readList(Cursor &cursor, const char *what, std::vector<T> &list) {
  uint32_t count = 0;
  GIST_TRY(readCount(cursor, what, sizeof(T), count));
  Bytes bytes;
  GIST_TRY(cursor.take(uint64_t{count} * sizeof(T), what, bytes));
  list.resize(count);
  if (count)
    std::memcpy(list.data(), bytes.data, bytes.size);
  return {};
}

static Status readAdded(Cursor &cursor, std::vector<AddedToken> &added) {
  const char *what = "tokenizer's added tokens";
  uint32_t count = 0;
  GIST_TRY(readCount(cursor, what, 7, count)); // Id, bits, length.
  added.resize(count);
  for (AddedToken &token : added) {
    uint8_t bits = 0;
    GIST_TRY(cursor.read(what, token.id));
    GIST_TRY(cursor.read(what, bits));
    GIST_TRY(unpackBits(bits, what, optionsOfToken(token)));
    GIST_TRY(readSizedText<uint16_t>(cursor, what, token.text));
  }
  return {};
}

static Status readPieces(Cursor &cursor, TokenizerSpec &spec) {
  uint8_t bits = 0;
  GIST_TRY(cursor.read("tokenizer's options of pieces", bits));
  GIST_TRY(
      unpackBits(bits, "tokenizer's options of pieces", pieceOptionsOf(spec)));
  GIST_TRY(readEnum(cursor, "tokenizer's space marks", SpaceMarks::Always,
                    spec.spaceMarks));
  GIST_TRY(readEnum(cursor, "tokenizer's leading space",
                    LeadingSpace::DropInFirstToken, spec.leadingSpace));
  GIST_TRY(readList(cursor, "tokenizer's scores", spec.scores));
  return readList(cursor, "tokenizer's kinds of pieces", spec.kinds);
}

Status TokenizerSpec::deserialize(Bytes bytes, TokenizerSpec &spec) {
  Cursor cursor(bytes);
  TokenizerSpec result;
  uint32_t version = 0;
  GIST_TRY(cursor.read("tokenizer's version", version));
  if (version != kFormatVersion)
    return Status::error(Code::Unsupported,
                         "tokenizer: the section has format %u, but this "
                         "runtime reads format %u; compile the model again",
                         version, kFormatVersion);
  GIST_TRY(readEnum(cursor, "tokenizer's model", TokenizerModel::Unigram,
                    result.model));
  GIST_TRY(readEnum(cursor, "tokenizer's split", TokenizerSplit::Qwen2,
                    result.split));
  GIST_TRY(readEnum(cursor, "tokenizer's normalizer",
                    TokenizerNormalizer::Spaces, result.normalizer));
  uint8_t bits = 0;
  GIST_TRY(cursor.read("tokenizer's options", bits));
  GIST_TRY(unpackBits(bits, "tokenizer's options", optionsOf(result)));
  GIST_TRY(cursor.read("tokenizer's word length", result.maxWordChars));
  for (int32_t *id :
       {&result.bos, &result.eos, &result.unknown, &result.pad, &result.mask})
    GIST_TRY(cursor.read("tokenizer's special tokens", *id));
  GIST_TRY(
      readSizedText<uint16_t>(cursor, "tokenizer's prefix", result.wordPrefix));
  GIST_TRY(readSizedText<uint32_t>(cursor, "tokenizer's template",
                                   result.chatTemplate));
  GIST_TRY(readList(cursor, "tokenizer's first tokens", result.prefix));
  GIST_TRY(readList(cursor, "tokenizer's last tokens", result.suffix));
  GIST_TRY(readList(cursor, "tokenizer's stop tokens", result.stop));
  uint32_t count = 0;
  GIST_TRY(readCount(cursor, "tokenizer's vocabulary", 2, count));
  result.vocab.resize(count);
  for (std::string &text : result.vocab)
    GIST_TRY(readSizedText<uint16_t>(cursor, "tokenizer's vocabulary", text));
  GIST_TRY(readList(cursor, "tokenizer's merges", result.merges));
  GIST_TRY(readAdded(cursor, result.added));
  if (hasPieces(result.model))
    GIST_TRY(readPieces(cursor, result));
  // Bytes behind the end show that reader and writer disagree.
  if (cursor.left())
    return Status::error(Code::BadFile,
                         "tokenizer: %" PRIu64 " bytes are left after its end",
                         cursor.left());
  // All users of a spec rely on verify(), so nothing is handed out before.
  GIST_TRY(result.verify());
  spec = std::move(result);
  return {};
}
