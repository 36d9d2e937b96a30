//===- PackedLayout.h - Weights in the order kernels read them --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What #gist.packing says, for code that works on bytes:
// dialect/GistTileAttrs.td describes the layout.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_FORMAT_PACKEDLAYOUT_H
#define GIST_RUNTIME_FORMAT_PACKEDLAYOUT_H

#include "runtime/format/BlockFormats.h"

#include <optional>
#include <string>
#include <vector>

namespace gist {

struct PackedLayout {
  /// Values of one block along K.
  static constexpr int64_t kBlock = 32;

  int64_t columns = 0, depth = 0, bits = 0, group = 0, scaleBits = 0, zero = 0;
  bool isSigned = false, hasMin = false;

  bool operator==(const PackedLayout &) const = default;

  /// An error message for invalid numbers, "expects ..."; empty if they are
  /// valid.
  std::string findFault() const;

  /// Blocks that share one f16 scale and minimum, which multiply the 8-bit
  /// numbers of their groups. Scales of more bits are floats of one block.
  int64_t sharingBlocks() const { return scaleBits == 8 ? 8 : 1; }
  /// Bytes of what they share, in front of them: scales and then minima.
  int64_t sharedBytes() const {
    return scaleBits == 8 ? columns * 2 * (hasMin ? 2 : 1) : 0;
  }
  int64_t superblockBytes() const {
    return sharedBytes() + sharingBlocks() * blockBytes();
  }
  /// Where the minima and the values begin in a block, and its size.
  int64_t minOffset() const {
    return columns * (kBlock / group) * scaleBits / 8;
  }
  int64_t valueOffset() const { return minOffset() * (hasMin ? 2 : 1); }
  int64_t blockBytes() const {
    return valueOffset() + columns * kBlock * bits / 8;
  }
  /// Where the scale of a group of a column lies; its minimum is minOffset()
  /// further on.
  int64_t scaleOffset(int64_t column, int64_t group) const {
    return (group * columns + column) * scaleBits / 8;
  }
  /// The number of value `i` of a column in the order of values.
  int64_t numberOf(int64_t column, int64_t i) const {
    return i / depth * columns * depth + column * depth + i % depth;
  }
  /// Where the bits of values lie, by number; the second has no lanes where one
  /// holds them all.
  std::array<BitPlane, 2> planes() const;
  size_t numPlanes() const { return planes()[1].lanes != 0 ? 2 : 1; }

  /// The shape of a packed weight of `rows` x `values`, in bytes.
  std::array<int64_t, 3> packedShape(int64_t rows, int64_t values) const {
    int64_t sharing = sharingBlocks();
    return {(rows + columns - 1) / columns,
            (values / kBlock + sharing - 1) / sharing, superblockBytes()};
  }
};

/// How weights of `format` are packed for an instruction that multiplies
/// `columns` x `depth` of them, and that takes them without a sign or with one.
PackedLayout packedLayout(WeightFormat format, int64_t columns, int64_t depth,
                          bool isUnsigned);

/// The bytes of a weight of `rows` x `columns` values, stored in blocks of
/// `format`, in the order that `layout` describes. `stored` has the size that
/// the format gives it; `columns` is a whole number of blocks. Packing is
/// exact: no value changes.
std::vector<uint8_t> packWeight(WeightFormat format, const PackedLayout &layout,
                                std::span<const uint8_t> stored, int64_t rows,
                                int64_t columns);

/// How the bytes of a weight of a module are to be read.
struct WeightStorage {
  WeightFormat format = WeightFormat::F32;
  std::optional<PackedLayout> packing;

  bool operator==(const WeightStorage &) const = default;
};

/// The text of a module's metadata: "f16", "q4_1", and with a packing for
/// columns x depth "q4_1/8x8"; "q8_0/16x4u" for an instruction that takes
/// weights without a sign, where that makes a difference.
std::string printStorage(const WeightStorage &storage);
/// Reads the text of printStorage; false for any other text.
bool parseStorage(std::string_view text, WeightStorage &storage);

} // namespace gist

#endif // GIST_RUNTIME_FORMAT_PACKEDLAYOUT_H
