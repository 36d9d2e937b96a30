//===- BlockFormats.h - How weights are stored ------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A weight is a row-major tensor whose rows are cut into blocks of equal size.
// A plain element type is the special case of blocks of one element. The
// quantised formats are those of ggml, bit for bit.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_BLOCKFORMATS_H
#define GIST_PASSES_IMPORT_BLOCKFORMATS_H

#include "runtime/Bytes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gist {

enum class WeightFormat { F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q4_K, Q6_K };

struct FormatInfo {
  const char *name;     ///< As ggml prints it, and the attribute in lower case.
  uint32_t ggmlType;    ///< The number in a GGUF file.
  uint32_t blockLength; ///< Elements in a block.
  uint32_t blockBytes;

  bool isQuantized() const { return blockLength != 1; }
};

const FormatInfo &formatInfo(WeightFormat format);

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

#endif // GIST_PASSES_IMPORT_BLOCKFORMATS_H
