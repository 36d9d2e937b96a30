//===- Half.cpp - Floats of 16 bits ---------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/format/Half.h"

#include <bit>
#include <cmath>

using namespace gist;

float gist::halfToFloat(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  uint32_t magnitude = half & 0x7fff;
  if (magnitude >= 0x7c00) // Infinity or NaN: the widest exponent stays widest.
    return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  // As the bits of a float the value is 2^112 too small, subnormals included.
  float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | sign);
}

float gist::bfloatToFloat(uint16_t bfloat) {
  return std::bit_cast<float>(static_cast<uint32_t>(bfloat) << 16);
}

uint16_t gist::floatToHalf(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return sign | 0x7e00; // NaN
  if (magnitude >= 0x477ff000)
    return sign | 0x7c00; // 65520 and more are nearer to 2^16 than to 65504.
  if (magnitude < 0x38800000) { // Subnormals are multiples of 2^-24.
    float units = std::bit_cast<float>(magnitude) * 0x1p24f;
    return sign | static_cast<uint16_t>(std::nearbyint(units));
  }
  uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return sign | static_cast<uint16_t>((rounded - 0x38000000) >> 13);
}

uint16_t gist::floatToBfloat(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) // Rounding could carry into the exponent or the sign.
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
