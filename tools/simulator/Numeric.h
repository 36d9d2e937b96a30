//===- Numeric.h - The number formats of CDNA3 ------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SIMULATOR_NUMERIC_H
#define GIST_TOOLS_SIMULATOR_NUMERIC_H

#include <bit>
#include <cmath>
#include <cstdint>

namespace gist::sim {

inline uint32_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }
inline uint64_t bitsOf(double value) { return std::bit_cast<uint64_t>(value); }
inline float asFloat(uint32_t bits) { return std::bit_cast<float>(bits); }
inline double asDouble(uint64_t bits) { return std::bit_cast<double>(bits); }

inline float fromF16(uint16_t bits) {
  return static_cast<float>(std::bit_cast<_Float16>(bits));
}
/// One rounding to nearest even, from float or double.
template <typename T> uint16_t toF16Bits(T value) {
  return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
}
/// Rounding toward zero, as v_cvt_pkrtz wants it.
uint16_t toF16BitsTowardZero(float value);

inline float fromBf16(uint16_t bits) { return asFloat(uint32_t(bits) << 16); }
uint16_t toBf16Bits(float value);

/// The fnuz formats: no infinities, no negative zero; 0x80 is the only NaN.
float fromFp8(uint8_t bits); ///< e4m3, bias 8.
float fromBf8(uint8_t bits); ///< e5m2, bias 16.
/// Nearest even. What is too large or infinite saturates if asked to, and
/// becomes NaN otherwise. A NaN stays one.
uint8_t toFp8(float value, bool saturate);
uint8_t toBf8(float value, bool saturate);

/// Flushed denormals keep their sign, as on the card.
inline float flushDenormal(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value)
                                                : value;
}

} // namespace gist::sim

#endif // GIST_TOOLS_SIMULATOR_NUMERIC_H
