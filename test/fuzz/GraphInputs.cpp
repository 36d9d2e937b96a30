//===- GraphInputs.cpp - What random graphs are run on --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers are small multiples of a power of two: they are exact in every
// format, and so are many sums. Differences between two ways to compute are
// then errors and not roundings.
//
//===----------------------------------------------------------------------===//

#include "runtime/format/BlockFormats.h"
#include "test/fuzz/RandomGraph.h"
#include "llvm/ADT/APFloat.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace gist;
using namespace gist::fuzz;

static const llvm::fltSemantics &getSemantics(const std::string &element) {
  return element == "f16"    ? llvm::APFloat::IEEEhalf()
         : element == "bf16" ? llvm::APFloat::BFloat()
                             : llvm::APFloat::IEEEsingle();
}

static uint32_t toBits(double value, const std::string &element) {
  llvm::APFloat number(value);
  bool lost = false;
  number.convert(getSemantics(element), llvm::APFloat::rmNearestTiesToEven,
                 &lost);
  return static_cast<uint32_t>(number.bitcastToAPInt().getZExtValue());
}

int64_t fuzz::getElementBytes(const std::string &element) {
  if (element == "i8")
    return 1;
  if (element == "f16" || element == "bf16")
    return 2;
  return element == "i64" ? 8 : 4;
}

int64_t fuzz::countElements(const std::vector<int64_t> &shape, int64_t tokens) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size < 0 ? tokens : size;
  return count;
}

static std::vector<uint8_t> packFloats(const std::vector<double> &values,
                                       const std::string &element) {
  std::vector<uint8_t> bytes;
  for (double value : values) {
    uint32_t bits = toBits(value, element);
    for (int64_t i = 0; i < getElementBytes(element); ++i)
      bytes.push_back(static_cast<uint8_t>(bits >> (8 * i)));
  }
  return bytes;
}

template <typename T>
static std::vector<uint8_t> packIntegers(const std::vector<T> &values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Rows as selections and norms have trouble with: equal ones, opposite ones,
/// zeros, and where `any`, rows that have no direction.
static std::vector<double> makeRows(int64_t rows, int64_t width, bool any,
                                    Random &random) {
  int64_t distinct = random.oneIn(2) ? rows : random.range(1, 4);
  std::vector<double> values;
  for (int64_t row = 0; row < rows; ++row) {
    if (row >= distinct && !random.oneIn(5)) {
      int64_t like = random.range(0, distinct - 1);
      double sign = random.oneOf({1.0, 1.0, 2.0, -1.0});
      for (int64_t i = 0; i < width; ++i)
        values.push_back(sign * values[like * width + i]);
      continue;
    }
    bool isZero = random.oneIn(12);
    for (int64_t i = 0; i < width; ++i)
      values.push_back(isZero ? 0.0
                              : static_cast<double>(random.range(-16, 16)) / 8);
    if (any && random.oneIn(10))
      values[row * width + random.range(0, width - 1)] =
          random.oneOf({std::numeric_limits<double>::quiet_NaN(),
                        std::numeric_limits<double>::infinity(),
                        -std::numeric_limits<double>::infinity()});
  }
  return values;
}

/// Random bytes, but for the halves, which are small numbers.
static std::vector<uint8_t> makeBlocks(const GraphInput &input, int64_t count,
                                       Random &random) {
  const FormatInfo *format = nullptr;
  for (WeightFormat each :
       {WeightFormat::Q8_0, WeightFormat::Q4_0, WeightFormat::Q4_1,
        WeightFormat::Q4_K, WeightFormat::Q6_K, WeightFormat::Q3_1,
        WeightFormat::Q2_1})
    if (input.format == formatInfo(each).attribute)
      format = &formatInfo(each);
  std::vector<uint8_t> bytes(count);
  for (uint8_t &byte : bytes)
    byte = static_cast<uint8_t>(random.next());
  auto put = [&](size_t at, double value) {
    uint32_t bits = toBits(value, "f16");
    bytes[at] = static_cast<uint8_t>(bits);
    bytes[at + 1] = static_cast<uint8_t>(bits >> 8);
  };
  // Values of groups with scales of their own are up to 127 times as large.
  double unit = format->groupScales == GroupScales::None ? 1. / 256 : 1. / 8192;
  for (size_t block = 0; block < bytes.size(); block += format->blockBytes) {
    put(block + format->scale, static_cast<double>(random.range(-4, 4)) * unit);
    if (format->hasMinimum())
      put(block + format->minimum,
          static_cast<double>(random.range(-8, 8)) * unit);
  }
  return bytes;
}

std::vector<uint8_t> fuzz::makeInput(const GraphInput &input, int64_t tokens,
                                     Random &random) {
  int64_t count = countElements(input.shape, tokens);
  int64_t width = input.shape.empty() || count == 0 ? 1 : input.shape.back();
  if (width < 0)
    width = 1;
  switch (input.content) {
  case Content::Rows:
  case Content::AnyRows:
    return packFloats(makeRows(count / width, width,
                               input.content == Content::AnyRows, random),
                      input.element);
  case Content::Weight:
  case Content::Positive: {
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(static_cast<double>(random.range(
                           input.content == Content::Weight ? -8 : 1, 8)) /
                       16);
    return packFloats(values, input.element);
  }
  case Content::Basis: {
    // Unit vectors with a sign, no two alike: they are exact in all formats.
    int64_t rows = count / width;
    std::vector<double> values(count, 0.0);
    std::vector<int64_t> places(rows);
    for (int64_t i = 0; i < rows; ++i)
      places[i] = i;
    for (int64_t column = 0; column < width; ++column) {
      std::swap(places[column], places[random.range(column, rows - 1)]);
      values[places[column] * width + column] = random.oneOf({1.0, -1.0});
    }
    return packFloats(values, input.element);
  }
  case Content::Mask: {
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(random.oneIn(4)
                           ? -std::numeric_limits<double>::infinity()
                           : static_cast<double>(random.range(-4, 4)) / 4);
    return packFloats(values, input.element);
  }
  case Content::Taus: {
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(random.oneOf({0.31, 0.47, 0.73, 0.0, 1.0, -0.5}));
    return packFloats(values, input.element);
  }
  case Content::Offsets: {
    std::vector<int32_t> values;
    for (int64_t i = 0; i + 1 < count; ++i)
      values.push_back(i == 0 ? 0
                              : static_cast<int32_t>(random.range(0, tokens)));
    values.push_back(static_cast<int32_t>(tokens));
    std::sort(values.begin(), values.end());
    return packIntegers(values);
  }
  case Content::Guard: {
    std::vector<int8_t> values;
    int64_t share = random.oneOf<int64_t>({1, 2, 3, 100});
    for (int64_t i = 0; i < count; ++i)
      values.push_back(random.oneIn(share) ? random.oneOf<int8_t>({1, 2, -1})
                                           : int8_t(0));
    return packIntegers(values);
  }
  case Content::Bytes: {
    std::vector<int8_t> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(static_cast<int8_t>(random.range(-127, 127)));
    return packIntegers(values);
  }
  case Content::Settings: {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < count; i += 5) {
      values.push_back(std::bit_cast<int32_t>(1.4426950408889634f));
      values.push_back(random.range(1, 9));
      values.push_back(random.oneOf<int64_t>({int64_t(1) << 32, 3000000000}));
      values.push_back(random.oneOf<int64_t>({1, 1 << 25}));
      values.push_back(random.range(0, (int64_t(1) << 32) - 1));
    }
    return packIntegers(values);
  }
  case Content::Blocks:
    return makeBlocks(input, count, random);
  case Content::Experts: {
    std::vector<int32_t> values;
    auto last = static_cast<int64_t>(input.numbers[0]) - 1;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(static_cast<int32_t>(random.range(0, last)));
    return packIntegers(values);
  }
  case Content::Given:
    return packFloats(input.numbers, input.element);
  case Content::State:
    return std::vector<uint8_t>(count * getElementBytes(input.element));
  }
  return {};
}

std::vector<double> fuzz::readNumbers(const std::string &element,
                                      const std::vector<uint8_t> &bytes) {
  std::vector<double> values;
  auto size = static_cast<size_t>(getElementBytes(element));
  for (size_t at = 0; at + size <= bytes.size(); at += size) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, size);
    if (element[0] == 'i') {
      auto unused = static_cast<int>(64 - 8 * size);
      values.push_back(
          static_cast<double>(static_cast<int64_t>(bits << unused) >> unused));
      continue;
    }
    llvm::APFloat number(getSemantics(element),
                         llvm::APInt(static_cast<unsigned>(8 * size), bits));
    bool lost = false;
    number.convert(llvm::APFloat::IEEEdouble(),
                   llvm::APFloat::rmNearestTiesToEven, &lost);
    values.push_back(number.convertToDouble());
  }
  return values;
}
