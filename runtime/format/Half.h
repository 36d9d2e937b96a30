//===- Half.h - Floats of 16 and of 8 bits ----------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_FORMAT_HALF_H
#define GIST_RUNTIME_FORMAT_HALF_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace gist {

/// The exact value of a 16-bit float.
float halfToFloat(uint16_t half);
float bfloatToFloat(uint16_t bfloat);

/// The nearest 16-bit float, ties to even. What is too large is infinite, and a
/// NaN stays one.
uint16_t floatToHalf(float value);
uint16_t floatToBfloat(float value);

/// Floats of a sign, four bits of exponent and three of fraction, without
/// infinities. That of NVIDIA and OCP goes up to 448, that of AMD's gfx942 up
/// to 240, has one zero and is NaN where the other has -0.
enum class SmallFloat { E4M3, E4M3Fnuz };

/// The nearest of them, ties to even; what is too large is the largest, and a
/// NaN stays one.
uint8_t floatToSmall(float value, SmallFloat format);
float smallToFloat(uint8_t number, SmallFloat format);

/// What modules call it, and the other way round.
const char *toString(SmallFloat format);
std::optional<SmallFloat> parseSmallFloat(std::string_view name);

} // namespace gist

#endif // GIST_RUNTIME_FORMAT_HALF_H
