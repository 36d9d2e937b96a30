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

/// What a run took, in nanoseconds, and did.
struct RunTime {
  int64_t wall = 0;
  int64_t lost = 0; ///< how long the thread that lost most wanted to run
  uint64_t tasks = 0;
};

/// Chooses how many threads the next run takes. Threads that wait for one
/// another are as fast as the slowest: where another process takes one core
/// half of the time, one thread less is often faster; where others take all
/// cores, or a quota stops all threads together, it is slower. So a loss is the
/// reason to try, and the rate of tasks says what stays.
class ThreadGovernor {
public:
  explicit ThreadGovernor(unsigned most) : most(most), current(most) {}

  unsigned threads() const { return current; }

  /// Notes a run that ended at `now`.
  void note(int64_t now, const RunTime &run);

  /// A judgement takes this much time of runs.
  static constexpr int64_t kWindow = 40'000'000;
  /// This part of a window is too much to lose, in percent.
  static constexpr int64_t kTooMuch = 15;
  /// The first attempt comes at once, the next one after this; the pause
  /// doubles with every attempt that fails.
  static constexpr int64_t kFirstPause = 250'000'000;
  static constexpr int64_t kLongestPause = 8'000'000'000;

private:
  /// Runs with the same number of threads, one after the other.
  struct Window {
    int64_t runs = 0;
    RunTime sum;

    double rate() const {
      return static_cast<double>(sum.tasks) / static_cast<double>(sum.wall);
    }
    bool isBusy() const { return sum.lost * 100 > kTooMuch * sum.wall; }
    bool hasRunsLike(const Window &other) const;
  };

  bool isBetter() const;
  int chooseDirection() const;

  unsigned most, current;
  Window window;
  Window before;       ///< the one that the attempt is compared with
  int direction = 0;   ///< of the attempt: a thread more or less; 0: no attempt
  int lastFailure = 0; ///< the direction of the last attempt, if it failed
  int64_t pause = kFirstPause, nextAttempt = 0;
};

} // namespace gist

#endif // GIST_RUNTIME_DEVICE_THREADGOVERNOR_H
