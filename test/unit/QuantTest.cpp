//===- QuantTest.cpp - Storage formats against the gguf package -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/BlockFormats.h"
#include "passes/Import/Files/Gguf.h"
#include "runtime/support/MappedFile.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace gist;

namespace {

/// test/models/make_blocks.py wrote every format beside what the gguf package
/// makes of it.
TEST(QuantTest, EveryFormatAgreesWithTheGgufPackage) {
  std::unique_ptr<MappedFile> mapped;
  Status opened =
      MappedFile::open(GIST_SOURCE_DIR "/test/models/blocks.gguf", mapped);
  ASSERT_TRUE(opened.ok()) << opened.text;
  GgufFile file;
  Status read = readGguf(mapped->bytes(), file);
  ASSERT_TRUE(read.ok()) << read.text;

  for (const char *name :
       {"f16", "bf16", "q8_0", "q4_0", "q4_1", "q4_k", "q6_k", "q5_0", "q5_1",
        "q5_k", "q3_k", "q2_k", "iq4_nl"}) {
    SCOPED_TRACE(name);
    const StoredTensor &stored = file.tensors.at(name);
    const StoredTensor &reference =
        file.tensors.at(std::string(name) + ".expected");
    ASSERT_EQ(stored.shape, (std::vector<int64_t>{2, 512}));
    ASSERT_EQ(reference.shape, stored.shape);
    ASSERT_EQ(reference.format, WeightFormat::F32);
    std::vector<float> values(1024), expected(1024);
    dequantize(stored.format, stored.content, values.data());
    dequantize(reference.format, reference.content, expected.data());
    float largest = 0;
    for (int i = 0; i < 1024; ++i) {
      // A fused multiply-add rounds once where the reference rounds twice: an
      // ulp of the two terms (at most 0.4 * 63 * 15), not of their difference.
      EXPECT_NEAR(values[i], expected[i], 4e-5f) << "element " << i;
      largest = std::max(largest, std::fabs(values[i]));
    }
    EXPECT_GT(largest, 0.1f); // The data is not all zeros.
  }
}

// Denormals, signed zero, infinity and NaN, by their bits.
TEST(QuantTest, HalvesAreExact) {
  EXPECT_EQ(halfToFloat(0x3c00), 1.0f);
  EXPECT_EQ(halfToFloat(0xc000), -2.0f);
  EXPECT_EQ(halfToFloat(0x7bff), 65504.0f);
  EXPECT_EQ(halfToFloat(0x0001), 0x1p-24f); // The smallest subnormal.
  EXPECT_EQ(halfToFloat(0x83ff), -0x1.ff8p-15f);
  EXPECT_TRUE(std::signbit(halfToFloat(0x8000)));
  EXPECT_EQ(halfToFloat(0x8000), 0.0f);
  EXPECT_EQ(halfToFloat(0xfc00), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(halfToFloat(0x7c01)));
  EXPECT_EQ(bfloatToFloat(0x3fc0), 1.5f);
}

// All positive halves, and the points between each two.
TEST(QuantTest, FloatsBecomeTheNearestHalves) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    auto half = static_cast<uint16_t>(bits);
    float value = halfToFloat(half), next = halfToFloat(half + 1);
    ASSERT_EQ(floatToHalf(value), half);
    ASSERT_EQ(floatToHalf(-value), half | 0x8000);
    if (half == 0x7bff)
      continue;
    // Halfway goes to the even one, a little less or more to the nearer.
    float middle = (value + next) / 2;
    ASSERT_EQ(floatToHalf(middle), half + half % 2);
    ASSERT_EQ(floatToHalf(std::nextafter(middle, 0.0f)), half);
    ASSERT_EQ(floatToHalf(std::nextafter(middle, next)), half + 1);
  }
  EXPECT_EQ(floatToHalf(65519.0f), 0x7bff);
  EXPECT_EQ(floatToHalf(65520.0f), 0x7c00);
  EXPECT_EQ(floatToHalf(-INFINITY), 0xfc00);
  EXPECT_TRUE(std::isnan(halfToFloat(floatToHalf(NAN))));
}

// Also for a block whose values are all equal, where the scale is zero.
TEST(QuantTest, BlocksHoldTheNearestLevels) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0.3f, 2);
  for (WeightFormat format :
       {WeightFormat::F32, WeightFormat::F16, WeightFormat::Q8_0,
        WeightFormat::Q4_1, WeightFormat::Q3_1, WeightFormat::Q2_1}) {
    SCOPED_TRACE(formatInfo(format).name);
    std::vector<float> values(128), back(128);
    for (float &value : values)
      value = normal(random);
    std::fill(values.begin() + 64, values.begin() + 96, 0.25f); // No range.
    uint64_t bytes = 0;
    ASSERT_TRUE(storedBytes(format, {2, 64}, bytes).ok());
    std::vector<uint8_t> blocks(bytes);
    quantize(format, values.data(), values.size(), blocks.data());
    dequantize(format, {blocks.data(), blocks.size()}, back.data());
    for (size_t first = 0; first < 128; first += 32) {
      auto [low, high] = std::minmax_element(values.begin() + first,
                                             values.begin() + first + 32);
      float size = std::max(std::fabs(*low), std::fabs(*high));
      int bits = levelBits(format);
      float step = bits ? (*high - *low) / static_cast<float>((1 << bits) - 1)
                        : size / 127;
      // Half a step, and the rounding of halves.
      for (size_t i = first; i < first + 32; ++i)
        EXPECT_NEAR(back[i], values[i], 0.5f * step + 2e-3f * size) << i;
    }
  }
}

// A size that wraps would pass the comparison with the file.
TEST(QuantTest, SizesAreCheckedForOverflow) {
  uint64_t bytes = 0;
  EXPECT_TRUE(storedBytes(WeightFormat::Q6_K, {3, 512}, bytes).ok());
  EXPECT_EQ(bytes, 3u * 2 * 210);
  EXPECT_EQ(storedBytes(WeightFormat::Q4_0, {2, 48}, bytes).text,
            "rows of 48 elements are not whole blocks of 32 (Q4_0)");
  EXPECT_EQ(storedBytes(WeightFormat::F32, {1LL << 32, 1LL << 32}, bytes).text,
            "shape 4294967296x4294967296 is empty or too large");
  EXPECT_FALSE(storedBytes(WeightFormat::F32, {4, 0}, bytes).ok());
  EXPECT_FALSE(storedBytes(WeightFormat::F32, {-4, -4}, bytes).ok());
}

// People ask for a format by its name, not by ggml's number.
TEST(QuantTest, UnknownFormatsAreRefusedByName) {
  WeightFormat format{};
  EXPECT_EQ(formatOfGgmlType(17, format).text,
            "the ggml type 17 (IQ2_XS) is not supported; supported are F32, "
            "F16, BF16, "
            "Q8_0, Q4_0, Q4_1, Q4_K, Q6_K, Q5_0, Q5_1, Q5_K, Q3_K, Q2_K, "
            "IQ4_NL");
  EXPECT_FALSE(formatOfGgmlType(4, format).ok());
  ASSERT_TRUE(formatOfGgmlType(30, format).ok());
  EXPECT_EQ(format, WeightFormat::BF16);
}

} // namespace
