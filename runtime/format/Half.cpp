//===- Half.cpp - Floats of 16 and of 8 bits ------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/format/Half.h"

#include <algorithm>
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

namespace {
/// What tells the floats of 8 bits apart.
struct SmallFloatInfo {
  const char *name;
  int bias; ///< of the exponent
  float largest;
};
} // namespace

static const SmallFloatInfo &getInfo(SmallFloat format) {
  static constexpr SmallFloatInfo kE4M3 = {"f8e4m3", 7, 448},
                                  kE4M3Fnuz = {"f8e4m3fnuz", 8, 240};
  return format == SmallFloat::E4M3 ? kE4M3 : kE4M3Fnuz;
}

uint8_t gist::floatToSmall(float value, SmallFloat format) {
  constexpr int kFraction = 3;
  const SmallFloatInfo &info = getInfo(format);
  bool isFnuz = format == SmallFloat::E4M3Fnuz;
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value))
    return isFnuz ? 0x80 : sign | 0x7f;
  float size = std::min(std::abs(value), info.largest);
  // In units of the last place; those below the smallest normal number have its
  // unit.
  int smallest = 1 - info.bias;
  int exponent = size == 0 ? smallest : std::max(std::ilogb(size), smallest);
  auto units =
      static_cast<int>(std::nearbyint(std::ldexp(size, kFraction - exponent)));
  // With the leading one, units carry into the exponent by themselves.
  int bits = units + ((exponent - smallest) << kFraction);
  return bits == 0 && isFnuz ? 0 : sign | static_cast<uint8_t>(bits);
}

float gist::smallToFloat(uint8_t number, SmallFloat format) {
  uint8_t nan = format == SmallFloat::E4M3 ? 0x7f : 0x80;
  if (number == nan || (format == SmallFloat::E4M3 && number == 0xff))
    return std::nanf("");
  // As the bits of a float the value is too small by what the biases differ,
  // subnormals included.
  float size = std::ldexp(
      std::bit_cast<float>(static_cast<uint32_t>(number & 0x7f) << 20),
      127 - getInfo(format).bias);
  return number & 0x80 ? -size : size;
}

const char *gist::toString(SmallFloat format) { return getInfo(format).name; }

std::optional<SmallFloat> gist::parseSmallFloat(std::string_view name) {
  for (SmallFloat format : {SmallFloat::E4M3, SmallFloat::E4M3Fnuz})
    if (name == toString(format))
      return format;
  return std::nullopt;
}
