//===- Half.h - Floats of 16 bits -------------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_FORMAT_HALF_H
#define GIST_RUNTIME_FORMAT_HALF_H

#include <cstdint>

namespace gist {

/// The exact value of a 16-bit float.
float halfToFloat(uint16_t half);
float bfloatToFloat(uint16_t bfloat);

/// The nearest 16-bit float, ties to even. What is too large is infinite, and a
/// NaN stays one.
uint16_t floatToHalf(float value);
uint16_t floatToBfloat(float value);

} // namespace gist

#endif // GIST_RUNTIME_FORMAT_HALF_H
