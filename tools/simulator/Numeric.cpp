//===- Numeric.cpp - The number formats of CDNA3 --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Numeric.h"

#include <algorithm>

using namespace gist::sim;

/// Rounds to nearest first, then steps back. f16 bits are sign and magnitude,
/// so one less is one nearer to zero.
uint16_t gist::sim::toF16BitsTowardZero(float value) {
  uint16_t bits = toF16Bits(value);
  // Rounded away from zero: one step back. An overflow stops at the largest.
  if (!std::isinf(value) && std::abs(fromF16(bits)) > std::abs(value))
    --bits;
  return bits;
}

uint16_t gist::sim::toBf16Bits(float value) {
  uint32_t bits = bitsOf(value);
  if (std::isnan(value))
    // Sets the quiet bit, and keeps a NaN whose payload lies in the low half
    // from becoming infinite.
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  // Half of the last place, minus one, plus the bit that makes ties go to even.
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Exponent 0 is denormal. There are no infinities: the largest exponent is an
/// ordinary one.
template <unsigned Mantissa, int Bias> static float fromFnuz(uint8_t bits) {
  if (bits == 0x80)
    return std::nanf("");
  int exponent = (bits & 0x7f) >> Mantissa;
  int mantissa = bits & ((1 << Mantissa) - 1);
  float magnitude =
      exponent == 0
          ? std::ldexp(static_cast<float>(mantissa), 1 - Bias - int(Mantissa))
          : std::ldexp(static_cast<float>(mantissa + (1 << Mantissa)),
                       exponent - Bias - int(Mantissa));
  return bits & 0x80 ? -magnitude : magnitude;
}

/// Overflow is decided after rounding, as for the other formats.
template <unsigned Mantissa, int Bias>
static uint8_t toFnuz(float value, bool saturate) {
  if (std::isnan(value))
    return 0x80;
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  float magnitude = std::abs(value);
  uint8_t overflow = saturate ? sign | 0x7f : 0x80;
  if (std::isinf(magnitude))
    return overflow;
  // ilogb of zero is a special value.
  int exponent = magnitude == 0 ? 0 : std::ilogb(magnitude);
  // The spacing of the format around the value; denormals share the least.
  int spacing = std::max(exponent, 1 - Bias) - int(Mantissa);
  float units = std::nearbyint(std::ldexp(magnitude, -spacing));
  if (units == 0)
    return 0; // No negative zero.
  float rounded = std::ldexp(units, spacing);
  if (rounded > fromFnuz<Mantissa, Bias>(0x7f))
    return overflow;
  // Rounding up may have reached the next power of two.
  exponent = std::ilogb(rounded);
  if (exponent < 1 - Bias)
    return sign | static_cast<uint8_t>(units);
  unsigned field =
      static_cast<unsigned>(std::ldexp(rounded, int(Mantissa) - exponent));
  return static_cast<uint8_t>(sign | (exponent + Bias) << Mantissa |
                              (field & ((1u << Mantissa) - 1)));
}

float gist::sim::fromFp8(uint8_t bits) { return fromFnuz<3, 8>(bits); }
float gist::sim::fromBf8(uint8_t bits) { return fromFnuz<2, 16>(bits); }
uint8_t gist::sim::toFp8(float value, bool saturate) {
  return toFnuz<3, 8>(value, saturate);
}
uint8_t gist::sim::toBf8(float value, bool saturate) {
  return toFnuz<2, 16>(value, saturate);
}
