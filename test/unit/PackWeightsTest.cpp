//===- PackWeightsTest.cpp - Packed weights stand for the same numbers ----===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads packed bytes back as #gist.packing describes them and compares with
// what the stored blocks stand for.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/PackWeights.h"
#include "dialect/Formats.h"
#include "dialect/GistOps.h"
#include "mlir/IR/MLIRContext.h"
#include "passes/Import/Files/BlockFormats.h"
#include "passes/Target/Info/TargetInfo.h"

#include "gtest/gtest.h"

#include <cstring>
#include <random>

using namespace gist;

namespace {

struct Format {
  WeightFormat stored;
  BlockFormat block;
};
constexpr Format kFormats[] = {
#define GIST_BLOCK_FORMAT(Name) {WeightFormat::Name, BlockFormat::Name},
#include "runtime/format/BlockFormats.def"
};

/// An instruction that takes signed weights, and one that does not.
/// So both forms of packed values are covered.
constexpr const char *kTargets[] = {"aarch64-linux-gnu", "x86_64-linux-gnu"};

double readHalf(const uint8_t *bytes) {
  uint16_t half;
  std::memcpy(&half, bytes, sizeof(half));
  return halfToFloat(half);
}

/// Value `i` of column `column` of a packed block, which is one of eight behind
/// the f16 numbers that they share where scales have 8 bits.
double readPacked(PackingAttr packing, const FormatInfo &info,
                  const uint8_t *block, int64_t column, int64_t i) {
  int64_t columns = packing.getColumns(), depth = packing.getDepth();
  bool isShared = packing.getScaleBits() == 8;
  const uint8_t *halves = block + 2 * column;
  if (isShared)
    block += 2 * columns * (packing.getHasMin() ? 2 : 1) +
             i / 32 * packing.getBlockBytes();
  i %= 32;
  int64_t number = i / packing.getGroup() * columns + column;
  // The scale, or the minimum that is `minOffset` further on.
  auto readNumber = [&](int64_t minOffset, int64_t half) {
    if (!isShared)
      return readHalf(block + minOffset + 2 * number);
    auto factor = static_cast<int8_t>(block[minOffset + number]);
    return readHalf(halves + half * 2 * columns) * factor;
  };
  double scale = readNumber(0, 0);
  double minimum =
      packing.getHasMin() ? readNumber(packing.getMinOffset(), 1) : 0;
  const uint8_t *values = block + packing.getValueOffset();
  int64_t bits = packing.getBits(), lowBits = bits < 4 ? 2 : bits < 8 ? 4 : 8;
  int64_t step = i / depth, lane = column * depth + i % depth;
  int64_t place = step * columns * depth + lane, u;
  // A plane of `b` bits that all values of the block share is 4 * b bytes a
  // column.
  auto readRun = [&](const uint8_t *plane, int64_t b) {
    int64_t run = 4 * b * columns;
    return plane[place % run] >> (b * (place / run)) & ((1 << b) - 1);
  };
  if (lowBits == 8)
    u = values[place];
  else if (lowBits == 2)
    u = readRun(values, 2);
  else // Two steps share a byte; the even one is in the low half.
    u = values[step / 2 * columns * depth + lane] >> (4 * (step % 2)) & 15;
  if (bits > lowBits)
    u |= readRun(values + 4 * lowBits * columns, bits - lowBits) << lowBits;
  if (info.levels) // Which one; they are what values less the zero point are.
    return scale * info.levels[u];
  if (packing.getIsSigned() && u >> (bits - 1) != 0)
    u -= int64_t(1) << bits;
  return scale * static_cast<double>(u - packing.getZero()) + minimum;
}

/// Bytes of blocks; scales are small enough that no f16 among them is infinite.
std::vector<uint8_t> makeBlocks(const FormatInfo &format, int64_t count) {
  std::mt19937 random(7);
  std::vector<uint8_t> bytes(count * format.blockBytes);
  for (uint8_t &byte : bytes)
    byte = static_cast<uint8_t>(random());
  for (int64_t i = 0; i < count; ++i) {
    uint8_t *block = bytes.data() + i * format.blockBytes;
    auto shrink = [&](uint32_t half) {
      // Keeps the sign and the fraction; the exponent becomes that of 2^-3.
      block[half + 1] = 0x30 | (block[half + 1] & 0x83);
    };
    shrink(format.scale);
    if (format.hasMinimum())
      shrink(format.minimum);
  }
  return bytes;
}

// The two enumerations and the table are three places; this keeps them
// together.
TEST(PackWeightsTest, TheDialectNamesFormatsAsModulesDo) {
  for (Format format : kFormats) {
    EXPECT_EQ(stringifyBlockFormat(format.block),
              formatInfo(format.stored).attribute);
    EXPECT_EQ(getBlockFormat(format.stored), format.block);
    EXPECT_EQ(getWeightFormat(format.block), format.stored);
  }
  EXPECT_EQ(std::size(kFormats), getMaxEnumValForBlockFormat() + 1u);
}

// Packing moves bits and must not change any number.
TEST(PackWeightsTest, PackedWeightsStandForTheSameNumbers) {
  mlir::MLIRContext context;
  context.loadDialect<GistDialect>();
  // Not a multiple of any number of columns, and two long blocks.
  constexpr int64_t kRows = 19, kColumns = 512;
  for (const char *triple : kTargets)
    for (Format format : kFormats) {
      const FormatInfo &info = formatInfo(format.stored);
      SCOPED_TRACE(std::string(triple) + " " + info.name);
      auto target = getTargetInfo({triple, "generic", ""},
                                  [](const llvm::Twine &) { FAIL(); });
      ASSERT_TRUE(mlir::succeeded(target));
      PackingAttr packing = getPacking(&context, format.block, *target);
      std::vector<uint8_t> stored =
          makeBlocks(info, kRows * kColumns / info.blockLength);
      std::vector<float> expected(kRows * kColumns);
      dequantize(format.stored, {stored.data(), stored.size()},
                 expected.data());

      std::vector<uint8_t> packed =
          packWeight(format.block, packing, stored, kRows, kColumns);
      auto shape = packing.getPackedShape(kRows, kColumns);
      ASSERT_EQ(static_cast<int64_t>(packed.size()),
                shape[0] * shape[1] * shape[2]);
      for (int64_t row = 0; row < kRows; ++row)
        for (int64_t i = 0; i < kColumns; ++i) {
          // Blocks of 32 or 256 values of as many rows as the packing has
          // columns.
          int64_t length = kColumns / shape[1];
          const uint8_t *block =
              packed.data() +
              (row / packing.getColumns() * shape[1] + i / length) * shape[2];
          double value = readPacked(packing, info, block,
                                    row % packing.getColumns(), i % length);
          // The reference rounds d * u + m once or twice in f32.
          double want = expected[row * kColumns + i];
          ASSERT_NEAR(value, want, 1e-5 * (std::abs(want) + 100))
              << "row " << row << " value " << i;
        }
    }
}

} // namespace
