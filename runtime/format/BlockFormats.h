//===- BlockFormats.h - How weights are stored ------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A weight is a row-major tensor whose rows are cut into blocks of equal size.
// A plain element type is the special case of blocks of one element.
// BlockFormats.def describes each format once: everything that reads or writes
// blocks, here, in the definition of gist.dequantize and in kernels, takes
// offsets and shifts from it.
//
// A value u of a block, assembled from the planes, stands for
//
//     d * (u - zero)             without a minimum
//     d * (u - zero) + m         with one; m is negated where it is subtracted
//
// where d and m are the block's f16 numbers, times those of the value's group
// where groups have their own. Where a format has `levels`, what the planes
// hold is the number of a level, and u - zero is that level.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_FORMAT_BLOCKFORMATS_H
#define GIST_RUNTIME_FORMAT_BLOCKFORMATS_H

#include "runtime/format/BitPlane.h"
#include "runtime/support/Bytes.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace gist {

enum class WeightFormat {
#define GIST_FORMAT(Name, ...) Name,
#include "runtime/format/BlockFormats.def"
};

/// Whether the groups of a block have whole numbers that scale the block's d
/// and m.
enum class GroupScales {
  None,
  Bytes,  ///< for d alone, a byte with a sign each
  Split,  ///< for d and m, see SplitScales
  Planes, ///< for d, and for m where there is one, see PlaneScales
};

/// Scales and minima of `bits` bits without a sign. Those of the first `whole`
/// groups are whole in the low bits of `whole` bytes at `scales` and `minima`.
/// Each of the others has `lowBits` bits in the bytes at `rest`, scales in the
/// low and minima in the high ones, and the rest at the top of the byte that
/// group - `whole` has.
struct SplitScales {
  uint32_t scales = 0, minima = 0, rest = 0;
  uint32_t whole = 0, bits = 0, lowBits = 0;

  constexpr uint32_t highBits() const { return bits - lowBits; }
};

/// Scales of groups whose bits lie in planes as those of values do, less
/// `zero`. Minima, which have no zero, are the numbers after the scales.
struct PlaneScales {
  int32_t zero = 0;
  std::array<BitPlane, 2> planes = {}; ///< the lowest bits first

  constexpr size_t numPlanes() const { return planes[1].lanes != 0 ? 2 : 1; }
};

/// One row of BlockFormats.def. What comes after blockBytes is for formats with
/// blocks; offsets are bytes of a block.
struct FormatInfo {
  /// For formats that no GGUF file has.
  static constexpr uint32_t kNoGgmlType = UINT32_MAX;
  static constexpr uint32_t kMaxBlockLength = 256;
  static constexpr uint32_t kNoMinimum = UINT32_MAX;

  const char *name;                ///< As ggml prints it.
  const char *attribute;           ///< In #gist.block_format and in modules.
  uint32_t ggmlType = kNoGgmlType; ///< The number in a GGUF file.
  uint32_t blockLength;            ///< Elements in a block.
  uint32_t blockBytes;

  uint32_t bits = 0;     ///< of a value, as it is stored
  int32_t zero = 0;      ///< the value that stands for 0, or for m
  bool isSigned = false; ///< stored in two's complement, which is u - zero
  std::array<BitPlane, 2> planes = {}; ///< the lowest bits first
  const int8_t *levels = nullptr;      ///< 2^bits of them, in ascending order
  uint32_t group = 0;                  ///< values that share a scale
  uint32_t scale = 0;                  ///< where d lies
  uint32_t minimum = kNoMinimum;       ///< where m lies
  bool subtractsMinimum = false;
  GroupScales groupScales = GroupScales::None;
  uint32_t groupScaleBytes = 0; ///< where GroupScales::Bytes lie
  SplitScales split = {};
  PlaneScales planeScales = {};

  constexpr bool isQuantized() const { return blockLength != 1; }
  constexpr bool hasMinimum() const { return minimum != kNoMinimum; }
  constexpr bool hasGroupMinima() const {
    return groupScales != GroupScales::None && hasMinimum();
  }
  constexpr size_t numPlanes() const { return planes[1].lanes != 0 ? 2 : 1; }
  constexpr uint32_t numGroups() const { return blockLength / group; }
  /// Bits of u.
  constexpr uint32_t valueBits() const { return levels ? 8 : bits; }
  /// What u is for the level of this number.
  constexpr uint32_t valueOfLevel(uint32_t number) const {
    return static_cast<uint8_t>(levels[number] + zero);
  }
  /// Neighbours whose bits one load gives in each plane and that share a scale.
  constexpr uint32_t neighbours() const {
    uint32_t result = group;
    for (size_t i = 0; i < numPlanes(); ++i)
      result =
          planes[i].neighbours() < result ? planes[i].neighbours() : result;
    return result;
  }
};

const FormatInfo &formatInfo(WeightFormat format);

/// Every format, in the order of WeightFormat.
std::span<const FormatInfo> allFormats();

/// Sets `format` to the one of this name or attribute; false if there is no
/// such format.
bool formatOfName(std::string_view name, WeightFormat &format);
bool formatOfAttribute(std::string_view attribute, WeightFormat &format);

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// What the planes of a block hold: numbers of levels where there are some,
/// else values, with a sign where they are stored with one.
void readStored(const FormatInfo &format, const uint8_t *block,
                uint8_t *values);
/// The values of a block, without a sign: u of the formula above.
void readValues(const FormatInfo &format, const uint8_t *block,
                uint8_t *values);
/// Writes them to a block where their bits are zero.
void writeValues(const FormatInfo &format, const uint8_t *values,
                 uint8_t *block);

/// Where the scale and the minimum of a group are, in one or two parts, of
/// formats whose groups have them. The second part may have no bits.
using GroupFields = std::array<BitField, 2>;
GroupFields groupScaleFields(const FormatInfo &format, uint32_t group);
GroupFields groupMinimumFields(const FormatInfo &format, uint32_t group);

/// The numbers of a group that multiply d and m; 1 where it has none.
struct GroupNumbers {
  int scale = 1, minimum = 1;
};
GroupNumbers readGroupNumbers(const FormatInfo &format, const uint8_t *block,
                              uint32_t group);

/// d and m of a group; m is 0 if the format has no minimum.
struct BlockScale {
  float scale, minimum;
};
BlockScale readScale(const FormatInfo &format, const uint8_t *block,
                     uint32_t group);

/// Writes the elements of whole blocks to `out`, in order. `blocks.size` must
/// be a multiple of the block's size, and `out` have room for its elements.
void dequantize(WeightFormat format, Bytes blocks, float *out);

} // namespace gist

#endif // GIST_RUNTIME_FORMAT_BLOCKFORMATS_H
