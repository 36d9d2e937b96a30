//===- Hash.h - XXH64 of file content ---------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A check against damage, not against an adversary: a module contains native
// code, so its writer is already trusted. XXH64 reads memory about as fast as
// it can be delivered.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SUPPORT_HASH_H
#define GIST_RUNTIME_SUPPORT_HASH_H

#include "runtime/support/Bytes.h"

#include <array>
#include <cstdint>

namespace gist {

/// XXH64 with seed 0, fed in pieces.
class Hasher {
public:
  Hasher();
  void update(Bytes bytes);
  /// The hash of everything so far. More may follow.
  uint64_t finish() const;

private:
  /// An XXH64_state_t, whose header only Hash.cpp includes; it checks the size.
  static constexpr size_t kStateBytes = 88;
  alignas(8) std::array<unsigned char, kStateBytes> state;
};

uint64_t hashBytes(Bytes bytes);

} // namespace gist

#endif // GIST_RUNTIME_SUPPORT_HASH_H
