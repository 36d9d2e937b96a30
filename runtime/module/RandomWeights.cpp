//===- RandomWeights.cpp - Weights of random numbers ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/RandomWeights.h"

#include "runtime/format/Half.h"
#include "runtime/support/Hash.h"
#include "runtime/support/TextBytes.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace gist;

/// 0 for formats that cannot be made up.
uint64_t gist::randomWidth(const std::string &format) {
  if (format == "f32")
    return 4;
  if (format == "i8" || parseSmallFloat(format))
    return 1;
  return format == "f16" || format == "bf16" ? 2 : 0;
}

/// Number `index` of a sequence in which every 64-bit number occurs
/// (splitmix64).
static uint64_t getRandom(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

/// The weights that are one below the other in this one, by their names:
/// "k[192]+q[576]" has 192 rows of k. One that says no rows is whole.
/// A merged weight thus has the numbers of its parts, and a model gives the
/// same results whether products were merged or not.
static std::vector<std::pair<std::string_view, uint64_t>>
findParts(const WeightSpec &weight) {
  std::vector<std::pair<std::string_view, uint64_t>> whole = {
      {weight.name, weight.size}};
  if (weight.shape.empty() || weight.shape[0] <= 0)
    return whole;
  auto allRows = static_cast<uint64_t>(weight.shape[0]);
  uint64_t bytesOfRow = weight.size / allRows, rows = 0;
  std::vector<std::pair<std::string_view, uint64_t>> parts;
  for (std::string_view rest = weight.name; !rest.empty();) {
    std::string_view part = rest.substr(0, rest.find('+'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    size_t bracket = part.rfind('[');
    if (bracket == std::string_view::npos || !part.ends_with("]"))
      return whole;
    uint64_t count = 0;
    const char *end = part.data() + part.size() - 1;
    auto read = std::from_chars(part.data() + bracket + 1, end, count);
    if (read.ec != std::errc() || read.ptr != end || count > allRows - rows)
      return whole;
    rows += count;
    parts.emplace_back(part.substr(0, bracket), count * bytesOfRow);
  }
  return rows * bytesOfRow == weight.size ? parts : whole;
}

/// Calls `fill` on parts of `size` bytes side by side; a part begins at a
/// multiple of `unit`.
static void
fillInParts(uint64_t size, uint64_t unit,
            const std::function<void(uint64_t begin, uint64_t end)> &fill) {
  constexpr uint64_t kWorthAThread = 1 << 20; // bytes
  uint64_t threads =
      std::min<uint64_t>(std::max(1u, std::thread::hardware_concurrency()),
                         std::max<uint64_t>(1, size / kWorthAThread));
  // Rounded up to whole units, so that the numbers do not depend on the number
  // of threads.
  uint64_t part = (size / threads + unit) / unit * unit;
  std::vector<std::thread> others;
  for (uint64_t begin = part; begin < size; begin += part)
    others.emplace_back(fill, begin, std::min(begin + part, size));
  fill(0, std::min(part, size));
  for (std::thread &other : others)
    other.join();
}

Status gist::makeRandomWeight(
    const WeightSpec &weight,
    const std::function<Status(uint64_t offset, Bytes)> &sink) {
  // There are 2^16 numbers to choose from, each as likely as any other:
  // choosing is faster than rounding.
  constexpr uint32_t kChoices = 1 << 16;
  constexpr uint64_t kPiece = 1 << 26; // bytes
  auto [mean, spread] = *weight.random;
  uint64_t width = randomWidth(weight.format);
  std::vector<uint32_t> choices(kChoices);
  std::optional<SmallFloat> small = parseSmallFloat(weight.format);
  for (uint32_t i = 0; i < kChoices; ++i) {
    // The centres of 2^16 equal parts of [mean - spread, mean + spread].
    float value =
        mean + spread * ((2 * static_cast<float>(i) + 1) / kChoices - 1);
    choices[i] = width == 4 ? std::bit_cast<uint32_t>(value)
                 : small    ? floatToSmall(value, *small)
                 : width == 1
                     ? static_cast<uint8_t>(static_cast<int8_t>(
                           std::clamp(std::round(value), -127.0f, 127.0f)))
                 : weight.format == "f16" ? floatToHalf(value)
                                          : floatToBfloat(value);
  }

  // In pieces, because a weight may be larger than free memory.
  std::vector<uint8_t> bytes(std::min(weight.size, kPiece));
  uint64_t first = 0;
  for (const auto &[name, partSize] : findParts(weight)) {
    // The name alone: a weight has the same numbers in every module.
    uint64_t seed = hashBytes(bytesOf(name));
    for (uint64_t begin = 0; begin < partSize; begin += kPiece) {
      uint64_t size = std::min(partSize - begin, kPiece);
      // Each random number chooses four.
      uint64_t unit = 4 * width;
      fillInParts(size, unit, [&, begin = begin](uint64_t at, uint64_t end) {
        while (at < end) {
          uint64_t random = getRandom(seed, (begin + at) / unit);
          for (int i = 0; i < 4 && at < end; ++i, at += width) {
            std::memcpy(&bytes[at], &choices[random % kChoices], width);
            random /= kChoices;
          }
        }
      });
      GIST_TRY(sink(first + begin, {bytes.data(), size}));
    }
    first += partSize;
  }
  return {};
}
