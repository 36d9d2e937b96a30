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

// q = x Wq (layer 4); rows turn q; attention reads that and the cache; rows
// follow it; o reads them; something reads nothing that is known.
TEST(Profile, CommandsWithoutWeightsHaveTheirSourcesPlace) {
  ModuleSpec spec;
  auto addBuffer = [&](const char *name, BufferKind kind) {
    spec.buffers.push_back({.name = name, .kind = kind});
    return static_cast<uint32_t>(spec.buffers.size() - 1);
  };
  uint32_t wq = addBuffer("wq", BufferKind::Weight);
  uint32_t wo = addBuffer("wo", BufferKind::Weight);
  spec.buffers[wq].base = 0;
  spec.buffers[wo].base = 1;
  spec.weights = {{.name = "l.4.q_proj.weight"}, {.name = "l.4.o_proj.weight"}};
  uint32_t x = addBuffer("x", BufferKind::Input);
  uint32_t cache = addBuffer("cache", BufferKind::State);
  uint32_t q = addBuffer("q", BufferKind::Arena);
  uint32_t turned = addBuffer("turned", BufferKind::Arena);
  uint32_t attended = addBuffer("attended", BufferKind::Arena);
  uint32_t joined = addBuffer("joined", BufferKind::Arena);
  uint32_t y = addBuffer("y", BufferKind::Arena);
  EntrySpec entry{.name = "prefill"};
  auto addCommand = [&](const char *label, int32_t layer,
                        std::vector<uint32_t> buffers) {
    CommandSpec command;
    command.kernel = static_cast<uint32_t>(spec.kernels.size());
    spec.kernels.push_back({.name = label});
    command.label = label;
    command.layer = layer;
    for (uint32_t buffer : buffers)
      command.args.push_back(ArgSpec::of(buffer));
    entry.commands.push_back(std::move(command));
  };
  addCommand("matmul_0", 4, {x, wq, q});
  addCommand("rows_1", -1, {q, turned});
  addCommand("attention_0", -1, {cache, turned, attended});
  addCommand("rows_2", -1, {attended, joined});
  addCommand("matmul_1", 4, {joined, wo, y});
  addCommand("rows_3", -1, {q, y, addBuffer("z", BufferKind::Arena)});
  addCommand("rows_4", -1, {x, cache});
  std::vector<CommandPlace> places = placesOf(spec, entry);
  ASSERT_EQ(places.size(), 7u);
  const char *roles[] = {
      "q_proj", "of q_proj",        "of q_proj", "of attention",
      "o_proj", "of q_proj+o_proj", ""};
  for (size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(places[i].role, roles[i]) << i;
    EXPECT_EQ(places[i].layer, i == 6 ? -1 : 4) << i;
  }
  // Totals and the trace have them too.
  Profile profile;
  for (size_t i = 0; i < entry.commands.size(); ++i)
    profile.add(spec, entry, i, {0, 1}, 0, 0);
  ASSERT_EQ(profile.totals().size(), 7u);
  EXPECT_EQ(profile.totals()[3].role, "of attention");
  EXPECT_EQ(profile.totals()[3].layer, 4);
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
