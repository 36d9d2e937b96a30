//===- SentencePiece.cpp - Reads tokenizer.model --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of sentencepiece_model.proto that a tokenizer needs. A message is a
// list of fields: a key, which says the number and the kind of what follows,
// and the value. Fields that are not known are passed over.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/SentencePiece.h"

#include "runtime/text/TokenizerSpec.h"

#include <utility>

using namespace gist;

namespace {
/// The wire types of Protocol Buffers. Groups (3 and 4) are obsolete, and the
/// schema has none.
enum WireType { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

/// One field of a message. Which value counts depends on the wire type.
struct Field {
  uint64_t number = 0;
  unsigned wireType = 0;
  uint64_t integer = 0;
  float real = 0;
  Bytes bytes;

  bool is(uint64_t wanted, WireType type) const {
    return number == wanted && wireType == type;
  }
};
} // namespace

/// Seven bits in each byte, the lowest first; at most ten bytes.
static Status readVarint(Cursor &cursor, uint64_t &value) {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    uint8_t byte = 0;
    GIST_TRY(cursor.read("tokenizer.model: number", byte));
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (!(byte & 0x80))
      return {};
  }
  return Status::error(Code::BadFile,
                       "tokenizer.model: a number has more than ten bytes");
}

static Status readField(Cursor &cursor, Field &field) {
  uint64_t key = 0;
  GIST_TRY(readVarint(cursor, key));
  field.number = key >> 3;
  field.wireType = key & 7;
  switch (field.wireType) {
  case kVarint:
    return readVarint(cursor, field.integer);
  case kFixed64:
    return cursor.take(8, "tokenizer.model: field", field.bytes);
  case kFixed32:
    return cursor.read("tokenizer.model: field", field.real);
  case kLength:
    GIST_TRY(readVarint(cursor, field.integer));
    return cursor.take(field.integer, "tokenizer.model: field", field.bytes);
  default:
    return Status::error(Code::BadFile,
                         "tokenizer.model: a field has the wire type %u, which "
                         "is not known; is the file a SentencePiece model?",
                         field.wireType);
  }
}

/// Calls `visit` with each field of a message.
template <typename Visit>
static Status forEachField(Bytes message, Visit visit) {
  Cursor cursor(message);
  while (cursor.left()) {
    Field field;
    GIST_TRY(readField(cursor, field));
    GIST_TRY(visit(field));
  }
  return {};
}

static Status readPiece(Bytes message, RawPieces &pieces) {
  std::string text;
  float score = 0;
  // The schema's default, NORMAL, which files leave out.
  int32_t type = 1;
  GIST_TRY(forEachField(message, [&](const Field &field) -> Status {
    if (field.is(1, kLength))
      text = field.bytes.text();
    else if (field.is(2, kFixed32))
      score = field.real;
    else if (field.is(3, kVarint))
      // The schema knows 1 to 6. 0 is invalid, so that setPieces refuses it.
      type = field.integer <= 6 ? static_cast<int32_t>(field.integer) : 0;
    else if (field.number <= 3)
      return Status::error(Code::BadFile,
                           "tokenizer.model: field %d of piece %zu is of the "
                           "wrong type",
                           static_cast<int>(field.number), pieces.texts.size());
    return {};
  }));
  // A piece may take two bytes of the file and much more memory here.
  if (pieces.texts.size() == TokenizerSpec::kMaxTokens)
    return Status::error(Code::BadFile,
                         "tokenizer.model: there are more than %u pieces",
                         TokenizerSpec::kMaxTokens);
  pieces.texts.push_back(std::move(text));
  pieces.scores.push_back(score);
  pieces.types.push_back(type);
  return {};
}

static Status readTrainer(Bytes message, SentencePieceFile &out) {
  return forEachField(message, [&](const Field &field) -> Status {
    // Negative numbers are stored in 64 bits.
    auto number = static_cast<int64_t>(field.integer);
    if (field.is(3, kVarint))
      out.modelType = number;
    else if (field.is(24, kVarint))
      out.spaceIsSuffix = number != 0;
    else if (field.is(35, kVarint))
      out.byteFallback = number != 0;
    else if (field.is(41, kVarint))
      out.bos = number;
    else if (field.is(42, kVarint))
      out.eos = number;
    else if (field.is(43, kVarint))
      out.pad = number;
    return {};
  });
}

static Status readNormalizer(Bytes message, SentencePieceFile &out) {
  return forEachField(message, [&](const Field &field) -> Status {
    if (field.is(1, kLength))
      out.normalizer = field.bytes.text();
    else if (field.is(2, kLength))
      out.hasCharacterMap = field.bytes.size != 0;
    else if (field.is(3, kVarint))
      out.addDummyPrefix = field.integer != 0;
    else if (field.is(4, kVarint))
      out.removeExtraSpaces = field.integer != 0;
    else if (field.is(5, kVarint))
      out.escapeSpaces = field.integer != 0;
    return {};
  });
}

Status gist::readSentencePiece(Bytes file, SentencePieceFile &out) {
  SentencePieceFile result;
  GIST_TRY(forEachField(file, [&](const Field &field) -> Status {
    if (field.is(1, kLength))
      return readPiece(field.bytes, result.pieces);
    if (field.is(2, kLength))
      return readTrainer(field.bytes, result);
    if (field.is(3, kLength))
      return readNormalizer(field.bytes, result);
    return {};
  }));
  if (result.pieces.texts.empty())
    return Status::error(Code::BadFile, "tokenizer.model has no pieces");
  out = std::move(result);
  return {};
}
