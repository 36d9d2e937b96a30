//===- Progress.cpp - How far a long search is ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bar with the time that is left, on standard error.
//
//===----------------------------------------------------------------------===//

#include "tools/running/Progress.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <utility>

using namespace gist;
using namespace gist::plan;

Progress::Progress(std::string what, size_t total, size_t done,
                   const run::Limit *limit)
    : what(std::move(what)), total(total), done(done), before(done),
      limit(limit), started(Clock::now()) {
  // TERM=dumb is set where escape sequences would be printed as they are.
  const char *kind = std::getenv("TERM");
  isTerminal = isatty(STDERR_FILENO) != 0 && kind != nullptr &&
               std::strcmp(kind, "dumb") != 0;
}

/// The bar is gone when the result is printed.
Progress::~Progress() {
  if (isTerminal)
    std::fputs("\r\033[K", stderr);
}

void Progress::say(const std::string &line) {
  std::fprintf(stderr, "%s%s\n", isTerminal ? "\r\033[K" : "", line.c_str());
  if (isTerminal && done > before)
    draw();
}

void Progress::advance(size_t count) {
  if (count == 0)
    return;
  // What was expected may be less than what there is.
  done = std::min(done + count, total);
  std::chrono::duration<double> since = Clock::now() - drawn;
  // Often enough to show progress, but not so often that it fills logs.
  if (since.count() < (isTerminal ? 0.2 : 15.0) && done != total)
    return;
  drawn = Clock::now();
  draw();
}

void Progress::draw() {
  std::chrono::duration<double> taken = Clock::now() - started;
  // By the pace since this run began: what was done before took no time here.
  double rest = taken.count() /
                static_cast<double>(std::max<size_t>(done - before, 1)) *
                static_cast<double>(total - done);
  if (limit)
    rest = std::max(0.0, std::min(rest, limit->left()));
  auto seconds = static_cast<long long>(rest);
  char left[64];
  if (seconds >= 3600)
    std::snprintf(left, sizeof(left), "%lld h %02lld min", seconds / 3600,
                  seconds / 60 % 60);
  else
    std::snprintf(left, sizeof(left), "%lld min %02lld s", seconds / 60,
                  seconds % 60);
  constexpr size_t kWidth = 24;
  std::string bar(kWidth * done / total, '#');
  bar.resize(kWidth, '.');
  std::fprintf(stderr, "%s[%s] %zu/%zu %s, %s left%s",
               isTerminal ? "\r\033[K" : "", bar.c_str(), done, total,
               what.c_str(), left, isTerminal ? "" : "\n");
  std::fflush(stderr);
}
