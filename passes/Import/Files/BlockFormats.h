//===- BlockFormats.h - How weights are stored ------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A weight is a row-major tensor whose rows are cut into blocks of equal size.
// A plain element type is the special case of blocks of one element. The
// quantised formats are those of ggml, bit for bit, but for Q3_1 and Q2_1,
// which plans write.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_FILES_BLOCKFORMATS_H
#define GIST_PASSES_IMPORT_FILES_BLOCKFORMATS_H

#include "runtime/support/Bytes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gist {

enum class WeightFormat {
  F32,
  F16,
  BF16,
  Q8_0,
  Q4_0,
  Q4_1,
  Q4_K,
  Q6_K,
  Q3_1,
  Q2_1
};

struct FormatInfo {
  const char *name;     ///< As ggml prints it, and the attribute in lower case.
  uint32_t ggmlType;    ///< The number in a GGUF file, where it has one.
  uint32_t blockLength; ///< Elements in a block.
  uint32_t blockBytes;

  bool isQuantized() const { return blockLength != 1; }
};

const FormatInfo &formatInfo(WeightFormat format);

/// Sets `format` to the one of this name; false where there is none.
bool formatOfName(std::string_view name, WeightFormat &format);

/// The format of a tensor of a GGUF file; an unknown one is refused by name.
Status formatOfGgmlType(uint32_t ggmlType, WeightFormat &format);

/// Sets `bytes` to what a tensor of this shape takes. Refuses a size that does
/// not fit in 63 bits and rows that are not a whole number of blocks.
Status storedBytes(WeightFormat format, const std::vector<int64_t> &shape,
                   uint64_t &bytes);

/// The exact value of a 16-bit float.
float halfToFloat(uint16_t half);
float bfloatToFloat(uint16_t bfloat);

/// Writes the elements of whole blocks to `out`, in order. `blocks.size` must
/// be a multiple of the block's size, and `out` have room for its elements.
void dequantize(WeightFormat format, Bytes blocks, float *out);

/// The nearest 16-bit float, ties to even.
uint16_t floatToHalf(float value);

/// Scale and minimum of a block of levels, as halves: d and m of d * level + m.
struct LevelRange {
  uint16_t scale, minimum;
};
/// Bits of a level for formats of the form d * level + m, 0 for others.
int levelBits(WeightFormat format);
/// The range whose lowest level is `low` and whose highest is `high`.
LevelRange levelRange(float low, float high, int bits);
uint8_t nearestLevel(float value, float scale, float minimum, int bits);
/// Writes a block of 32 levels.
void writeLevels(WeightFormat format, LevelRange range, const uint8_t *levels,
                 uint8_t *block);

/// Writes whole blocks of the nearest values that `format` has: F32, F16, Q8_0
/// and the formats of levels. Ranges are those of the values of a block.
void quantize(WeightFormat format, const float *values, size_t count,
              uint8_t *blocks);

/// A tensor of a file that stays mapped: `content` points into it.
struct StoredTensor {
  WeightFormat format = WeightFormat::F32;
  std::vector<int64_t> shape; ///< Outermost dimension first.
  Bytes content;
  std::string file; ///< The path of the file, as it was opened.
  uint64_t fileOffset = 0;

  int64_t numElements() const {
    int64_t count = 1;
    for (int64_t dim : shape)
      count *= dim;
    return count;
  }
};

/// "576x1536", for messages.
std::string shapeText(const std::vector<int64_t> &shape);

/// A name out of a file, in quotes, short and printable, for messages.
std::string inQuotes(std::string_view name);

} // namespace gist

#endif // GIST_PASSES_IMPORT_FILES_BLOCKFORMATS_H
