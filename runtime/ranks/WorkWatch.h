//===- WorkWatch.h - Whether a rank gets on with its work -------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A process may live while the thread that works hangs: in a kernel without an
// end, on a lock, in a driver. That thread reports its progress as a count that
// grows; another thread watches the count. How long work takes does not matter,
// so a long prompt is never taken for a fault.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_RANKS_WORKWATCH_H
#define GIST_RUNTIME_RANKS_WORKWATCH_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

namespace gist {

class WorkWatch {
public:
  using Clock = std::chrono::steady_clock;
  /// Any thread may call it while the work is watched.
  using Count = std::function<uint64_t()>;

  /// Work that is watched while this lives, in place of what is around it.
  class Scope {
  public:
    /// It hangs when `count` stays the same for `limit`.
    Scope(WorkWatch &watch, Count count, std::chrono::milliseconds limit)
        : watch(watch) {
      outer = watch.exchange({std::move(count), limit});
    }
    ~Scope() { watch.exchange(std::move(outer)); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    friend class WorkWatch;
    struct Work {
      Count count = {}; ///< empty: nothing is watched
      std::chrono::milliseconds limit = {};
    };
    WorkWatch &watch;
    Work outer;
  };

  /// How long the work has made no progress, if that is over its limit; zero
  /// otherwise. Called repeatedly by one thread.
  std::chrono::milliseconds hangsFor() {
    std::lock_guard lock(mutex);
    Clock::time_point now = Clock::now();
    uint64_t count = work.count ? work.count() : 0;
    if (!work.count || hasChanged || count != seen) {
      hasChanged = false;
      seen = count;
      since = now;
      return {};
    }
    auto time =
        std::chrono::duration_cast<std::chrono::milliseconds>(now - since);
    return time > work.limit ? time : std::chrono::milliseconds();
  }

  /// The watching thread was suspended itself.
  void restart() {
    std::lock_guard lock(mutex);
    hasChanged = true;
  }

private:
  Scope::Work exchange(Scope::Work next) {
    std::lock_guard lock(mutex);
    hasChanged = true;
    return std::exchange(work, std::move(next));
  }

  std::mutex mutex;
  Scope::Work work;
  bool hasChanged = true; ///< since the last look
  uint64_t seen = 0;
  Clock::time_point since;
};

} // namespace gist

#endif // GIST_RUNTIME_RANKS_WORKWATCH_H
