//===- Interrupt.h - Control-C ends an answer, not the program --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_INTERRUPT_H
#define GIST_TOOLS_RUNNING_INTERRUPT_H

#include <csignal>

namespace gist::run {

/// While this lives, the first Control-C sets a flag; the second ends the
/// program as usual.
class InterruptScope {
public:
  InterruptScope() {
    flag() = 0;
    // A handler may do little: it sets a flag, and restores the default so that
    // a second Control-C ends a program that hangs.
    old = std::signal(SIGINT, [](int number) {
      flag() = 1;
      std::signal(number, SIG_DFL);
    });
  }
  ~InterruptScope() { std::signal(SIGINT, old); }
  InterruptScope(const InterruptScope &) = delete;
  InterruptScope &operator=(const InterruptScope &) = delete;

  bool requested() const { return flag() != 0; }

private:
  /// A function, so that it lives in a header without a source file.
  static volatile std::sig_atomic_t &flag() {
    static volatile std::sig_atomic_t value = 0;
    return value;
  }

  void (*old)(int);
};

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_INTERRUPT_H
