//===- Progress.h - How far a long search is --------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_PROGRESS_H
#define GIST_TOOLS_RUNNING_PROGRESS_H

#include <chrono>
#include <cstddef>
#include <string>

namespace gist::plan {

/// Tells people on standard error how much is done and how long the rest may
/// take. One line is redrawn on a terminal; elsewhere a line appears now and
/// then.
class Progress {
public:
  /// `done` of `total` were there before.
  Progress(std::string what, size_t total, size_t done = 0);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  void advance(size_t count = 1);

private:
  using Clock = std::chrono::steady_clock;

  void draw();

  std::string what;
  size_t total, done, before;
  Clock::time_point started, drawn;
  bool isTerminal;
};

} // namespace gist::plan

#endif // GIST_TOOLS_RUNNING_PROGRESS_H
