//===- QuantizeBlocks.cpp - Writes weights in blocks ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/BlockFormats.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>

using namespace gist;

static constexpr int kLength = 32;

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

int gist::levelBits(WeightFormat format) {
  switch (format) {
  case WeightFormat::Q4_1:
    return 4;
  case WeightFormat::Q3_1:
    return 3;
  case WeightFormat::Q2_1:
    return 2;
  default:
    return 0;
  }
}

LevelRange gist::levelRange(float low, float high, int bits) {
  auto levels = static_cast<float>((1 << bits) - 1);
  return {floatToHalf((high - low) / levels), floatToHalf(low)};
}

uint8_t gist::nearestLevel(float value, float scale, float minimum, int bits) {
  if (scale == 0)
    return 0;
  float level = std::nearbyint((value - minimum) / scale);
  return static_cast<uint8_t>(
      std::clamp(level, 0.0f, static_cast<float>((1 << bits) - 1)));
}

void gist::writeLevels(WeightFormat format, LevelRange range,
                       const uint8_t *levels, uint8_t *block) {
  int bits = levelBits(format);
  assert(bits != 0 && "a format without levels");
  std::memset(block, 0, formatInfo(format).blockBytes);
  std::memcpy(block, &range.scale, 2);
  std::memcpy(block + 2, &range.minimum, 2);
  uint8_t *values = block + 4;
  for (int i = 0; i < kLength; ++i) {
    if (bits == 4) {
      values[i % 16] |= levels[i] << (4 * (i / 16));
      continue;
    }
    values[i % 8] |= (levels[i] & 3) << (2 * (i / 8));
    if (bits == 3)
      values[8 + i % 4] |= levels[i] >> 2 << (i / 4);
  }
}

static void quantizeLevels(WeightFormat format, const float *values,
                           uint8_t *block) {
  auto [low, high] = std::minmax_element(values, values + kLength);
  int bits = levelBits(format);
  LevelRange range = levelRange(*low, *high, bits);
  float scale = halfToFloat(range.scale), minimum = halfToFloat(range.minimum);
  uint8_t levels[kLength];
  for (int i = 0; i < kLength; ++i)
    levels[i] = nearestLevel(values[i], scale, minimum, bits);
  writeLevels(format, range, levels, block);
}

static void quantizeQ80(const float *values, uint8_t *block) {
  float largest = 0;
  for (int i = 0; i < kLength; ++i)
    largest = std::max(largest, std::fabs(values[i]));
  uint16_t half = floatToHalf(largest / 127);
  std::memcpy(block, &half, 2);
  float scale = halfToFloat(half);
  for (int i = 0; i < kLength; ++i) {
    float level = scale == 0 ? 0 : std::nearbyint(values[i] / scale);
    block[2 + i] = static_cast<uint8_t>(
        static_cast<int8_t>(std::clamp(level, -127.0f, 127.0f)));
  }
}

void gist::quantize(WeightFormat format, const float *values, size_t count,
                    uint8_t *blocks) {
  const FormatInfo &info = formatInfo(format);
  assert(count % info.blockLength == 0 && "a block is cut off");
  for (const float *end = values + count; values != end;
       values += info.blockLength, blocks += info.blockBytes) {
    if (format == WeightFormat::F32) {
      std::memcpy(blocks, values, sizeof(float));
    } else if (format == WeightFormat::F16) {
      uint16_t half = floatToHalf(*values);
      std::memcpy(blocks, &half, sizeof(half));
    } else if (format == WeightFormat::Q8_0) {
      quantizeQ80(values, blocks);
    } else {
      quantizeLevels(format, values, blocks);
    }
  }
}
