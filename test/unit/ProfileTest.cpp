//===- ProfileTest.cpp - What bounds a command ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Profile.h"

#include <gtest/gtest.h>

using namespace gist;

namespace {
/// Round numbers, so that shares can be computed in the head.
constexpr DeviceLimits kLimits{
    .bytesPerSecond = 4e12, .flopsPerSecond = 1e15, .launchSeconds = 2e-6};

CommandTotal total(uint64_t calls, int64_t nanoseconds, double flops,
                   double bytes) {
  CommandTotal result;
  result.calls = calls;
  result.nanoseconds = nanoseconds;
  result.flops = flops;
  result.bytes = bytes;
  return result;
}
} // namespace

// What bounds a command tells where work on it could pay.
TEST(Profile, BoundIsTheLimitThatTakesLongest) {
  // 1 GB at 4 TB/s are 250 us of 500; 0.1 TFLOP at 1 PFLOP/s are 100.
  BoundShare found = findBound(total(1, 500000, 1e11, 1e9), kLimits);
  EXPECT_EQ(found.bound, Bound::Bytes);
  EXPECT_DOUBLE_EQ(found.share, 0.5);
  found = findBound(total(1, 500000, 4e11, 1e9), kLimits);
  EXPECT_EQ(found.bound, Bound::Matrix);
  EXPECT_DOUBLE_EQ(found.share, 0.8);
  // 100 launches of 2 us in 250.
  found = findBound(total(100, 250000, 1e9, 1e6), kLimits);
  EXPECT_EQ(found.bound, Bound::Launch);
  EXPECT_DOUBLE_EQ(found.share, 0.8);
}

// A share of an unknown limit would be a made-up number.
TEST(Profile, BoundIsUnknownWithoutLimitsOrTime) {
  EXPECT_EQ(findBound(total(1, 500000, 1e11, 1e9), {}).bound, Bound::Unknown);
  EXPECT_EQ(findBound(total(1, 0, 1e11, 1e9), kLimits).bound, Bound::Unknown);
  EXPECT_STREQ(toString(Bound::Unknown), "-");
}

// Commands of all layers are added up under these names.
TEST(Profile, RoleIsTheEndOfTheWeightsNames) {
  ModuleSpec spec;
  for (const char *name :
       {"layers.3.mlp.gate_proj.weight", "layers.3.mlp.gate_proj.bias",
        "layers.3.attn.k.weight[4]+layers.3.attn.q.weight[8]", "rotary.cos",
        "embedding"}) {
    spec.buffers.push_back(
        {.name = name,
         .kind = BufferKind::Weight,
         .base = static_cast<uint32_t>(spec.weights.size())});
    spec.weights.push_back({.name = name});
  }
  auto role = [&](std::vector<uint32_t> buffers) {
    CommandSpec command;
    for (uint32_t buffer : buffers)
      command.args.push_back(ArgSpec::of(buffer));
    return roleOf(spec, command);
  };
  EXPECT_EQ(role({0, 1}), "gate_proj");
  EXPECT_EQ(role({2}), "k+q");
  EXPECT_EQ(role({3}), "");
  EXPECT_EQ(role({3, 4}), "embedding");
  EXPECT_EQ(role({}), "");
}
