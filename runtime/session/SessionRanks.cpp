//===- SessionRanks.cpp - Sessions that several ranks run together --------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rank 0 decides: it has the text, draws tokens and answers. Before a call runs
// it tells the others which one, and they run theirs. So whatever uses a
// session works on several ranks without knowing of them.
//
//===----------------------------------------------------------------------===//

#include "runtime/ranks/Collectives.h"
#include "runtime/session/Batch.h"
#include "runtime/session/RankedLists.h"
#include "runtime/session/Session.h"
#include "runtime/support/OutOfMemory.h"

#include <cinttypes>

using namespace gist;

namespace {
/// What rank 0 may say.
enum class Message : uint8_t {
  Close = 0,
  Run = 1,   ///< entry, before, tokens, targets
  Reset = 2, ///< Session::reset
};
} // namespace

template <typename T>
static void write(std::vector<uint8_t> &out, std::span<const T> values) {
  auto count = static_cast<uint64_t>(values.size());
  auto append = [&](const void *data, size_t size) {
    const auto *bytes = static_cast<const uint8_t *>(data);
    out.insert(out.end(), bytes, bytes + size);
  };
  append(&count, sizeof count);
  append(values.data(), values.size_bytes());
}

/// Takes what write() has appended from the front of `in`.
template <typename T> static Status read(Bytes &in, std::vector<T> &values) {
  uint64_t count = 0;
  GIST_TRY(in.read(0, "message", count));
  Bytes content;
  if (count > in.size / sizeof(T))
    return Status::error(Code::Io, "a message of rank 0 is damaged");
  GIST_TRY(in.slice(sizeof count, count * sizeof(T), "message", content));
  values.resize(count);
  if (count != 0)
    std::memcpy(values.data(), content.data, content.size);
  return in.slice(sizeof count + content.size,
                  in.size - sizeof count - content.size, "message", in);
}

bool Session::leads() const {
  return rankedLists && options.ranks->rank() == 0;
}

Status Session::checkRanks() const {
  uint32_t wanted = source->ranks().count;
  uint32_t given = options.ranks ? options.ranks->size() : 1;
  if (wanted == given)
    return {};
  return Status::error(
      Code::BadArgument,
      "the module is compiled for %" PRIu32 " rank%s, but it runs on %" PRIu32
      "; 'gist-compile --ranks %" PRIu32 "' makes one for that",
      wanted, wanted == 1 ? "" : "s", given, given);
}

Status Session::refuseRanks(const char *what) const {
  if (!rankedLists)
    return {};
  return Status::error(Code::Unsupported,
                       "%s is not possible with a module for %" PRIu32 " ranks",
                       what, source->ranks().count);
}

Session::~Session() {
  if (!leads())
    return;
  std::vector<uint8_t> message = {static_cast<uint8_t>(Message::Close)};
  // Ranks that are gone need not be told.
  (void)broadcast(*options.ranks, message, Patience::Bounded).ok();
}

Status Session::announceReset() const {
  if (!leads())
    return {};
  std::vector<uint8_t> message = {static_cast<uint8_t>(Message::Reset)};
  return broadcast(*options.ranks, message, Patience::Bounded);
}

Status Session::announceRun(std::string_view entry,
                            std::span<const int32_t> tokens,
                            std::span<const int32_t> targets,
                            int64_t before) const {
  if (!leads())
    return {};
  std::vector<uint8_t> message = {static_cast<uint8_t>(Message::Run)};
  write(message, std::span<const char>(entry));
  write(message, std::span<const int64_t>(&before, 1));
  write(message, tokens);
  write(message, targets);
  return broadcast(*options.ranks, message, Patience::Bounded);
}

Status Session::followOne(Bytes message, bool &isClosed) {
  uint8_t kind = 0;
  GIST_TRY(message.read(0, "message", kind));
  GIST_TRY(message.slice(1, message.size - 1, "message", message));
  switch (static_cast<Message>(kind)) {
  case Message::Close:
    isClosed = true;
    return {};
  case Message::Reset:
    return reset();
  case Message::Run: {
    std::vector<char> entry;
    std::vector<int64_t> before;
    std::vector<int32_t> tokens, targets;
    GIST_TRY(read(message, entry));
    GIST_TRY(read(message, before));
    GIST_TRY(read(message, tokens));
    GIST_TRY(read(message, targets));
    if (before.size() != 1)
      return Status::error(Code::Io, "a message of rank 0 is damaged");
    return runTokens({entry.data(), entry.size()}, tokens, targets, before[0]);
  }
  }
  return Status::error(Code::Io, "rank 0 sent a message of unknown kind %u",
                       kind);
}

Status Session::follow() try {
  std::vector<uint8_t> message;
  for (bool isClosed = false; !isClosed;) {
    GIST_TRY(broadcast(*options.ranks, message, Patience::Endless));
    WorkWatch::Scope scope = rankedLists->watch();
    GIST_TRY(followOne({message.data(), message.size()}, isClosed));
    // The next message may need what this call still reads.
    GIST_TRY(device.synchronize());
  }
  return {};
}
GIST_CATCH_OUT_OF_MEMORY
