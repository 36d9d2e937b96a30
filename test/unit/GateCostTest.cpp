//===- GateCostTest.cpp - What gates of many tokens cost, and a card ------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/GateCost.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace gist;

static const GpuInfo &getGpu() { return *getGpuInfo("sm_90"); }

namespace {
struct Measured {
  int64_t rows, open;
  double microseconds;
};
} // namespace

/// 4096->16384 with a rank of 256 on one H200, f16, bench/gpu/gpu_kernels.py.
/// Gates are drawn at random, so the rows that are open are counted: 276 of 512
/// are three tiles of rows, where 256 would be two (of 2048 about 232 are open,
/// two tiles either way). The model was fitted to
/// earlier times of the rows with 0, 58 and 512; the others were held out.
static constexpr GateSize kWide = {16384, 4096, 256};
static constexpr Measured kMeasured[] = {
    {512, 0, 53.9},    {512, 58, 94.4},    {512, 276, 147.3},
    {512, 512, 183.3}, {2048, 232, 209.3},
};

/// V is transposed in these times; a plan stores it both ways.
static constexpr double kTransposeV = 2 + 2. * 2 * 256 * 4096 / 2.5e6;

TEST(GateCostTest, TimesAreNearWhatWasMeasured) {
  for (const Measured &measured : kMeasured) {
    double open =
        static_cast<double>(measured.open) / static_cast<double>(measured.rows);
    double ratio =
        (estimateGated(kWide, measured.rows, open, getGpu()) + kTransposeV) /
        measured.microseconds;
    EXPECT_NEAR(std::log(ratio), 0, std::log(1.15))
        << measured.rows << " rows, " << measured.open << " open";
  }
}

/// Wide layers gather rows by level; narrow ones, where what finds a gate costs
/// more than the product, have none.
TEST(GateCostTest, WideLayersPay) {
  EXPECT_GE(findLargestOpen({16384, 4096, 256}, getGpu()), 0.2);
  EXPECT_GE(findLargestOpen({28672, 4096, 256}, getGpu()), 0.2);
  EXPECT_LT(findLargestOpen({1536, 576, 64}, getGpu()), kLikelyOpen);
  EXPECT_LT(findLargestOpen({576, 1536, 64}, getGpu()), kLikelyOpen);
  EXPECT_LT(findLargestOpen({1024, 4096, 256}, getGpu()), kLikelyOpen);
}

/// More open rows never make gates look better.
TEST(GateCostTest, OpenRowsCost) {
  for (int64_t rows : {512, 2048})
    EXPECT_LT(estimateGated({16384, 4096, 256}, rows, 0, getGpu()),
              estimateGated({16384, 4096, 256}, rows, 1, getGpu()));
}
