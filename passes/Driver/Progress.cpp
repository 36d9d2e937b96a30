//===- Progress.cpp - How far the compilation is --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Progress on standard error: a bar on a terminal, a line for each stage
// elsewhere. The same stages are timed for --timing.
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Progress.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>
#include <unistd.h>

using namespace gist;
using namespace gist::compile;

/// TERM=dumb is set where escape sequences would be printed as they are.
/// Progress is drawn on standard error, so this stream is checked.
static bool isTerminal() {
  const char *kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) && kind && std::strcmp(kind, "dumb") != 0;
}

Progress::Progress(ShowProgress show)
    : drawsBar((show == ShowProgress::Auto || show == ShowProgress::Bar) &&
               isTerminal()),
      printsLines(show == ShowProgress::On ||
                  (show == ShowProgress::Auto && !drawsBar)) {}

/// Ends the stage before. The total is an estimate and grows if there are more
/// stages than expected.
void Progress::begin(std::string stage) {
  end();
  if (drawsBar)
    draw(stage);
  // The number is the one that runs, so it begins at one.
  if (printsLines)
    std::fprintf(stderr, "[%zu/%zu] %s\n", stages.size() + 1,
                 std::max(total, stages.size() + 1), stage.c_str());
  stages.push_back({std::move(stage), 0});
  isRunning = true;
  started = Clock::now();
}

void Progress::end() {
  if (isRunning)
    stages.back().seconds =
        std::chrono::duration<double>(Clock::now() - started).count();
  isRunning = false;
}

/// "\r\033[K" goes back to the start of the line and clears it.
void Progress::draw(const std::string &stage) {
  constexpr size_t kWidth = 24;
  size_t done = stages.size(), all = std::max(total, done + 1);
  std::string bar(kWidth * done / all, '#');
  bar.resize(kWidth, '.');
  std::fprintf(stderr, "\r\033[K[%s] %zu/%zu %s", bar.c_str(), done + 1, all,
               stage.c_str());
  std::fflush(stderr);
  isDrawn = true;
}

/// Called before anything else is printed, so that the bar does not end up in
/// the middle of a message.
void Progress::clear() {
  if (!isDrawn)
    return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  isDrawn = false;
}

void Progress::warn(const std::string &sentence) {
  if (warningSink)
    return warningSink(sentence);
  clear();
  std::fprintf(stderr, "gist-compile: warning: %s\n", sentence.c_str());
}

void Progress::printTiming() const {
  double all = 0;
  for (const Stage &stage : stages)
    all += stage.seconds;
  std::fprintf(stderr, "%-24s %10s %7s\n", "stage", "seconds", "%");
  for (const Stage &stage : stages)
    std::fprintf(stderr, "%-24s %10.3f %7.2f\n", stage.name.c_str(),
                 stage.seconds, all > 0 ? 100 * stage.seconds / all : 0.0);
  std::fprintf(stderr, "%-24s %10.3f\n", "total", all);
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) == 0) // reported in KiB
    std::fprintf(stderr, "peak memory: %.1f MiB\n",
                 static_cast<double>(usage.ru_maxrss) / 1024);
}
