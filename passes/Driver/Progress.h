//===- Progress.h - How far the compilation is ------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_PROGRESS_H
#define GIST_PASSES_DRIVER_PROGRESS_H

#include "passes/Driver/Options.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace gist::compile {

/// Shows on standard error which stage runs, and keeps the times. One line is
/// redrawn on a terminal.
class Progress {
public:
  explicit Progress(ShowProgress show);
  // Clears the bar, so that later output begins on an empty line.
  ~Progress() { clear(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// How many stages there will be.
  void expect(size_t stages) { total = stages; }
  /// Ends the stage that runs, if one does, and starts another.
  void begin(std::string stage);
  void end();
  /// Takes the bar off the terminal, so that something else can be printed.
  void clear();

  /// Prints a warning on standard error, or hands it to the listener if there
  /// is one.
  void warn(const std::string &sentence);
  void tellWarnings(std::function<void(const std::string &sentence)> to) {
    warningSink = std::move(to);
  }

  /// The time of every stage and the largest memory of the process.
  void printTiming() const;

private:
  using Clock = std::chrono::steady_clock;
  struct Stage {
    std::string name;
    double seconds;
  };

  void draw(const std::string &stage);

  std::function<void(const std::string &)> warningSink;
  std::vector<Stage> stages; ///< the last one runs while `isRunning`
  Clock::time_point started;
  size_t total = 0;
  bool isRunning = false, isDrawn = false;
  bool drawsBar, printsLines;
};

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_PROGRESS_H
