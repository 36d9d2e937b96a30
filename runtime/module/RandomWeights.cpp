//===- RandomWeights.cpp - Weights that nobody has trained ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/RandomWeights.h"

#include "runtime/format/Half.h"
#include "runtime/support/Hash.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

using namespace gist;

uint64_t gist::randomWidth(const std::string &format) {
  if (format == "f32")
    return 4;
  return format == "f16" || format == "bf16" ? 2 : 0;
}

/// The next of a sequence in which every 64-bit number occurs (splitmix64).
static uint64_t next(uint64_t &state) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

Status gist::makeRandomWeight(
    const WeightSpec &weight,
    const std::function<Status(uint64_t offset, Bytes)> &sink) {
  // There are 2^16 numbers to choose from, each as likely as any other:
  // choosing is faster than rounding.
  constexpr uint32_t kChoices = 1 << 16;
  constexpr uint64_t kPiece = 1 << 24; // bytes
  auto [mean, spread] = *weight.random;
  uint64_t width = randomWidth(weight.format);
  std::vector<uint32_t> choices(kChoices);
  for (uint32_t i = 0; i < kChoices; ++i) {
    float value =
        mean + spread * ((2 * static_cast<float>(i) + 1) / kChoices - 1);
    choices[i] = width == 4               ? std::bit_cast<uint32_t>(value)
                 : weight.format == "f16" ? floatToHalf(value)
                                          : floatToBfloat(value);
  }

  std::vector<uint8_t> bytes(std::min(weight.size, kPiece));
  uint64_t state =
      hashBytes({reinterpret_cast<const uint8_t *>(weight.name.data()),
                 weight.name.size()});
  for (uint64_t begin = 0; begin < weight.size; begin += kPiece) {
    uint64_t size = std::min(weight.size - begin, kPiece);
    for (uint64_t at = 0; at < size;) {
      uint64_t random = next(state);
      for (int i = 0; i < 4 && at < size; ++i, at += width) {
        std::memcpy(&bytes[at], &choices[random % kChoices], width);
        random /= kChoices;
      }
    }
    GIST_TRY(sink(begin, {bytes.data(), size}));
  }
  return {};
}
