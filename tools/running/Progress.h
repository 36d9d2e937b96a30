//===- Progress.h - How far a long search is --------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_PROGRESS_H
#define GIST_TOOLS_RUNNING_PROGRESS_H

#include "tools/running/Limit.h"

#include <chrono>
#include <cstddef>
#include <string>

namespace gist::plan {

/// Tells people on standard error how much is done and how long the rest may
/// take. One line is redrawn on a terminal; elsewhere a line appears now and
/// then.
class Progress {
public:
  /// `done` of `total` were there before. The rest takes no longer than the
  /// limit allows, where there is one.
  Progress(std::string what, size_t total, size_t done = 0,
           const run::Limit *limit = nullptr);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  void advance(size_t count = 1);
  /// Nothing of `total` is left: what was expected was not needed.
  void finish() { advance(total - done); }
  /// A line of text, above the bar.
  void say(const std::string &line);

private:
  using Clock = std::chrono::steady_clock;

  void draw();

  std::string what;
  size_t total, done, before;
  const run::Limit *limit;
  Clock::time_point started, drawn;
  bool isTerminal;
};

} // namespace gist::plan

#endif // GIST_TOOLS_RUNNING_PROGRESS_H
