//===- BlockFormats.h - How weights are stored ------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensors of model files, and blocks that are made of numbers. What the formats
// are stands in runtime/format/BlockFormats.h.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_FILES_BLOCKFORMATS_H
#define GIST_PASSES_IMPORT_FILES_BLOCKFORMATS_H

#include "runtime/format/BlockFormats.h"
#include "runtime/format/Half.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gist {

/// The format of a tensor of a GGUF file; an unknown one is refused by name.
Status formatOfGgmlType(uint32_t ggmlType, WeightFormat &format);

/// Sets `bytes` to what a tensor of this shape takes. Refuses a size that does
/// not fit in 63 bits and rows that are not a whole number of blocks.
Status storedBytes(WeightFormat format, const std::vector<int64_t> &shape,
                   uint64_t &bytes);

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
