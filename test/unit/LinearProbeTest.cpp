//===- LinearProbeTest.cpp - Weights as a module has them -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/LinearProbe.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace gist;
using namespace gist::plan;

namespace {

/// Two rows of 32 whole numbers with the scale 1: q8_0 stores them as they are.
Matrix makeWeight() {
  Matrix weight(2, 32);
  for (Eigen::Index i = 0; i < 32; ++i) {
    weight(0, i) = static_cast<float>(i == 0 ? 127 : 3 * i - 60);
    weight(1, i) = static_cast<float>(i == 31 ? -127 : 20 - 2 * i);
  }
  return weight;
}

/// Bytes as dialect/GistTileAttrs.td orders them: the scales of all columns,
/// then [32 / depth][columns][depth] values.
TEST(LinearProbe, BytesAreInTheOrderOfTheInstruction) {
  Matrix weight = makeWeight();
  struct Case {
    const char *storage;
    size_t columns, depth;
    int zero; ///< what is added to a value to store it
  };
  for (auto [storage, columns, depth, zero] :
       {Case{"q8_0/8x8", 8, 8, 0}, Case{"q8_0/4x8", 4, 8, 0},
        Case{"q8_0/16x4u", 16, 4, 128}}) {
    SCOPED_TRACE(storage);
    std::vector<uint8_t> bytes;
    Status status = encodeWeight(weight, storage, bytes);
    ASSERT_TRUE(status.ok()) << status.text;
    ASSERT_EQ(bytes.size(), columns * (2 + 32));
    for (size_t row = 0; row < 2; ++row) {
      EXPECT_EQ(bytes[2 * row], 0x00); // 1 as an f16 is 0x3c00.
      EXPECT_EQ(bytes[2 * row + 1], 0x3c);
      for (size_t i = 0; i < 32; ++i) {
        size_t at =
            2 * columns + i / depth * columns * depth + row * depth + i % depth;
        auto value = static_cast<int>(weight(static_cast<Eigen::Index>(row),
                                             static_cast<Eigen::Index>(i)));
        EXPECT_EQ(bytes[at], static_cast<uint8_t>(value + zero))
            << "row " << row << " value " << i;
      }
    }
  }
}

// Formats without blocks need no order.
TEST(LinearProbe, PlainNumbersStayAsTheyAre) {
  Matrix weight = makeWeight();
  std::vector<uint8_t> bytes;
  ASSERT_TRUE(encodeWeight(weight, "f32", bytes).ok());
  ASSERT_EQ(bytes.size(), 2u * 32 * 4);
  EXPECT_EQ(std::memcmp(bytes.data(), weight.data(), bytes.size()), 0);
  ASSERT_TRUE(encodeWeight(weight, "f16", bytes).ok());
  ASSERT_EQ(bytes.size(), 2u * 32 * 2);
  EXPECT_EQ(bytes[0] | bytes[1] << 8, 0x57f0); // 127
}

// A probe that stored something else than the module would measure nonsense.
TEST(LinearProbe, OtherStorageIsRefused) {
  std::vector<uint8_t> bytes;
  for (const char *storage : {"", "bf16", "q4_1", "q4_0/8x8", "q8_0/8x7",
                              "q8_0/8x8x", "q8_0/8", "int8"})
    EXPECT_EQ(encodeWeight(makeWeight(), storage, bytes).text,
              std::string("weights that are stored as ") + storage +
                  " cannot be measured");
  EXPECT_FALSE(encodeWeight(Matrix::Zero(2, 33), "q8_0/8x8", bytes).ok());
}

} // namespace
