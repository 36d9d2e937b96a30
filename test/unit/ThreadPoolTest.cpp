//===- ThreadPoolTest.cpp - Threads that run one function together --------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/ThreadPool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>

using namespace gist;

// A body that ran twice, or on a thread too many, would show in the counts.
TEST(ThreadPool, EveryThreadRunsOnce) {
  for (unsigned threads : {1u, 2u, 5u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    std::vector<int> runs(threads);
    auto body = [](void *context, unsigned thread) {
      ++(*static_cast<std::vector<int> *>(context))[thread];
    };
    for (int i = 0; i < 1000; ++i)
      pool.run(body, &runs);
    EXPECT_EQ(runs, std::vector<int>(threads, 1000));
  }
}

// Runs with fewer threads, and with more again.
TEST(ThreadPool, SomeThreadsRun) {
  ThreadPool pool(4);
  std::vector<int> runs(4), expected(4);
  auto body = [](void *context, unsigned thread) {
    ++(*static_cast<std::vector<int> *>(context))[thread];
  };
  for (int i = 0; i < 400; ++i) {
    auto threads = static_cast<unsigned>(i % 5 == 4 ? 4 : 1 + i / 7 % 4);
    pool.run(body, &runs, threads);
    for (unsigned thread = 0; thread < threads; ++thread)
      ++expected[thread];
    ASSERT_EQ(runs, expected);
  }
}

// Threads that went to sleep must wake up.
TEST(ThreadPool, WakesSleepers) {
  ThreadPool pool(3);
  std::atomic<int> count = 0;
  auto body = [](void *context, unsigned) {
    ++*static_cast<std::atomic<int> *>(context);
  };
  for (int i = 0; i < 5; ++i) {
    pool.run(body, &count);
    // Threads spin for about 0.1 ms before they sleep.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(count, 15);
}

// Each phase adds what the phase before left in the neighbour's place: wrong
// as soon as one thread passes a barrier early.
TEST(ThreadPool, BarrierSeparatesPhases) {
  constexpr unsigned kThreads = 3;
  constexpr int kPhases = 2000;
  struct Shared {
    SpinBarrier barrier{kThreads};
    std::vector<uint64_t> from = {1, 2, 3}, to = {0, 0, 0};
  } shared;
  ThreadPool pool(kThreads);
  pool.run(
      [](void *context, unsigned thread) {
        auto &shared = *static_cast<Shared *>(context);
        for (int phase = 0; phase < kPhases; ++phase) {
          // A weighted sum, because a plain one would not show swapped
          // neighbours.
          shared.to[thread] =
              shared.from[(thread + 1) % kThreads] * 3 + shared.from[thread];
          shared.barrier.arriveAndWait();
          // The second barrier holds the others until the vectors are swapped.
          if (thread == 0)
            std::swap(shared.from, shared.to);
          shared.barrier.arriveAndWait();
        }
      },
      &shared);
  std::vector<uint64_t> from = {1, 2, 3}, to(3);
  for (int phase = 0; phase < kPhases; ++phase) {
    for (unsigned i = 0; i < kThreads; ++i)
      to[i] = from[(i + 1) % kThreads] * 3 + from[i];
    from.swap(to);
  }
  EXPECT_EQ(shared.from, from);
}
