//===- Status.cpp - The result of everything that can fail ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An error can be returned without memory: if its message cannot be allocated,
// it says only "out of memory".
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Status.h"

#include <cstdarg>
#include <cstdio>
#include <new>

using namespace gist;

Status Status::error(Code code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  va_list again;
  // The first pass, which measures, uses up its list.
  va_copy(again, args);
  int length = std::vsnprintf(nullptr, 0, format, args);
  va_end(args);
  Status status;
  status.code = code;
  try {
    status.text.resize(length > 0 ? static_cast<size_t>(length) : 0);
    std::vsnprintf(status.text.data(), status.text.size() + 1, format, again);
  } catch (const std::bad_alloc &) {
    status = outOfMemory();
  }
  va_end(again);
  return status;
}

Status Status::in(const std::string &where) && {
  try {
    if (!ok())
      text = where + ": " + text;
  } catch (const std::bad_alloc &) {
    // The message is correct without its location.
  }
  return std::move(*this);
}
