//===- ThreadGovernor.cpp - How many threads a busy machine has -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/ThreadGovernor.h"

#include <algorithm>

using namespace gist;

void ThreadGovernor::note(int64_t now, int64_t wall, int64_t lost) {
  windowWall += wall;
  windowLost += lost;
  // The loss is held against a whole window even before one is over. One short
  // run that lost its core once does not count as busy, and a heavy loss does
  // not have to wait for the window's end.
  bool isBusy = windowLost * 100 > kTooMuch * std::max(windowWall, kWindow);
  bool isDone = isBusy || windowWall >= kWindow;
  if (isDone)
    windowWall = windowLost = 0;
  if (isBusy) {
    current = std::max(current - 1, 1u);
    // Only a failed attempt makes the pause longer. A machine that gets busy by
    // itself says nothing about how soon it is free again.
    if (trying)
      pause = std::min(2 * pause, kLongestPause);
    trying = false;
    nextAttempt = now + pause;
  } else if (isDone && trying) {
    // It went well: the next thread need not wait as long.
    pause = std::max(pause / 2, kFirstPause);
    trying = false;
    nextAttempt = now + pause;
  }
  // The new number of threads is judged by runs of its own, so that the window
  // begins again.
  if (!trying && current < most && now >= nextAttempt) {
    ++current;
    trying = true;
    windowWall = windowLost = 0;
  }
}
