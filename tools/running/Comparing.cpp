//===- Comparing.cpp - Random arrays, and how far two are apart -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random inputs and errors of rows, for comparisons of a device with another.
//
//===----------------------------------------------------------------------===//

#include "tools/running/Comparing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace gist;
using namespace gist::run;

/// The bytes of an output need not be aligned.
template <typename T>
static T readAt(const std::vector<uint8_t> &bytes, size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
static void writeAt(std::vector<uint8_t> &bytes, size_t i, T value) {
  std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
}

/// The value of f16 bits; -24 is the exponent of the least denormal.
static double fromHalf(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                 : exponent == 0 ? std::ldexp(fraction, -24)
                                 : std::ldexp(fraction + 1024, exponent - 25);
  return bits >> 15 ? -value : value;
}

static double floatAt(ElementType type, const std::vector<uint8_t> &bytes,
                      size_t i) {
  if (type == ElementType::F32)
    return readAt<float>(bytes, i);
  auto bits = readAt<uint16_t>(bytes, i);
  if (type == ElementType::F16)
    return fromHalf(bits);
  return std::bit_cast<float>(uint32_t{bits} << 16);
}

static bool isFloat(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F16 ||
         type == ElementType::BF16;
}

std::vector<uint8_t> run::randomArray(ElementType type, size_t count,
                                      int64_t bound, std::mt19937 &random) {
  std::vector<uint8_t> bytes(count * elementSize(type));
  for (size_t i = 0; i < count; ++i) {
    // The library's distributions differ between machines; its generators do
    // not.
    uint32_t bits = random();
    // The remainder favours small numbers a little, which does no harm here.
    auto integer = static_cast<int64_t>(bits) % std::max<int64_t>(bound, 1);
    auto sign = static_cast<uint16_t>(bits >> 31 << 15);
    switch (type) {
    case ElementType::F32:
      // 24 bits, in [-1, 1).
      writeAt(bytes, i, std::ldexp(static_cast<float>(bits >> 8), -23) - 1.0f);
      break;
    // The exponent is fixed: no number is denormal, infinite or NaN.
    case ElementType::F16: // in [0.5, 1), either sign
      writeAt(bytes, i, static_cast<uint16_t>(sign | 14 << 10 | (bits & 1023)));
      break;
    case ElementType::BF16:
      writeAt(bytes, i, static_cast<uint16_t>(sign | 126 << 7 | (bits & 127)));
      break;
    case ElementType::Byte:
    case ElementType::I8:
      writeAt(bytes, i, static_cast<uint8_t>(integer));
      break;
    case ElementType::I16:
      writeAt(bytes, i, static_cast<int16_t>(integer));
      break;
    case ElementType::I32:
      writeAt(bytes, i, static_cast<int32_t>(integer));
      break;
    case ElementType::I64:
      writeAt(bytes, i, integer);
      break;
    }
  }
  return bytes;
}

std::vector<double> run::rowErrors(ElementType type, size_t width,
                                   const std::vector<uint8_t> &got,
                                   const std::vector<uint8_t> &expected) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  // Integers are one row: equal or not.
  if (!isFloat(type))
    return {got == expected ? 0 : kInfinite};
  size_t count = expected.size() / elementSize(type);
  // A shape with a last dimension of 0 has no rows.
  width = std::max<size_t>(width, 1);
  std::vector<double> errors;
  for (size_t begin = 0; begin < count; begin += width) {
    double difference = 0, length = 0;
    for (size_t i = begin; i < std::min(begin + width, count); ++i) {
      double a = floatAt(type, got, i), b = floatAt(type, expected, i);
      // The same infinity, or NaN on both sides, is the same answer.
      if (a == b || (std::isnan(a) && std::isnan(b)))
        a = b = std::isfinite(b) ? b : 0;
      difference += (a - b) * (a - b);
      length += b * b;
    }
    // A row of zeros that is not zero here has an infinite error.
    double error = difference == 0 ? 0 : std::sqrt(difference / length);
    errors.push_back(std::isnan(error) ? kInfinite : error);
  }
  return errors;
}
