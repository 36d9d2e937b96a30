//===- QuantizeBlocks.cpp - Writes weights in blocks ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes block formats: Q8_0, and formats of levels (d * level + m). Used for
// weights that a plan stores in fewer bits.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/BlockFormats.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

using namespace gist;

/// Values in a block of all formats that are written here.
static constexpr int kLength = 32;

int gist::levelBits(WeightFormat format) {
  const FormatInfo &info = formatInfo(format);
  bool hasLevels = info.isQuantized() && info.hasMinimum() &&
                   info.groupScales == GroupScales::None;
  return hasLevels ? static_cast<int>(info.bits) : 0;
}

/// Scale and minimum are rounded to f16 now, because levels must be chosen for
/// the numbers that will be read back.
LevelRange gist::levelRange(float low, float high, int bits) {
  auto levels = static_cast<float>((1 << bits) - 1);
  return {floatToHalf((high - low) / levels), floatToHalf(low)};
}

uint8_t gist::nearestLevel(float value, float scale, float minimum, int bits) {
  // All values of the block are equal, or the range vanishes in f16.
  if (scale == 0)
    return 0;
  float level = std::nearbyint((value - minimum) / scale);
  return static_cast<uint8_t>(
      std::clamp(level, 0.0f, static_cast<float>((1 << bits) - 1)));
}

void gist::writeLevels(WeightFormat format, LevelRange range,
                       const uint8_t *levels, uint8_t *block) {
  assert(levelBits(format) != 0 && "a format without levels");
  const FormatInfo &info = formatInfo(format);
  std::memset(block, 0, info.blockBytes);
  std::memcpy(block + info.scale, &range.scale, 2);
  std::memcpy(block + info.minimum, &range.minimum, 2);
  writeValues(info, levels, block);
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
  const FormatInfo &info = formatInfo(WeightFormat::Q8_0);
  float largest = 0;
  for (int i = 0; i < kLength; ++i)
    largest = std::max(largest, std::fabs(values[i]));
  // The largest value is level 127 or -127.
  uint16_t half = floatToHalf(largest / 127);
  std::memset(block, 0, info.blockBytes);
  std::memcpy(block + info.scale, &half, 2);
  float scale = halfToFloat(half);
  uint8_t levels[kLength];
  for (int i = 0; i < kLength; ++i) {
    float level = scale == 0 ? 0 : std::nearbyint(values[i] / scale);
    levels[i] = static_cast<uint8_t>(
        static_cast<int>(std::clamp(level, -127.0f, 127.0f)) + info.zero);
  }
  writeValues(info, levels, block);
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
