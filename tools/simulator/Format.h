//===- Format.h - printf into a string --------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SIMULATOR_FORMAT_H
#define GIST_TOOLS_SIMULATOR_FORMAT_H

#include <cstdarg>
#include <cstdio>
#include <string>

namespace gist::sim {

/// printf into a string. The attribute lets the compiler check the arguments.
[[gnu::format(printf, 1, 2)]] inline std::string format(const char *pattern,
                                                        ...) {
  va_list arguments, again;
  va_start(arguments, pattern);
  va_copy(again, arguments);
  // The first pass measures, the second writes. A va_list can be walked once
  // only, hence two.
  std::string text(std::vsnprintf(nullptr, 0, pattern, arguments), '\0');
  std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(again);
  va_end(arguments);
  return text;
}

} // namespace gist::sim

#endif // GIST_TOOLS_SIMULATOR_FORMAT_H
