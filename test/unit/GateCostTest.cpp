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
  int64_t rows;
  GateSize size;
  double open, microseconds;
};
} // namespace

/// One H200, f16, bench/gpu/gpu_kernels.py. V is transposed in these times.
static constexpr Measured kMeasured[] = {
    {512, {16384, 4096, 256}, 0, 59.8},
    {512, {16384, 4096, 256}, 0.1, 100.0},
    {512, {16384, 4096, 256}, 1, 185.3},
};

TEST(GateCostTest, TimesAreNearWhatWasMeasured) {
  for (const Measured &measured : kMeasured) {
    double ratio =
        estimateGated(measured.size, measured.rows, measured.open, getGpu()) /
        measured.microseconds;
    EXPECT_NEAR(std::log(ratio), 0, std::log(1.3)) << measured.open;
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
