//===- Sha256.cpp - SHA-256, where a hash must not be forged --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Sha256.h"

#include <algorithm>
#include <bit>

using namespace gist;

/// The first 32 bits of the fractions of the cube roots of the first 64 primes.
static constexpr uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void Sha256::addBlock(const uint8_t *block) {
  std::array<uint32_t, 64> words;
  for (size_t i = 0; i < 16; ++i) {
    std::memcpy(&words[i], block + 4 * i, 4);
    words[i] = __builtin_bswap32(words[i]);
  }
  for (size_t i = 16; i < 64; ++i) {
    uint32_t a = words[i - 15], b = words[i - 2];
    words[i] = words[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) +
               words[i - 7] + (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    uint32_t first = h +
                     (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                     ((e & f) ^ (~e & g)) + kRounds[i] + words[i];
    uint32_t second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) +
                      ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const uint32_t added[] = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state.size(); ++i)
    state[i] += added[i];
}

void Sha256::update(Bytes bytes) {
  size_t held = total % kBlock;
  total += bytes.size;
  if (held != 0) {
    size_t count = std::min<uint64_t>(kBlock - held, bytes.size);
    std::memcpy(rest.data() + held, bytes.data, count);
    bytes = {bytes.data + count, bytes.size - count};
    if (held + count < kBlock)
      return;
    addBlock(rest.data());
  }
  for (; bytes.size >= kBlock;
       bytes = {bytes.data + kBlock, bytes.size - kBlock})
    addBlock(bytes.data);
  if (bytes.size != 0)
    std::memcpy(rest.data(), bytes.data, bytes.size);
}

std::string Sha256::finish() {
  // A one bit, zeros up to the last eight bytes of a block, and the number of
  // bits, the highest byte first.
  uint64_t bits = __builtin_bswap64(total * 8);
  std::array<uint8_t, 2 * kBlock> end = {0x80};
  size_t held = total % kBlock;
  size_t zeros = (held < 56 ? 56 : 56 + kBlock) - held;
  update({end.data(), zeros});
  update(bits);
  std::string text;
  for (uint32_t word : state)
    for (int shift = 28; shift >= 0; shift -= 4)
      text += "0123456789abcdef"[word >> shift & 15];
  return text;
}
