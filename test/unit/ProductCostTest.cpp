//===- ProductCostTest.cpp - The model of costs and a card ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/ProductCost.h"

#include "gtest/gtest.h"

#include <cmath>
#include <map>
#include <tuple>

using namespace gist;

namespace {
/// Tiles are rows, columns and stages, as ProductTile has them.
struct Measured {
  ProductSize size;
  ProductTile tile;
  double microseconds;
};
} // namespace

/// One H200, f16, medians of 20 graphs of ten launches each.
static constexpr Measured kMeasured[] = {
    {{512, 16384, 4096}, {128, 256, 4}, 98.6},
    {{512, 16384, 4096}, {128, 224, 5}, 123.7},
    {{2048, 16384, 4096}, {128, 256, 4}, 426.1},
    {{2048, 16384, 4096}, {128, 224, 5}, 464.6},
    {{512, 4096, 14336}, {128, 256, 4}, 144.5},
    {{512, 4096, 14336}, {128, 128, 6}, 90.0},
    {{512, 4096, 14336}, {64, 256, 5}, 94.4},
    {{512, 4096, 14336}, {128, 160, 6}, 115.6},
    {{2048, 4096, 14336}, {128, 256, 4}, 377.3},
    {{2048, 4096, 14336}, {128, 128, 6}, 432.5},
    {{2048, 4096, 14336}, {64, 256, 5}, 430.4},
    {{2048, 4096, 14336}, {128, 160, 6}, 463.3},
    {{512, 4096, 4096}, {128, 128, 6}, 28.2},
    {{512, 4096, 4096}, {64, 256, 5}, 36.9},
    {{512, 4096, 4096}, {128, 160, 6}, 29.6},
    {{2048, 4096, 4096}, {128, 128, 6}, 109.1},
    {{2048, 4096, 4096}, {64, 256, 5}, 132.0},
    {{2048, 4096, 4096}, {128, 160, 6}, 137.6},
    {{512, 6144, 4096}, {128, 192, 5}, 38.5},
    {{512, 6144, 4096}, {128, 256, 4}, 45.3},
    {{2048, 6144, 4096}, {128, 192, 5}, 148.6},
    {{2048, 6144, 4096}, {128, 256, 4}, 157.0},
    {{512, 14336, 4096}, {128, 224, 5}, 88.3},
    {{512, 14336, 4096}, {128, 256, 4}, 105.5},
    {{2048, 14336, 4096}, {128, 224, 5}, 390.3},
    {{2048, 14336, 4096}, {128, 256, 4}, 378.0},
    {{512, 28672, 4096}, {128, 224, 5}, 187.8},
    {{512, 28672, 4096}, {128, 256, 4}, 220.6},
    {{2048, 28672, 4096}, {128, 224, 5}, 829.4},
    {{2048, 28672, 4096}, {128, 256, 4}, 785.5},
    {{512, 1024, 4096}, {64, 64, 8}, 14.4},
    {{512, 1024, 4096}, {64, 64, 6}, 16.7},
    {{512, 1024, 4096}, {64, 128, 8}, 15.0},
    {{512, 1024, 4096}, {128, 64, 8}, 17.5},
    {{2048, 1024, 4096}, {64, 64, 8}, 49.8},
    {{2048, 1024, 4096}, {64, 64, 6}, 49.6},
    {{2048, 1024, 4096}, {64, 128, 8}, 34.8},
    {{2048, 1024, 4096}, {128, 64, 8}, 34.5},
    {{512, 1536, 576}, {64, 64, 4}, 5.4},
    {{512, 1536, 576}, {64, 96, 5}, 5.1},
    {{512, 1536, 576}, {64, 128, 5}, 5.3},
    {{512, 1536, 576}, {128, 96, 4}, 5.7},
    {{512, 1536, 576}, {128, 96, 6}, 6.1},
    {{512, 1536, 576}, {128, 192, 5}, 8.2},
    {{2048, 1536, 576}, {64, 64, 4}, 12.2},
    {{2048, 1536, 576}, {64, 96, 5}, 12.0},
    {{2048, 1536, 576}, {64, 128, 5}, 13.2},
    {{2048, 1536, 576}, {128, 96, 4}, 9.1},
    {{2048, 1536, 576}, {128, 96, 6}, 11.4},
    {{2048, 1536, 576}, {128, 192, 5}, 8.7},
    {{512, 3072, 576}, {64, 96, 5}, 7.1},
    {{512, 3072, 576}, {64, 192, 5}, 7.1},
    {{512, 3072, 576}, {128, 96, 4}, 6.1},
    {{512, 3072, 576}, {128, 128, 6}, 6.9},
    {{512, 3072, 576}, {128, 192, 5}, 8.3},
    {{2048, 3072, 576}, {64, 96, 5}, 22.2},
    {{2048, 3072, 576}, {64, 192, 5}, 21.9},
    {{2048, 3072, 576}, {128, 96, 4}, 16.9},
    {{2048, 3072, 576}, {128, 128, 6}, 18.1},
    {{2048, 3072, 576}, {128, 192, 5}, 15.9},
    {{512, 576, 1536}, {64, 64, 4}, 6.5},
    {{512, 576, 1536}, {64, 64, 6}, 6.3},
    {{512, 576, 1536}, {64, 96, 6}, 7.1},
    {{512, 576, 1536}, {128, 64, 6}, 8.4},
    {{512, 576, 1536}, {128, 96, 6}, 9.3},
    {{2048, 576, 1536}, {64, 64, 4}, 12.6},
    {{2048, 576, 1536}, {64, 64, 6}, 16.4},
    {{2048, 576, 1536}, {64, 96, 6}, 13.1},
    {{2048, 576, 1536}, {128, 64, 6}, 16.2},
    {{2048, 576, 1536}, {128, 96, 6}, 9.7},
    {{512, 960, 576}, {64, 64, 4}, 4.4},
    {{512, 960, 576}, {64, 64, 6}, 4.3},
    {{512, 960, 576}, {128, 64, 6}, 5.5},
    {{2048, 960, 576}, {64, 64, 4}, 11.0},
    {{2048, 960, 576}, {64, 64, 6}, 10.5},
    {{2048, 960, 576}, {128, 64, 6}, 10.3},
    {{512, 576, 576}, {64, 64, 4}, 4.1},
    {{512, 576, 576}, {64, 96, 5}, 4.8},
    {{512, 576, 576}, {64, 32, 5}, 5.0},
    {{2048, 576, 576}, {64, 64, 4}, 6.8},
    {{2048, 576, 576}, {64, 96, 5}, 6.5},
    {{2048, 576, 576}, {64, 32, 5}, 9.1},
};

static const GpuInfo &getGpu() { return *getGpuInfo("sm_90"); }

// Logarithms, so that twice and half of the time are errors of one size.
TEST(ProductCost, IsNearWhatWasMeasured) {
  double sum = 0;
  for (const Measured &kernel : kMeasured) {
    double ratio = estimateProduct(kernel.size, kernel.tile, getGpu()) /
                   kernel.microseconds;
    EXPECT_GT(ratio, .7) << kernel.size.rows << " " << kernel.size.columns;
    EXPECT_LT(ratio, 1.45) << kernel.size.rows << " " << kernel.size.columns;
    sum += std::abs(std::log(ratio));
  }
  EXPECT_LT(sum / std::size(kMeasured), .08);
}

// What the estimate is for: of the tiles that were measured for a product, the
// one that it finds cheapest is nearly the fastest.
TEST(ProductCost, ChoosesWhatIsFast) {
  using Key = std::tuple<int64_t, int64_t, int64_t>;
  std::map<Key, llvm::SmallVector<Measured>> products;
  for (const Measured &kernel : kMeasured)
    products[{kernel.size.rows, kernel.size.columns, kernel.size.depth}]
        .push_back(kernel);
  for (const auto &[key, kernels] : products) {
    auto isCheaper = [](const Measured &a, const Measured &b) {
      return estimateProduct(a.size, a.tile, getGpu()) <
             estimateProduct(b.size, b.tile, getGpu());
    };
    auto isFaster = [](const Measured &a, const Measured &b) {
      return a.microseconds < b.microseconds;
    };
    double chosen = llvm::min_element(kernels, isCheaper)->microseconds;
    double fastest = llvm::min_element(kernels, isFaster)->microseconds;
    EXPECT_LT(chosen, fastest * 1.1)
        << std::get<0>(key) << " rows, " << std::get<2>(key) << " -> "
        << std::get<1>(key);
  }
}

// Code that needs more workgroup memory is refused when a session loads it.
TEST(ProductCost, TilesFitTheCard) {
  for (BlockSums sums :
       {BlockSums::None, BlockSums::Floats, BlockSums::Integers}) {
    auto tiles = getProductTiles(getGpu(), sums);
    EXPECT_FALSE(tiles.empty());
    for (const ProductTile &tile : tiles) {
      EXPECT_LE(tile.getMemory(), getGpu().workgroupMemory);
      EXPECT_GE(tile.stages, 4);
      EXPECT_EQ(tile.columns % 32, 0);
    }
  }
}

// Numbers of 8 bits have half as many steps, whose sums may have to be scaled.
TEST(ProductCost, EightBitsHaveHalfTheSteps) {
  ProductTile tile = {128, 256, 4};
  double floats = estimateProduct({2048, 4096, 8192, 2}, tile, getGpu());
  auto estimate = [&](BlockSums sums) {
    return estimateProduct({2048, 4096, 8192, 1, sums}, tile, getGpu());
  };
  double integers = estimate(BlockSums::Integers);
  EXPECT_GT(integers, floats / 2);
  EXPECT_LT(integers, floats * .7);
  EXPECT_LT(estimate(BlockSums::Floats), integers);
  EXPECT_LT(estimate(BlockSums::None), floats * .6);
}

TEST(ProductCost, FewTilesAreSmall) {
  // 512 x 576 of 128 x 256 would be 12 workgroups for 132 compute units.
  ProductTile narrow = chooseProductTile({512, 576, 1536}, getGpu());
  EXPECT_EQ(narrow.rows, 64);
  EXPECT_LE(narrow.columns, 96);
  // Where large tiles fill the card they read operands less often.
  ProductTile wide = chooseProductTile({512, 16384, 4096}, getGpu());
  EXPECT_EQ(wide.rows, 128);
  EXPECT_EQ(wide.columns, 256);
}

TEST(ProductCost, GroupsHaveTilesAsTheirRowsNeed) {
  // 512 tokens give each of 8 experts 128 rows, and each of 128 experts 32: no
  // tile of these has more than 64.
  ProductTile few = chooseGroupedTile({-1, 14336, 4096}, {8, 2}, getGpu());
  EXPECT_EQ(few.rows, 128);
  ProductTile many = chooseGroupedTile({512, 768, 2048}, {128, 8}, getGpu());
  EXPECT_EQ(many.rows, 64);
  // One group with all rows is a product.
  ProductTile one =
      chooseGroupedTile({512 - 64, 16384, 4096}, {1, 1}, getGpu());
  EXPECT_EQ(one.columns,
            chooseProductTile({512, 16384, 4096}, getGpu()).columns);
}

// Kernels of groups have a tile's rows and a count for each of up to 512 groups
// in workgroup memory too.
TEST(ProductCost, TilesLeaveRoomForRows) {
  for (const ProductTile &tile : getProductTiles(getGpu()))
    EXPECT_LE(tile.getMemory() + (tile.rows + 512) * 4 + 256,
              getGpu().workgroupMemory);
}
