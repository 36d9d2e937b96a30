//===- OutOfMemory.h - Memory that the system refuses -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For the functions that users of the runtime call. Their bodies are try-blocks
// that end with this: std::bad_alloc and std::length_error become a Status.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SUPPORT_OUTOFMEMORY_H
#define GIST_RUNTIME_SUPPORT_OUTOFMEMORY_H

#include "runtime/support/Status.h"

#include <new>
#include <stdexcept>

#define GIST_CATCH_OUT_OF_MEMORY                                               \
  catch (const std::bad_alloc &) {                                             \
    return ::gist::Status::outOfMemory();                                      \
  }                                                                            \
  catch (const std::length_error &) {                                          \
    return ::gist::Status::outOfMemory();                                      \
  }

#endif // GIST_RUNTIME_SUPPORT_OUTOFMEMORY_H
