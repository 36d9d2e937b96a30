//===- BlockFormats.cpp - How weights are stored --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/format/BlockFormats.h"
#include "runtime/format/Half.h"

#include <algorithm>
#include <cassert>
#include <cstring>

using namespace gist;

/// ggml's table of the format.
static constexpr int8_t kLevelsIq4Nl[] = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

static constexpr FormatInfo kFormats[] = {
#define GIST_FORMAT(Name, ...) {__VA_ARGS__},
#include "runtime/format/BlockFormats.def"
};

/// Loops over planes end at whole runs, and groups at the end of a block.
static constexpr bool arePlanesWhole() {
  for (const FormatInfo &format : kFormats) {
    if (!format.isQuantized())
      continue;
    if (format.blockLength > FormatInfo::kMaxBlockLength ||
        format.blockLength % format.group != 0)
      return false;
    for (size_t i = 0; i < format.numPlanes(); ++i)
      if (format.blockLength % format.planes[i].run() != 0)
        return false;
  }
  return true;
}
static_assert(arePlanesWhole());

const FormatInfo &gist::formatInfo(WeightFormat format) {
  return kFormats[static_cast<size_t>(format)];
}

std::span<const FormatInfo> gist::allFormats() { return kFormats; }

static bool find(std::string_view name, const char *FormatInfo::*field,
                 WeightFormat &format) {
  for (size_t i = 0; i < std::size(kFormats); ++i)
    if (name == kFormats[i].*field) {
      format = static_cast<WeightFormat>(i);
      return true;
    }
  return false;
}

bool gist::formatOfName(std::string_view name, WeightFormat &format) {
  return find(name, &FormatInfo::name, format);
}

bool gist::formatOfAttribute(std::string_view attribute, WeightFormat &format) {
  return find(attribute, &FormatInfo::attribute, format);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Turns two's complement into u and back: the top bit is the other one.
static void changeSigns(const FormatInfo &format, uint8_t *values) {
  if (format.isSigned)
    for (uint32_t i = 0; i < format.blockLength; ++i)
      values[i] ^= static_cast<uint8_t>(format.zero);
}

/// Turns numbers of levels into u and back. A u that is not a level becomes the
/// next level above.
static void setLevels(const FormatInfo &format, uint8_t *values) {
  if (format.levels)
    for (uint32_t i = 0; i < format.blockLength; ++i)
      values[i] = static_cast<uint8_t>(format.valueOfLevel(values[i]));
}
static void setNumbersOfLevels(const FormatInfo &format, uint8_t *values) {
  if (!format.levels)
    return;
  const int8_t *last = format.levels + (size_t(1) << format.bits) - 1;
  for (uint32_t i = 0; i < format.blockLength; ++i)
    values[i] = static_cast<uint8_t>(
        std::lower_bound(format.levels, last, values[i] - format.zero) -
        format.levels);
}

/// Calls `visit(bytes, shift, number)` for each `lanes` neighbours of a plane:
/// where their bytes begin, by how much bits are moved, the first number.
template <typename Visit>
static void walkPlane(const BitPlane &plane, uint32_t length, Visit visit) {
  for (uint32_t first = 0; first < length; first += plane.lanes)
    visit(plane.byteOf(first), plane.shiftOf(first), first);
}

void gist::readStored(const FormatInfo &format, const uint8_t *block,
                      uint8_t *values) {
  std::memset(values, 0, format.blockLength);
  for (size_t p = 0; p < format.numPlanes(); ++p) {
    // A copy: bytes that are written may be any object's.
    BitPlane plane = format.planes[p];
    auto visit = [&](uint32_t byte, uint32_t shift, uint32_t first) {
      for (uint32_t i = 0; i < plane.lanes; ++i)
        values[first + i] |= (block[byte + i] >> shift & plane.mask())
                             << plane.position;
    };
    walkPlane(plane, format.blockLength, visit);
  }
}

void gist::readValues(const FormatInfo &format, const uint8_t *block,
                      uint8_t *values) {
  readStored(format, block, values);
  changeSigns(format, values);
  setLevels(format, values);
}

void gist::writeValues(const FormatInfo &format, const uint8_t *values,
                       uint8_t *block) {
  uint8_t stored[FormatInfo::kMaxBlockLength];
  std::memcpy(stored, values, format.blockLength);
  setNumbersOfLevels(format, stored);
  changeSigns(format, stored);
  for (size_t p = 0; p < format.numPlanes(); ++p) {
    // A copy: bytes that are written may be any object's.
    BitPlane plane = format.planes[p];
    auto visit = [&](uint32_t byte, uint32_t shift, uint32_t first) {
      for (uint32_t i = 0; i < plane.lanes; ++i)
        block[byte + i] |= (stored[first + i] >> plane.position & plane.mask())
                           << shift;
    };
    walkPlane(plane, format.blockLength, visit);
  }
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

static float loadHalf(const uint8_t *bytes) {
  uint16_t half;
  std::memcpy(&half, bytes, sizeof(half));
  return halfToFloat(half);
}

/// The number of `group` in `bytes`, or where it is split the part in the bytes
/// of the rest from bit `shift` on.
static GroupFields splitFields(const SplitScales &split, uint32_t bytes,
                               uint32_t shift, uint32_t group) {
  if (group < split.whole)
    return {{{.byte = bytes + group, .shift = 0, .bits = split.bits}}};
  uint32_t other = group - split.whole;
  return {{{.byte = split.rest + other, .shift = shift, .bits = split.lowBits},
           {.byte = bytes + other,
            .shift = split.bits,
            .bits = split.highBits(),
            .position = split.lowBits}}};
}

/// Number `i` of those that lie in planes.
static GroupFields planeFields(const PlaneScales &scales, uint32_t i) {
  GroupFields result;
  for (size_t p = 0; p < scales.numPlanes(); ++p) {
    const BitPlane &plane = scales.planes[p];
    result[p] = {.byte = plane.byteOf(i),
                 .shift = plane.shiftOf(i),
                 .bits = plane.bits,
                 .position = plane.position};
  }
  return result;
}

GroupFields gist::groupScaleFields(const FormatInfo &format, uint32_t group) {
  if (format.groupScales == GroupScales::Bytes)
    return {{{.byte = format.groupScaleBytes + group, .shift = 0, .bits = 8}}};
  if (format.groupScales == GroupScales::Planes)
    return planeFields(format.planeScales, group);
  assert(format.groupScales == GroupScales::Split && "no scales of groups");
  return splitFields(format.split, format.split.scales, 0, group);
}

GroupFields gist::groupMinimumFields(const FormatInfo &format, uint32_t group) {
  assert(format.hasGroupMinima() && "no minima of groups");
  if (format.groupScales == GroupScales::Planes)
    return planeFields(format.planeScales, format.numGroups() + group);
  return splitFields(format.split, format.split.minima, format.split.lowBits,
                     group);
}

static int readFields(const uint8_t *block, const GroupFields &fields) {
  uint32_t result = 0;
  for (const BitField &field : fields)
    result |= (block[field.byte] >> field.shift & ((1U << field.bits) - 1))
              << field.position;
  return static_cast<int>(result);
}

GroupNumbers gist::readGroupNumbers(const FormatInfo &format,
                                    const uint8_t *block, uint32_t group) {
  GroupNumbers result;
  if (format.groupScales == GroupScales::None)
    return result;
  result.scale = readFields(block, groupScaleFields(format, group));
  if (format.groupScales == GroupScales::Bytes)
    result.scale = static_cast<int8_t>(result.scale);
  result.scale -= format.planeScales.zero;
  if (format.hasGroupMinima())
    result.minimum = readFields(block, groupMinimumFields(format, group));
  return result;
}

BlockScale gist::readScale(const FormatInfo &format, const uint8_t *block,
                           uint32_t group) {
  GroupNumbers numbers = readGroupNumbers(format, block, group);
  BlockScale result{
      loadHalf(block + format.scale) * static_cast<float>(numbers.scale), 0};
  if (format.hasMinimum())
    result.minimum =
        loadHalf(block + format.minimum) * static_cast<float>(numbers.minimum);
  if (format.subtractsMinimum)
    result.minimum = -result.minimum;
  return result;
}

//===----------------------------------------------------------------------===//
// Dequantizing
//===----------------------------------------------------------------------===//

static void dequantizeBlock(const FormatInfo &format, const uint8_t *block,
                            float *out) {
  uint8_t values[FormatInfo::kMaxBlockLength];
  readValues(format, block, values);
  for (uint32_t first = 0; first < format.blockLength; first += format.group) {
    auto [scale, minimum] = readScale(format, block, first / format.group);
    for (uint32_t i = first; i < first + format.group; ++i) {
      auto value = static_cast<float>(values[i] - format.zero);
      // A sum with 0 would lose the sign of zeros.
      out[i] = format.hasMinimum() ? scale * value + minimum : scale * value;
    }
  }
}

void gist::dequantize(WeightFormat format, Bytes blocks, float *out) {
  const FormatInfo &info = formatInfo(format);
  assert(blocks.size % info.blockBytes == 0 && "a block is cut off");
  if (format == WeightFormat::F32) {
    std::memcpy(out, blocks.data, blocks.size);
    return;
  }
  const uint8_t *end = blocks.data + blocks.size;
  for (const uint8_t *block = blocks.data; block != end;
       block += info.blockBytes, out += info.blockLength) {
    if (info.isQuantized()) {
      dequantizeBlock(info, block, out);
      continue;
    }
    uint16_t bits;
    std::memcpy(&bits, block, sizeof(bits));
    *out =
        format == WeightFormat::F16 ? halfToFloat(bits) : bfloatToFloat(bits);
  }
}
