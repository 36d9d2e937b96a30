//===- DecodeSplitTest.cpp - Keys and products of one query ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/DecodeSplit.h"

#include "gtest/gtest.h"

#include <utility>

using namespace gist;

/// Workgroups of a cluster and clusters of a head on an H200.
using Share = std::pair<int64_t, int64_t>;
static Share share(int64_t heads, int64_t kvHeads) {
  DecodeSplit split = getDecodeSplit(heads, kvHeads, *getGpuInfo("sm_90"));
  return {split.workgroups, split.parts};
}

TEST(DecodeSplitTest, ClustersAreLargeWhereTheyFillTheCard) {
  // 15 clusters of 8 run side by side: 5 for each KV head of SmolLM2.
  EXPECT_EQ(share(9, 3), Share(8, 5));
  // GPT-2 has 12 heads, with one cluster each.
  EXPECT_EQ(share(12, 12), Share(8, 1));
  EXPECT_EQ(share(15, 15), Share(8, 1));
}

TEST(DecodeSplitTest, PartsAreAsManyAsAreReadAtOnce) {
  // Of 8 heads, as in Llama 3 8B, there would be 16 parts of one workgroup.
  EXPECT_EQ(share(32, 8), Share(2, 8));
  // GPT-J and OPT 6.7B.
  EXPECT_EQ(share(16, 16), Share(1, 8));
  EXPECT_EQ(share(32, 32), Share(1, 4));
  // Two workgroups share the keys of a head in their own memory.
  EXPECT_EQ(share(64, 64), Share(2, 1));
}

TEST(DecodeSplitTest, WorkgroupsOfLargeClustersHaveTwoSteps) {
  auto getSteps = [](int64_t heads, int64_t kvHeads, const char *gpu) {
    return getDecodeSplit(heads, kvHeads, *getGpuInfo(gpu)).stepsOfPart;
  };
  EXPECT_EQ(getSteps(9, 3, "sm_90"), 2);
  // Llama 3 8B and GPT-J.
  EXPECT_EQ(getSteps(32, 8, "sm_90"), 1);
  EXPECT_EQ(getSteps(16, 16, "sm_90"), 1);
  EXPECT_EQ(getSteps(9, 3, "gfx942"), 1);
}

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

/// Of heads of 64 numbers.
static bool takesHeads(int64_t heads, int64_t kvHeads, int64_t columns,
                       int64_t bits, const char *gpu = "sm_90") {
  return takesOutput(heads, kvHeads, /*valueSize=*/64, columns, bits,
                     *getGpuInfo(gpu));
}

TEST(DecodeSplitTest, WorkgroupsShareTheProductOfTheirHeads) {
  // SmolLM2-135M: 72 rows for a workgroup, which four lanes share, six pieces
  // of 192 numbers each.
  DecodeSplit split = getDecodeSplit(9, 3, *getGpuInfo("sm_90"));
  OutputSplit output = getOutputSplit(split, 192, 576);
  EXPECT_EQ(output.rows, 72);
  EXPECT_EQ(output.lanes, 4);
  EXPECT_EQ(output.pieces, 6);
  // No more lanes than pieces.
  EXPECT_EQ(getOutputSplit(split, 16, 32).lanes, 2);
}

TEST(DecodeSplitTest, HeadsAreMultipliedWhereWeightsFitIntoRegisters) {
  EXPECT_TRUE(takesHeads(9, 3, 576, 16));
  EXPECT_FALSE(takesHeads(9, 3, 576, 32));
  // 128 rows are the most that four lanes share.
  EXPECT_TRUE(takesHeads(9, 3, 1024, 16));
  EXPECT_FALSE(takesHeads(9, 3, 1032, 16));
}

TEST(DecodeSplitTest, FewRowsAreAddedUp) {
  EXPECT_TRUE(takesHeads(4, 4, 512, 16));
  EXPECT_FALSE(takesHeads(5, 5, 512, 16));
}

TEST(DecodeSplitTest, WithoutClustersHeadsAreNotMultiplied) {
  EXPECT_FALSE(takesHeads(9, 3, 576, 16, "gfx942"));
  // Llama 3 8B has eight rows.
  EXPECT_FALSE(takesOutput(32, 8, 128, 4096, 16, *getGpuInfo("sm_90")));
}
