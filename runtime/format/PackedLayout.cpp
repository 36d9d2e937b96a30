//===- PackedLayout.cpp - Weights in the order kernels read them ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/format/PackedLayout.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstring>

using namespace gist;

static constexpr int64_t kBlock = PackedLayout::kBlock;

std::string PackedLayout::findFault() const {
  auto text = [](int64_t number) { return std::to_string(number); };
  // A bound far beyond every instruction keeps sizes from overflowing.
  constexpr int64_t kMaxColumns = 1 << 16;
  if (columns < 1 || columns > kMaxColumns || depth < 1 ||
      kBlock % (2 * depth) != 0)
    return "expects columns > 0 and a depth that divides 16, got " +
           text(columns) + " and " + text(depth);
  if (bits != 8 && (bits < 2 || bits > 6))
    return "expects 2 to 6 or 8 bits, got " + text(bits);
  if (group != kBlock && group != kBlock / 2)
    return "expects groups of 16 or 32, got " + text(group);
  if (scaleBits != 8 && scaleBits != 16)
    return "expects scales of 8 or 16 bits, got " + text(scaleBits);
  return {};
}

std::array<BitPlane, 2> PackedLayout::planes() const {
  auto number = [](int64_t value) { return static_cast<uint32_t>(value); };
  // Bytes of a plane that is one run over the whole block.
  auto oneRun = [&](int64_t bits) {
    return number(columns * kBlock * bits / 8);
  };
  // The most bits of a power of two; two steps of `depth` share bytes of
  // halves.
  int64_t lowBits = bits < 4 ? 2 : bits < 8 ? 4 : 8, highBits = bits - lowBits;
  BitPlane low{.offset = number(valueOffset()),
               .lanes = bits < 4 ? oneRun(lowBits) : number(columns * depth),
               .bits = number(lowBits)};
  if (highBits == 0)
    return {{low}};
  return {{low,
           {.offset = low.offset + oneRun(lowBits),
            .lanes = oneRun(highBits),
            .bits = number(highBits),
            .position = number(lowBits)}}};
}

PackedLayout gist::packedLayout(WeightFormat format, int64_t columns,
                                int64_t depth, bool isUnsigned) {
  const FormatInfo &info = formatInfo(format);
  PackedLayout layout;
  layout.columns = columns;
  layout.depth = depth;
  layout.bits = info.bits;
  layout.group = info.group;
  layout.scaleBits = info.groupScales == GroupScales::None ? 16 : 8;
  layout.hasMin = info.hasMinimum();
  layout.zero = isUnsigned ? info.zero : 0;
  layout.isSigned = !isUnsigned && info.zero != 0;
  return layout;
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

namespace {
/// Writes rows of a weight as columns of packed blocks.
class Packer {
public:
  Packer(const FormatInfo &format, const PackedLayout &layout);

  /// Puts what the blocks of `in` share in place.
  void writeShared(const uint8_t *in, int64_t column, uint8_t *out) const;
  /// Puts the 32 values at `values` in place, which are `first` and up of the
  /// stored block `in`.
  void write(const uint8_t *in, const uint8_t *values, uint32_t first,
             int64_t column, uint8_t *out) const;

private:
  /// Writes the f16 scale and minimum of a stored block.
  void writeHalves(const uint8_t *in, uint8_t *scale, uint8_t *minimum) const;

  /// Where a plane has the bits of one value.
  struct Place {
    uint32_t byte;
    uint8_t shift;
  };
  const FormatInfo &format;
  const PackedLayout &layout;
  std::array<BitPlane, 2> planes;
  /// For each plane, indexed by column and then value, so that divisions are
  /// done once.
  std::array<std::vector<Place>, 2> places;
  int64_t shift;
};
} // namespace

Packer::Packer(const FormatInfo &format, const PackedLayout &layout)
    : format(format), layout(layout), planes(layout.planes()),
      // What is stored stands for itself less `zero`; numbers of levels stay.
      shift(format.levels ? 0 : layout.zero - format.zero) {
  for (size_t p = 0; p < layout.numPlanes(); ++p)
    for (int64_t column = 0; column < layout.columns; ++column)
      for (int64_t i = 0; i < kBlock; ++i) {
        auto number = static_cast<uint32_t>(layout.numberOf(column, i));
        places[p].push_back({planes[p].byteOf(number),
                             static_cast<uint8_t>(planes[p].shiftOf(number))});
      }
}

void Packer::writeHalves(const uint8_t *in, uint8_t *scale,
                         uint8_t *minimum) const {
  std::memcpy(scale, in + format.scale, 2);
  if (!layout.hasMin)
    return;
  std::memcpy(minimum, in + format.minimum, 2);
  // The second byte has the sign.
  if (format.subtractsMinimum)
    minimum[1] ^= 0x80;
}

void Packer::writeShared(const uint8_t *in, int64_t column,
                         uint8_t *out) const {
  out += column * 2;
  if (layout.sharedBytes() != 0)
    writeHalves(in, out, out + layout.columns * 2);
}

void Packer::write(const uint8_t *in, const uint8_t *values, uint32_t first,
                   int64_t column, uint8_t *out) const {
  for (int64_t g = 0; g < kBlock / layout.group; ++g) {
    uint8_t *scale = out + layout.scaleOffset(column, g);
    uint8_t *minimum = scale + layout.minOffset();
    if (layout.sharedBytes() == 0) {
      writeHalves(in, scale, minimum);
      continue;
    }
    GroupNumbers numbers = readGroupNumbers(
        format, in, first / format.group + static_cast<uint32_t>(g));
    *scale = static_cast<uint8_t>(numbers.scale);
    if (layout.hasMin)
      *minimum = static_cast<uint8_t>(numbers.minimum);
  }
  for (size_t p = 0; p < layout.numPlanes(); ++p) {
    const Place *place = places[p].data() + column * kBlock;
    uint32_t position = planes[p].position, mask = planes[p].mask();
    for (int64_t i = 0; i < kBlock; ++i) {
      auto value = static_cast<uint8_t>(values[i] + shift);
      out[place[i].byte] |= (value >> position & mask) << place[i].shift;
    }
  }
}

std::vector<uint8_t> gist::packWeight(WeightFormat format,
                                      const PackedLayout &layout,
                                      std::span<const uint8_t> stored,
                                      int64_t rows, int64_t columns) {
  const FormatInfo &info = formatInfo(format);
  assert(static_cast<int64_t>(stored.size()) ==
             rows * columns / info.blockLength * info.blockBytes &&
         "a weight of another size");
  auto shape = layout.packedShape(rows, columns);
  std::vector<uint8_t> packed(
      static_cast<size_t>(shape[0] * shape[1] * shape[2]));
  Packer packer(info, layout);
  const uint8_t *in = stored.data();
  for (int64_t row = 0; row < rows; ++row) {
    uint8_t *out = packed.data() + row / layout.columns * shape[1] * shape[2];
    int64_t number = 0; // of the block in its row
    for (int64_t block = 0; block < columns / info.blockLength; ++block) {
      uint8_t values[FormatInfo::kMaxBlockLength];
      if (info.levels)
        readStored(info, in, values);
      else
        readValues(info, in, values);
      for (uint32_t i = 0; i < info.blockLength; i += kBlock, ++number) {
        uint8_t *shared = out + number / layout.sharingBlocks() * shape[2];
        packer.writeShared(in, row % layout.columns, shared);
        packer.write(in, values + i, i, row % layout.columns,
                     shared + layout.sharedBytes() +
                         number % layout.sharingBlocks() * layout.blockBytes());
      }
      in += info.blockBytes;
    }
  }
  return packed;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string gist::printStorage(const WeightStorage &storage) {
  std::string text = formatInfo(storage.format).attribute;
  if (!storage.packing)
    return text;
  text += "/" + std::to_string(storage.packing->columns) + "x" +
          std::to_string(storage.packing->depth);
  return text + (storage.packing->zero != 0 ? "u" : "");
}

/// Takes a number from the front of `text`.
static bool takeNumber(std::string_view &text, int64_t &number) {
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc())
    return false;
  text = {rest, static_cast<size_t>(end - rest)};
  return true;
}

/// Takes a character from the front of `text` if it is this one.
static bool take(std::string_view &text, char character) {
  if (text.empty() || text.front() != character)
    return false;
  text.remove_prefix(1);
  return true;
}

bool gist::parseStorage(std::string_view text, WeightStorage &storage) {
  WeightStorage result;
  size_t slash = std::min(text.find('/'), text.size());
  if (!formatOfAttribute(text.substr(0, slash), result.format))
    return false;
  std::string_view rest = text.substr(slash);
  if (take(rest, '/')) {
    int64_t columns = 0, depth = 0;
    if (!formatInfo(result.format).isQuantized() ||
        !takeNumber(rest, columns) || !take(rest, 'x') ||
        !takeNumber(rest, depth))
      return false;
    bool isUnsigned = take(rest, 'u');
    PackedLayout layout =
        packedLayout(result.format, columns, depth, isUnsigned);
    if (!layout.findFault().empty() || (isUnsigned && layout.zero == 0))
      return false;
    result.packing = layout;
  }
  if (!rest.empty())
    return false;
  storage = result;
  return true;
}
