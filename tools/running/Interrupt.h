//===- Interrupt.h - Control-C ends an answer, not the program --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_INTERRUPT_H
#define GIST_TOOLS_RUNNING_INTERRUPT_H

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace gist::run {

/// While this lives, the first Control-C sets a flag; the second ends the
/// program as usual. Signals that come together are one: `timeout -s INT` sends
/// its signal to the program and once more to the program's group.
class InterruptScope {
public:
  InterruptScope() {
    first() = 0;
    old = std::signal(SIGINT, handle);
  }
  ~InterruptScope() { std::signal(SIGINT, old); }
  InterruptScope(const InterruptScope &) = delete;
  InterruptScope &operator=(const InterruptScope &) = delete;

  bool requested() const { return first() != 0; }

private:
  /// When the first came, or 0. A function, so that it lives in a header
  /// without a source file.
  static std::atomic<int64_t> &first() {
    static std::atomic<int64_t> value = 0;
    return value;
  }

  /// A handler may do little: it sets a flag, and a later signal ends a program
  /// that hangs.
  static void handle(int number) {
    static_assert(std::atomic<int64_t>::is_always_lock_free);
    constexpr int64_t kTogether = 200; // milliseconds
    timespec time = {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    int64_t now = static_cast<int64_t>(time.tv_sec) * 1000 +
                  static_cast<int64_t>(time.tv_nsec) / 1000000 + 1;
    int64_t none = 0;
    if (first().compare_exchange_strong(none, now) || now - none <= kTogether)
      return;
    std::signal(number, SIG_DFL);
    std::raise(number);
  }

  void (*old)(int);
};

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_INTERRUPT_H
