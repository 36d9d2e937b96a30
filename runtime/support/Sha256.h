//===- Sha256.h - SHA-256, where a hash must not be forged ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Hash.h finds damage. Whether the user trusts a module must not be forgeable,
// and with XXH64 anyone can make a second file with a given hash.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SUPPORT_SHA256_H
#define GIST_RUNTIME_SUPPORT_SHA256_H

#include "runtime/support/Bytes.h"

#include <array>
#include <string>

namespace gist {

/// SHA-256 of bytes that come in pieces (FIPS 180-4).
class Sha256 {
public:
  void update(Bytes bytes);
  /// Adds a number as eight bytes, for sizes between pieces.
  void update(uint64_t number) {
    update({reinterpret_cast<const uint8_t *>(&number), sizeof(number)});
  }
  /// 64 hexadecimal digits. Nothing may be added afterwards.
  std::string finish();

private:
  static constexpr size_t kBlock = 64;
  void addBlock(const uint8_t *block);

  // The first 32 bits of the fractions of the roots of the first eight primes.
  std::array<uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                   0xa54ff53a, 0x510e527f, 0x9b05688c,
                                   0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, kBlock> rest = {}; ///< what does not fill a block yet
  uint64_t total = 0;                    ///< bytes so far
};

} // namespace gist

#endif // GIST_RUNTIME_SUPPORT_SHA256_H
