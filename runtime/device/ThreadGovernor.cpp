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
  bool isBusy = windowLost * 100 > kTooMuch * std::max(windowWall, kWindow);
  bool isDone = isBusy || windowWall >= kWindow;
  if (isDone)
    windowWall = windowLost = 0;
  if (isBusy) {
    current = std::max(current - 1, 1u);
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
  if (!trying && current < most && now >= nextAttempt) {
    ++current;
    trying = true;
    windowWall = windowLost = 0;
  }
}
