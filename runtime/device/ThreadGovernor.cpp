//===- ThreadGovernor.cpp - How many threads a busy machine has -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/ThreadGovernor.h"

#include <algorithm>

using namespace gist;

/// Whether both are runs of one kind: prompts and single tokens have tasks of
/// different sizes, so that their rates say nothing of threads.
bool ThreadGovernor::Window::hasRunsLike(const Window &other) const {
  double mine = static_cast<double>(sum.tasks) / static_cast<double>(runs);
  double others =
      static_cast<double>(other.sum.tasks) / static_cast<double>(other.runs);
  return std::max(mine, others) <= 1.25 * std::min(mine, others);
}

/// Whether the attempt is to stay.
bool ThreadGovernor::isBetter() const {
  if (!window.hasRunsLike(before))
    return !window.isBusy();
  // Rates scatter. Of equal ones the larger number of threads is right, unless
  // it loses time.
  double least = direction > 0 && !window.isBusy() ? 0.97 : 1.03;
  return window.rate() > least * before.rate();
}

/// The next attempt. What failed last gives way to the other direction.
int ThreadGovernor::chooseDirection() const {
  int less = window.isBusy() && current > 1 ? -1 : 0;
  int more = current < most ? 1 : 0;
  if (less != 0 && (lastFailure != -1 || more == 0))
    return less;
  return more;
}

void ThreadGovernor::note(int64_t now, const RunTime &run) {
  ++window.runs;
  window.sum.wall += run.wall;
  window.sum.lost += run.lost;
  window.sum.tasks += run.tasks;
  if (window.sum.wall < kWindow)
    return;
  if (direction != 0) {
    if (isBetter()) {
      // What goes on in the same direction need not wait.
      bool isThere = direction < 0 && !window.isBusy();
      nextAttempt = isThere ? now + pause : now;
      pause = direction > 0 ? kFirstPause : pause;
      lastFailure = 0;
    } else {
      current -= static_cast<unsigned>(direction);
      lastFailure = direction;
      nextAttempt = now + pause;
      pause = std::min(2 * pause, kLongestPause);
    }
    direction = 0;
    // A number that failed is not what the next attempt begins with.
    if (lastFailure != 0) {
      window = {};
      return;
    }
  }
  if (now >= nextAttempt)
    direction = chooseDirection();
  before = window;
  current += static_cast<unsigned>(direction);
  window = {};
}
