//===- ThreadRanks.cpp - Ranks that are threads of one process ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every rank posts where its bytes are, waits for the others, copies, and waits
// again: bytes must stay valid until all have read them.
//
//===----------------------------------------------------------------------===//

#include "runtime/ranks/ThreadRanks.h"

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>

using namespace gist;

namespace {
/// What the threads share.
struct Table {
  explicit Table(uint32_t size) : size(size), posts(size) {}

  const uint32_t size;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::span<const Bytes>> posts; ///< by rank
  std::vector<bool> isHere = std::vector<bool>(size);
  uint32_t waiting = 0;
  uint64_t round = 0; ///< of waiting
  /// Ranks that may still read what others have posted, which must stay.
  uint32_t reading = 0;
  Status failure; ///< of the first rank that cannot go on
};

class ThreadRank final : public Communicator {
public:
  ThreadRank(std::shared_ptr<Table> table, uint32_t number,
             const CommunicatorOptions &limits)
      : Communicator(limits), table(std::move(table)), number(number) {}
  ~ThreadRank() override {
    // Ranks that still wait for this one must fail.
    fail(Status::error(Code::Io, "it has ended"));
  }

  uint32_t rank() const override { return number; }
  uint32_t size() const override { return table->size; }

  Status exchange(std::span<const Bytes> to, std::span<const Window> from,
                  Patience patience) override {
    {
      std::lock_guard lock(table->mutex);
      table->posts[number] = to;
    }
    GIST_TRY(meet(patience, /*toRead=*/true));
    Status status;
    for (uint32_t other = 0; other < table->size; ++other) {
      if (other == number)
        continue;
      Bytes sent = table->posts[other][number];
      if (sent.size != from[other].size)
        status = Status::error(
            Code::Io, "rank %u sent %llu bytes, but %llu were expected", other,
            static_cast<unsigned long long>(sent.size),
            static_cast<unsigned long long>(from[other].size));
      else if (sent.size != 0)
        std::memcpy(from[other].data, sent.data, sent.size);
    }
    if (!status.ok())
      fail(status);
    // Also one that fails leaves last: others read what it has posted.
    {
      std::unique_lock lock(table->mutex);
      if (--table->reading == 0)
        table->changed.notify_all();
      table->changed.wait(lock, [&] { return table->reading == 0; });
    }
    return meet(Patience::Bounded);
  }

  Status check() const override {
    std::lock_guard lock(table->mutex);
    return table->failure;
  }

  void fail(const Status &why) override {
    std::lock_guard lock(table->mutex);
    if (table->failure.ok()) {
      table->failure = why;
      table->failure.text =
          "rank " + std::to_string(number) + " cannot go on: " + why.text;
    }
    table->changed.notify_all();
  }

private:
  /// Returns when all ranks are here.
  Status meet(Patience patience, bool toRead = false) {
    std::unique_lock lock(table->mutex);
    if (!table->failure.ok())
      return table->failure;
    uint64_t round = table->round;
    table->isHere[number] = true;
    if (++table->waiting == table->size) {
      table->waiting = 0;
      table->isHere.assign(table->size, false);
      ++table->round;
      table->reading = toRead ? table->size : 0;
      table->changed.notify_all();
      return {};
    }
    auto isOver = [&] { return table->round != round || !table->failure.ok(); };
    if (patience == Patience::Endless) {
      table->changed.wait(lock, isOver);
    } else if (!table->changed.wait_for(lock, limits.timeout, isOver)) {
      uint32_t missing = 0;
      while (table->isHere[missing])
        ++missing;
      table->failure = Status::error(
          Code::Io, "rank %u has not answered for %lld ms", missing,
          static_cast<long long>(limits.timeout.count()));
      table->changed.notify_all();
    }
    return table->round != round ? Status() : table->failure;
  }

  std::shared_ptr<Table> table;
  uint32_t number;
};
} // namespace

std::vector<std::unique_ptr<Communicator>>
gist::makeThreadRanks(uint32_t count, const CommunicatorOptions &options) {
  auto table = std::make_shared<Table>(count);
  std::vector<std::unique_ptr<Communicator>> ranks;
  for (uint32_t number = 0; number < count; ++number)
    ranks.push_back(std::make_unique<ThreadRank>(table, number, options));
  return ranks;
}
