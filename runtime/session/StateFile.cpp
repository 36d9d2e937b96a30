//===- StateFile.cpp - What a session has seen, in a file -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A header, the tokens, and the state that the model has after them.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Adapters.h"
#include "runtime/session/SequenceState.h"
#include "runtime/session/Session.h"
#include "runtime/support/AtomicFile.h"
#include "runtime/support/Hash.h"
#include "runtime/support/MappedFile.h"
#include "runtime/support/OutOfMemory.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

using namespace gist;

namespace {
struct StateHeader {
  char magic[8] = {'G', 'I', 'S', 'T', 'S', 'E', 'E', 'N'};
  uint64_t version = 1;
  char module[64] = {}; ///< its fingerprint
  int64_t tokens = 0;
  uint64_t hash = 0; ///< XXH64 of all that follows
};
} // namespace

static Bytes bytesOf(std::span<const int32_t> tokens) {
  return {reinterpret_cast<const uint8_t *>(tokens.data()),
          tokens.size_bytes()};
}

Status Session::saveState(const std::string &path,
                          std::span<const int32_t> tokens) try {
  if (static_cast<int64_t>(tokens.size()) != past)
    return Status::error(Code::BadArgument,
                         "%zu tokens were given, but the session has seen "
                         "%" PRId64,
                         tokens.size(), past);
  std::vector<int32_t> numbers;
  GIST_TRY(numbersOf(tokens, numbers));
  std::vector<MemoryMap::Range> pieces;
  GIST_TRY(findState(past, pieces));
  GIST_TRY(device.synchronize());
  StateHeader header;
  header.tokens = past;
  const std::string &fingerprint = source->fingerprint();
  std::copy_n(fingerprint.begin(),
              std::min(fingerprint.size(), sizeof header.module),
              header.module);
  Bytes head{reinterpret_cast<const uint8_t *>(&header), sizeof header};
  AtomicFile file;
  Hasher hasher;
  GIST_TRY(file.open(path));
  GIST_TRY(file.write(head));
  auto add = [&](Bytes bytes) {
    hasher.update(bytes);
    return file.write(bytes);
  };
  GIST_TRY(add(bytesOf(numbers)));
  std::vector<uint8_t> content;
  for (const MemoryMap::Range &piece : pieces) {
    content.resize(piece.size);
    GIST_TRY(device.download(piece.address, content.data(), content.size()));
    GIST_TRY(add({content.data(), content.size()}));
  }
  header.hash = hasher.finish();
  GIST_TRY(file.rewrite(0, head));
  return file.commit();
}
GIST_CATCH_OUT_OF_MEMORY

/// Checks everything in a file but the state itself.
static Status readHead(Bytes file, const Module &module, int64_t capacity,
                       std::vector<int32_t> &tokens, Bytes &state) {
  StateHeader header, expected;
  Cursor cursor(file);
  GIST_TRY(cursor.read("header", header));
  if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0)
    return Status::error(Code::BadFile, "not a file of a session's state");
  if (header.version != expected.version)
    return Status::error(Code::BadFile,
                         "the file has version %" PRIu64 "; expected %" PRIu64,
                         header.version, expected.version);
  if (module.fingerprint() !=
      std::string_view(header.module, sizeof header.module))
    return Status::error(Code::BadFile,
                         "the state is of another module; expected one that a "
                         "session of this module has written");
  if (header.tokens < 0 || header.tokens > capacity)
    return Status::error(Code::BadArgument,
                         "the state is of %" PRId64
                         " tokens, but the session can hold %" PRId64,
                         header.tokens, capacity);
  Bytes rest;
  GIST_TRY(file.slice(cursor.offset(), cursor.left(), "state", rest));
  if (hashBytes(rest) != header.hash)
    return Status::error(Code::BadFile,
                         "the file is damaged: its hash is another");
  Bytes ids;
  GIST_TRY(cursor.take(static_cast<uint64_t>(header.tokens) * sizeof(int32_t),
                       "tokens", ids));
  tokens.resize(static_cast<size_t>(header.tokens));
  if (!tokens.empty())
    std::memcpy(tokens.data(), ids.data, ids.size);
  GIST_TRY(checkNumbers(tokens, module.spec().model));
  return cursor.take(cursor.left(), "state", state);
}

Status Session::loadState(const std::string &path,
                          std::vector<int32_t> &tokens) try {
  GIST_TRY(reset());
  std::unique_ptr<MappedFile> file;
  GIST_TRY(MappedFile::open(path, file));
  std::vector<int32_t> seen;
  Bytes content;
  GIST_TRY(readHead(file->bytes(), *source, context, seen, content).in(path));
  StateLayout layout;
  GIST_TRY(StateLayout::create(*source, layout));
  if (!layout.isByPosition() && !options.trust)
    return Status::error(
        Code::Untrusted,
        "%s: the state of this module steers its kernels, so a file is not "
        "believed; if you trust it as you would trust a program, say so with "
        "--trust (in C gist_module_trust, in Python trust=True)",
        path.c_str());
  std::vector<MemoryMap::Range> pieces;
  GIST_TRY(findState(static_cast<int64_t>(seen.size()), pieces));
  uint64_t size = 0;
  for (const MemoryMap::Range &piece : pieces)
    size += piece.size;
  if (size != content.size)
    return Status::error(
        Code::BadFile, "%s: the state has %" PRIu64 " bytes; expected %" PRIu64,
        path.c_str(), content.size, size);
  Cursor cursor(content);
  for (const MemoryMap::Range &piece : pieces) {
    Bytes bytes;
    GIST_TRY(cursor.take(piece.size, "state", bytes));
    GIST_TRY(device.upload(piece.address, bytes));
  }
  GIST_TRY(device.synchronize()); // The file is closed then.
  past = static_cast<int64_t>(seen.size());
  // A state is of one adapter, which goes with it.
  adapter = seen.empty() ? adapter : adapterOf(seen.back());
  std::transform(seen.begin(), seen.end(), seen.begin(), tokenOf);
  tokens = std::move(seen);
  return {};
}
GIST_CATCH_OUT_OF_MEMORY
