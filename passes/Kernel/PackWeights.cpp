//===- PackWeights.cpp - Weights in the order kernels read them -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/PackWeights.h"
#include "dialect/GistOps.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Endian.h"

#include <array>
#include <cstring>

using namespace gist;
using llvm::ArrayRef;

static constexpr int64_t kBlock = PackingAttr::kBlock;

namespace {
/// 32 values of a row: d * (values - bias) + m, with a scale and a minimum for
/// each half, which are equal where the format has one for all. Scales are raw
/// f16 where the format stores them, and f32 where they are products.
struct Unpacked {
  std::array<uint8_t, kBlock> values; ///< without a sign
  std::array<uint32_t, 2> scales, minima;
};
} // namespace

static uint16_t readHalf(const uint8_t *bytes) {
  return llvm::support::endian::read16le(bytes);
}

static float toFloat(uint16_t half) {
  llvm::APFloat value(llvm::APFloat::IEEEhalf(), llvm::APInt(16, half));
  bool losesInfo = false;
  value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToFloat();
}

static uint32_t getBits(float value) { return llvm::bit_cast<uint32_t>(value); }

/// Low halves of bytes first, high halves after them.
static void readNibbles(const uint8_t *bytes, Unpacked &block) {
  for (int64_t i = 0; i < kBlock / 2; ++i) {
    block.values[i] = bytes[i] & 15;
    block.values[i + kBlock / 2] = bytes[i] >> 4;
  }
}

/// Eight bytes of four bit pairs: value i is pair i / 8 of byte i % 8.
static void readBitPairs(const uint8_t *bytes, Unpacked &block) {
  for (int64_t i = 0; i < kBlock; ++i)
    block.values[i] = bytes[i % 8] >> (2 * (i / 8)) & 3;
}

/// Bit pairs, and four bytes of the bits above them.
static void readThreeBits(const uint8_t *bytes, Unpacked &block) {
  readBitPairs(bytes, block);
  for (int64_t i = 0; i < kBlock; ++i)
    block.values[i] |= (bytes[8 + i % 4] >> (i / 4) & 1) << 2;
}

/// Group `part` of eight of a q4_k block.
static void readQ4K(const uint8_t *bytes, int64_t part, Unpacked &block) {
  const uint8_t *packed = bytes + 4;
  uint8_t scale, minimum;
  if (part < 4) {
    scale = packed[part] & 63;
    minimum = packed[part + 4] & 63;
  } else {
    scale = (packed[part + 4] & 15) | (packed[part - 4] >> 6 << 4);
    minimum = (packed[part + 4] >> 4) | (packed[part] >> 6 << 4);
  }
  const uint8_t *run = bytes + 16 + kBlock * (part / 2);
  for (int64_t i = 0; i < kBlock; ++i)
    block.values[i] = run[i] >> (4 * (part % 2)) & 15;
  block.scales.fill(getBits(toFloat(readHalf(bytes)) * scale));
  block.minima.fill(getBits(-(toFloat(readHalf(bytes + 2)) * minimum)));
}

/// Quarter `part` of eight of a q6_k block: two groups of 16.
static void readQ6K(const uint8_t *bytes, int64_t part, Unpacked &block) {
  int64_t half = part / 4, quarter = part % 4;
  const uint8_t *low = bytes + 64 * half + kBlock * (quarter % 2);
  const uint8_t *high = bytes + 128 + kBlock * half;
  for (int64_t i = 0; i < kBlock; ++i)
    block.values[i] = (low[i] >> (4 * (quarter / 2)) & 15) |
                      (high[i] >> (2 * quarter) & 3) << 4;
  float d = toFloat(readHalf(bytes + 208));
  for (int64_t i = 0; i < 2; ++i)
    block.scales[i] =
        getBits(d * static_cast<int8_t>(bytes[192 + 2 * part + i]));
}

/// The 32 values at `part` of a stored block, without a sign: `bias` is what
/// the format subtracts from them.
static Unpacked readBlock(BlockFormat format, const uint8_t *bytes,
                          int64_t part, int64_t &bias) {
  Unpacked block = {};
  bias = 0;
  switch (format) {
  case BlockFormat::Q4_0:
    block.scales.fill(readHalf(bytes));
    readNibbles(bytes + 2, block);
    bias = 8;
    return block;
  case BlockFormat::Q4_1:
  case BlockFormat::Q3_1:
  case BlockFormat::Q2_1:
    block.scales.fill(readHalf(bytes));
    block.minima.fill(readHalf(bytes + 2));
    if (format == BlockFormat::Q4_1)
      readNibbles(bytes + 4, block);
    else if (format == BlockFormat::Q3_1)
      readThreeBits(bytes + 4, block);
    else
      readBitPairs(bytes + 4, block);
    return block;
  case BlockFormat::Q8_0:
    block.scales.fill(readHalf(bytes));
    for (int64_t i = 0; i < kBlock; ++i)
      block.values[i] = bytes[2 + i] ^ 0x80;
    bias = 128;
    return block;
  case BlockFormat::Q4_K:
    readQ4K(bytes, part, block);
    return block;
  case BlockFormat::Q6_K:
    readQ6K(bytes, part, block);
    bias = 32;
    return block;
  }
  llvm_unreachable("all formats are listed");
}

/// Puts column `column` of a packed block in place.
static void writeBlock(PackingAttr packing, const Unpacked &block, int64_t bias,
                       int64_t column, uint8_t *out) {
  int64_t columns = packing.getColumns(), depth = packing.getDepth();
  int64_t width = packing.getScaleBits() / 8;
  for (int64_t g = 0; g < kBlock / packing.getGroup(); ++g) {
    uint8_t *at = out + (g * columns + column) * width;
    std::memcpy(at, &block.scales[g], width);
    if (packing.getHasMin())
      std::memcpy(at + packing.getMinOffset(), &block.minima[g], width);
  }
  uint8_t *values = out + packing.getValueOffset();
  // What is stored stands for itself less `zero`.
  int64_t shift = packing.getZero() - bias;
  for (int64_t i = 0; i < kBlock; ++i) {
    auto value = static_cast<uint8_t>(block.values[i] + shift);
    int64_t step = i / depth, lane = column * depth + i % depth;
    int64_t number = step * columns * depth + lane;
    int64_t pairs = 8 * columns, bits = 4 * columns;
    switch (packing.getBits()) {
    case 8:
      values[number] = value;
      break;
    case 4:
      values[step / 2 * columns * depth + lane] |= (value & 15)
                                                   << (4 * (step % 2));
      break;
    default: // Two bits, and the third where there is one.
      values[number % pairs] |= (value & 3) << (2 * (number / pairs));
      if (packing.getBits() == 3)
        values[pairs + number % bits] |= (value >> 2 & 1) << (number / bits);
    }
  }
}

std::vector<uint8_t> gist::packWeight(BlockFormat format, PackingAttr packing,
                                      ArrayRef<uint8_t> stored, int64_t rows,
                                      int64_t columns) {
  BlockLayout layout = getBlockLayout(format);
  int64_t parts = layout.values / kBlock;
  int64_t blocks = columns / kBlock;
  assert(static_cast<int64_t>(stored.size()) ==
             rows * columns / layout.values * layout.bytes &&
         "a weight of another size");
  auto shape = packing.getPackedShape(rows, columns);
  std::vector<uint8_t> packed(shape[0] * shape[1] * shape[2]);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t block = 0; block < blocks; ++block) {
      const uint8_t *in =
          stored.data() +
          (row * (blocks / parts) + block / parts) * layout.bytes;
      int64_t bias = 0;
      Unpacked unpacked = readBlock(format, in, block % parts, bias);
      uint8_t *out = packed.data() +
                     (row / packing.getColumns() * blocks + block) * shape[2];
      writeBlock(packing, unpacked, bias, row % packing.getColumns(), out);
    }
  return packed;
}
