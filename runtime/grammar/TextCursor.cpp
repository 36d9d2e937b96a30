//===- TextCursor.cpp - A place in a text that is parsed ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/grammar/TextCursor.h"

#include <algorithm>

using namespace gist;

Status TextCursor::error(const char *what) const {
  std::string_view before = text.substr(0, at);
  auto line = std::count(before.begin(), before.end(), '\n') + 1;
  size_t begin = before.rfind('\n') + 1; // npos + 1 is 0
  return Status::error(Code::BadArgument, "line %lld, column %zu: %s",
                       static_cast<long long>(line), at - begin + 1, what);
}

/// False where no digit is next, or the number is too large.
bool TextCursor::takeNumber(uint32_t &value) {
  value = 0;
  bool hasDigits = false;
  for (; peek() >= '0' && peek() <= '9' && value <= kMaxRepeats; ++at) {
    value = value * 10 + static_cast<uint32_t>(peek() - '0');
    hasDigits = true;
  }
  return hasDigits && value <= kMaxRepeats;
}

Status TextCursor::takeRepeat(uint32_t &least, uint32_t &most, bool &found) {
  found = true;
  least = 0;
  most = Grammar::kUnbounded;
  if (take("*"))
    return {};
  if (take("?")) {
    most = 1;
    return {};
  }
  if (take("+")) {
    least = 1;
    return {};
  }
  found = take("{");
  if (!found)
    return {};
  bool isValid = takeNumber(least);
  most = least;
  if (isValid && take(",")) {
    most = Grammar::kUnbounded;
    if (peek() != '}')
      isValid = takeNumber(most);
  }
  if (!isValid || !take("}") || most < least)
    return error("expected {N}, {N,} or {N,M} with numbers of at most 1048576");
  return {};
}
