//===- ThreadGovernor.h - How many threads a busy machine has ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_DEVICE_THREADGOVERNOR_H
#define GIST_RUNTIME_DEVICE_THREADGOVERNOR_H

#include <cstdint>

namespace gist {

/// Chooses how many threads the next run takes, from what the runs before it
/// lost. Threads that wait for one another are as fast as the slowest: where
/// another process takes a core half of the time, all of them run at half the
/// speed, and one thread less is faster. Times are in nanoseconds.
class ThreadGovernor {
public:
  explicit ThreadGovernor(unsigned most) : most(most), current(most) {}

  unsigned threads() const { return current; }

  /// Notes a run that ended at `now` and took `wall`; `lost` is how long the
  /// thread that lost most wanted to run and could not.
  void note(int64_t now, int64_t wall, int64_t lost);

  /// A judgement takes this much time of runs, or less where much is lost.
  static constexpr int64_t kWindow = 40'000'000;
  /// This part of a window is too much to lose, in percent.
  static constexpr int64_t kTooMuch = 15;
  /// The first attempt with a thread more comes after this; the pause doubles
  /// with every attempt that fails.
  static constexpr int64_t kFirstPause = 250'000'000;
  static constexpr int64_t kLongestPause = 8'000'000'000;

private:
  unsigned most, current;
  bool trying = false; ///< with a thread more than before
  int64_t windowWall = 0, windowLost = 0;
  int64_t pause = kFirstPause, nextAttempt = 0;
};

} // namespace gist

#endif // GIST_RUNTIME_DEVICE_THREADGOVERNOR_H
