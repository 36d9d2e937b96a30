//===- JsonNesting.cpp - How deep JSON from strangers may nest ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/JsonNesting.h"

using namespace gist;

bool gist::nestsTooDeep(std::string_view text) {
  size_t depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i; // A quote after it is part of the string.
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth)
        return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

Status gist::checkJsonNesting(std::string_view text) {
  if (!nestsTooDeep(text))
    return {};
  return Status::error(Code::BadFile,
                       "lists and objects are more than %zu deep in one "
                       "another",
                       kMaxJsonDepth);
}
