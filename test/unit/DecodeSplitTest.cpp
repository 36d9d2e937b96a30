//===- DecodeSplitTest.cpp - Products that attention of one query takes ---===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/DecodeSplit.h"

#include "gtest/gtest.h"

using namespace gist;

/// Of heads of 64 numbers.
static bool takes(int64_t heads, int64_t kvHeads, int64_t depth, int64_t bits,
                  const char *gpu = "sm_90") {
  return takesProduct(heads, kvHeads, /*headSize=*/64, /*valueSize=*/64, depth,
                      bits, *getGpuInfo(gpu));
}

TEST(DecodeSplitTest, ProductsAreTakenWhoseWeightsFitIntoRegisters) {
  // SmolLM2-135M: 320 columns for 128 waves, three for each, of three pieces of
  // four registers.
  EXPECT_TRUE(takes(9, 3, 576, 16));
  // In f32 each piece has eight.
  EXPECT_FALSE(takes(9, 3, 576, 32));
  // Four pieces are the most.
  EXPECT_TRUE(takes(9, 3, 1024, 16));
  EXPECT_FALSE(takes(9, 3, 1032, 16));
}

TEST(DecodeSplitTest, LargeModelsKeepTheirProducts) {
  // Llama 3 8B: clusters of two, heads of 128.
  EXPECT_FALSE(takesProduct(32, 8, 128, 128, 4096, 16, *getGpuInfo("sm_90")));
}

TEST(DecodeSplitTest, WithoutClustersNoneIsTaken) {
  EXPECT_FALSE(takes(9, 3, 576, 16, "gfx942"));
}
