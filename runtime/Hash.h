//===- Hash.h - XXH64 of file content ---------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A check against damage, not against an adversary: a module contains native
// code, so whoever can write one is already trusted. XXH64 reads memory about
// as fast as it can be delivered.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_HASH_H
#define GIST_RUNTIME_HASH_H

#include "runtime/Bytes.h"

#include <array>
#include <cstdint>

namespace gist {

/// XXH64 with seed 0, fed in pieces.
class Hasher {
public:
  void update(Bytes bytes);
  /// The hash of everything so far. More may follow.
  uint64_t finish() const;

private:
  static constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87u;
  static constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4Fu;

  std::array<uint64_t, 4> lanes = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
  std::array<uint8_t, 32> pending = {}; ///< bytes that fill no stripe yet
  uint64_t total = 0;
};

uint64_t hashBytes(Bytes bytes);

} // namespace gist

#endif // GIST_RUNTIME_HASH_H
