//===- Progress.h - Says what is being done ---------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_COMPILE_PROGRESS_H
#define GIST_TOOLS_GIST_COMPILE_PROGRESS_H

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace gist {

/// The steps of a run, on standard error: a bar on a terminal, lines elsewhere.
class Progress {
public:
  Progress(unsigned steps, bool shows, bool times);
  ~Progress();

  /// Ends the step before and begins this one.
  void begin(const std::string &step);
  /// Ends the last step and, when asked for, says how long each took.
  void finish();

private:
  void endStep();

  using Clock = std::chrono::steady_clock;
  unsigned steps, current = 0;
  bool shows, times, isTerminal;
  std::string name;
  Clock::time_point start;
  std::vector<std::pair<std::string, double>> seconds;
};

} // namespace gist

#endif // GIST_TOOLS_GIST_COMPILE_PROGRESS_H
