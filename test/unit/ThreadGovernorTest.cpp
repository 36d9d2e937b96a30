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

/// Runs of 1000 tasks, one after the other. A thread does a task in 16
/// microseconds while it runs; the slowest thread makes all of them wait.
class Machine {
public:
  explicit Machine(unsigned threads) : most(threads), governor(threads) {}

  /// What the slowest of `threads` loses, in percent. Returns how many of the
  /// runs had fewer than all threads.
  template <typename Lost>
  int run(int64_t milliseconds, Lost lost, uint64_t tasks = 1000) {
    int fewer = 0;
    for (int64_t end = now + milliseconds * kMillisecond; now < end;) {
      unsigned threads = governor.threads();
      int64_t alone = static_cast<int64_t>(tasks) * 16'000 / threads;
      int64_t wall = alone * 100 / (100 - lost(threads));
      now += wall;
      fewer += threads < most ? 1 : 0;
      governor.note(now, {wall, wall - alone, tasks});
    }
    return fewer;
  }

  unsigned most;
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
  machine.run(100, lost);
  EXPECT_EQ(machine.governor.threads(), 3u);
  // Attempts with the fourth become rare: after pauses of 250, 500, 1000, 2000,
  // 4000 and 8000 ms. Each is a window of 40 ms, which is five runs of 8 ms.
  machine.run(8000, lost);
  EXPECT_EQ(machine.run(16'000,
                        [&](unsigned threads) {
                          EXPECT_GE(threads, 3u);
                          return lost(threads);
                        }) > 0,
            true);
  EXPECT_EQ(machine.governor.threads(), 3u);
}

// When the other process ends, the core is taken back soon and kept.
TEST(ThreadGovernor, TakesItBack) {
  Machine machine(4);
  machine.run(100, [](unsigned threads) { return threads == 4 ? 50 : 0; });
  EXPECT_EQ(machine.governor.threads(), 3u);
  auto none = [](unsigned) { return 0; };
  machine.run(1000, none);
  EXPECT_EQ(machine.governor.threads(), 4u);
  EXPECT_EQ(machine.run(10'000, none), 0);
}

// Work on every core, or a quota: each thread loses as much, however many there
// are. Fewer threads are slower, and attempts are rare.
TEST(ThreadGovernor, KeepsAllWhereAllLose) {
  for (unsigned threads : {2u, 4u}) {
    Machine machine(threads);
    auto half = [](unsigned) { return 50; };
    machine.run(16'000, half);
    int runs = 0;
    int fewer = machine.run(16'000, [&](unsigned) { return ++runs, 50; });
    EXPECT_LT(fewer * 20, runs) << threads;
  }
}

// Prompts have larger tasks than single tokens: a rate of one says nothing of
// the other.
TEST(ThreadGovernor, ComparesRunsOfOneKind) {
  Machine machine(2);
  auto lost = [](unsigned threads) { return threads == 2 ? 60 : 0; };
  machine.run(60, lost, 1000);
  machine.run(60, lost, 9000);
  EXPECT_EQ(machine.governor.threads(), 1u);
}

// However busy the machine is, work goes on.
TEST(ThreadGovernor, OneThreadIsTheLeast) {
  Machine machine(3);
  const int lost[] = {0, 40, 75, 90};
  machine.run(4000, [&](unsigned threads) { return lost[threads]; });
  EXPECT_EQ(machine.governor.threads(), 1u);
  Machine alone(1);
  alone.run(1000, [](unsigned) { return 90; });
  EXPECT_EQ(alone.governor.threads(), 1u);
}
