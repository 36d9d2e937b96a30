//===- Progress.cpp - Says what is being done -----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/gist-compile/Progress.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace gist;

static constexpr unsigned kBarWidth = 24;

Progress::Progress(unsigned steps, bool shows, bool times)
    : steps(steps), shows(shows), times(times),
      isTerminal(llvm::sys::Process::StandardErrIsDisplayed()) {}

/// A run that failed leaves no bar on the terminal.
Progress::~Progress() {
  if (shows && isTerminal && !name.empty())
    llvm::errs() << "\r\033[K";
}

void Progress::endStep() {
  if (name.empty())
    return;
  std::chrono::duration<double> took = Clock::now() - start;
  seconds.emplace_back(std::exchange(name, {}), took.count());
}

void Progress::begin(const std::string &step) {
  endStep();
  name = step;
  start = Clock::now();
  ++current;
  if (!shows)
    return;
  if (!isTerminal) {
    llvm::errs() << "[" << current << "/" << steps << "] " << step << "\n";
    return;
  }
  unsigned done = kBarWidth * (current - 1) / steps;
  llvm::errs() << "\r\033[K[" << std::string(done, '#')
               << std::string(kBarWidth - done, ' ') << "] " << step;
}

void Progress::finish() {
  endStep();
  if (shows && isTerminal)
    llvm::errs() << "\r\033[K";
  if (!times)
    return;
  double total = 0;
  for (const auto &[step, took] : seconds) {
    llvm::errs() << llvm::format("%8.2f s  ", took) << step << "\n";
    total += took;
  }
  llvm::errs() << llvm::format("%8.2f s  total\n", total);
}
