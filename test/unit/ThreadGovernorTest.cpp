//===- ThreadGovernorTest.cpp - How many threads a busy machine has -------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/ThreadGovernor.h"

#include <gtest/gtest.h>

using namespace gist;

namespace {
constexpr int64_t kMillisecond = 1'000'000;

/// Runs of 4 ms, one after the other, that lose a part of their time.
class Machine {
public:
  explicit Machine(unsigned threads) : governor(threads) {}

  /// `lost(threads)` is in percent. Returns how many of the runs had fewer than
  /// all threads.
  template <typename Lost> int run(int64_t milliseconds, Lost lost) {
    int fewer = 0;
    for (int64_t end = now + milliseconds * kMillisecond; now < end;) {
      now += 4 * kMillisecond;
      fewer += governor.threads() < 4 ? 1 : 0;
      governor.note(now, 4 * kMillisecond,
                    4 * kMillisecond * lost(governor.threads()) / 100);
    }
    return fewer;
  }

  ThreadGovernor governor;
  int64_t now = 5000 * kMillisecond;
};
} // namespace

TEST(ThreadGovernor, KeepsAllOnAnIdleMachine) {
  Machine machine(4);
  // What a desktop takes now and then.
  EXPECT_EQ(machine.run(60'000, [](unsigned) { return 5; }), 0);
  EXPECT_EQ(machine.governor.threads(), 4u);
}

// One other process: four threads lose half of one core, three lose nothing.
TEST(ThreadGovernor, GivesUpOneCore) {
  Machine machine(4);
  auto lost = [](unsigned threads) { return threads == 4 ? 50 : 0; };
  machine.run(20, lost);
  EXPECT_EQ(machine.governor.threads(), 3u);
  // Attempts with the fourth become rare: after pauses of 250, 500, 1000, 2000,
  // 4000 and 8000 ms. Each is four runs: the fourth brings what was lost above
  // 15 % of 40 ms.
  int fewer = machine.run(16'000, lost);
  // 16 seconds are 4000 runs.
  EXPECT_GT(fewer, 4000 - 4 * 7);
  EXPECT_GE(machine.governor.threads(), 3u);
}

// When the other process ends, the core is taken back soon and kept.
TEST(ThreadGovernor, TakesItBack) {
  Machine machine(4);
  machine.run(20, [](unsigned threads) { return threads == 4 ? 50 : 0; });
  EXPECT_EQ(machine.governor.threads(), 3u);
  machine.run(400, [](unsigned) { return 0; });
  EXPECT_EQ(machine.governor.threads(), 4u);
  EXPECT_EQ(machine.run(10'000, [](unsigned) { return 0; }), 0);
}

// However busy the machine is, work goes on.
TEST(ThreadGovernor, OneThreadIsTheLeast) {
  Machine machine(3);
  machine.run(1000, [](unsigned) { return 90; });
  EXPECT_EQ(machine.governor.threads(), 1u);
  Machine alone(1);
  alone.run(1000, [](unsigned) { return 90; });
  EXPECT_EQ(alone.governor.threads(), 1u);
}
