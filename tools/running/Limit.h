//===- Limit.h - When a long measurement must end ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_LIMIT_H
#define GIST_TOOLS_RUNNING_LIMIT_H

#include "tools/running/Interrupt.h"

#include <atomic>
#include <chrono>
#include <limits>

namespace gist::run {

/// The time that a search may take, from now on, and Control-C. Measurements
/// ask it again and again, and give up when it is over.
class Limit {
public:
  /// 0: no limit of time.
  explicit Limit(double seconds = 0) : seconds(seconds) {}

  /// True when the time is over or the user wants an end. Several threads may
  /// ask.
  bool isOver() const {
    bool over = interrupt.requested() || left() <= 0;
    if (over)
      stopped = true;
    return over;
  }
  /// A caller was told that it is over, so something was left out.
  bool hasStopped() const { return stopped; }
  bool isInterrupted() const { return interrupt.requested(); }

  /// Keeps time for what comes later; 0 gives it back.
  void reserve(double time) {
    reserved = time;
    stopped = false;
  }
  double allowed() const { return seconds; }
  double taken() const {
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - started;
    return time.count();
  }
  /// Seconds; infinitely many without a limit.
  double left() const {
    return seconds > 0 ? seconds - reserved - taken()
                       : std::numeric_limits<double>::infinity();
  }

private:
  std::chrono::steady_clock::time_point started =
      std::chrono::steady_clock::now();
  double seconds, reserved = 0;
  mutable std::atomic<bool> stopped = false;
  /// Lives as long as the limit: Control-C ends the search with what it has
  /// found, and a second one ends the program.
  InterruptScope interrupt;
};

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_LIMIT_H
