//===- ThreadPool.h - Threads that run one function together ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_DEVICE_THREADPOOL_H
#define GIST_RUNTIME_DEVICE_THREADPOOL_H

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace gist {

/// Keeps its threads awake for a moment after each run, because the next token
/// is usually right behind, and lets them sleep when nothing follows.
class ThreadPool {
public:
  /// What every thread runs; `thread` counts from 0, which is the caller.
  using Body = void (*)(void *context, unsigned thread);

  /// `threads` includes the caller of run(). There are fewer where the system
  /// refuses to start one. All but the caller, which the pool does not own,
  /// stay on `cpus` if any are given.
  explicit ThreadPool(unsigned threads, const std::vector<int> &cpus = {});
  /// The same with CPUs of its own for each thread.
  ThreadPool(unsigned threads,
             const std::function<std::vector<int>(unsigned thread)> &cpusOf);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  unsigned size() const { return static_cast<unsigned>(workers.size()) + 1; }

  /// Runs `body` once on every thread and returns when all are done.
  /// One caller at a time: there is one body and one context.
  void run(Body body, void *context) { run(body, context, size()); }
  /// The same on the first `threads` alone; the others sleep.
  void run(Body body, void *context, unsigned threads);

private:
  void work(unsigned thread);
  /// Returns when a run has begun that `thread` may take part in.
  uint32_t waitForRun(unsigned thread, uint32_t seen);

  std::vector<std::thread> workers;
  Body body = nullptr;
  void *context = nullptr;
  /// Counts runs; a change is the signal to start. The low bits are how many
  /// threads take part.
  alignas(64) std::atomic<uint32_t> generation = 0;
  /// Threads that wait for a run; the others wait for this to grow.
  std::atomic<uint32_t> awake = 0;
  /// Workers that are still in the body. It has a cache line of its own,
  /// because every worker writes it while others spin on `generation`.
  alignas(64) std::atomic<uint32_t> running = 0;
  std::atomic<bool> stopping = false;
};

/// Lets threads of a pool wait for one another between the commands of a list,
/// which is much cheaper than ending one run and starting the next.
class SpinBarrier {
public:
  explicit SpinBarrier(unsigned threads) : threads(threads) {}

  void arriveAndWait();

private:
  unsigned threads;
  alignas(64) std::atomic<uint32_t> arrived = 0;
  /// On another cache line than `arrived`: waiting threads read this one, and
  /// would lose the line to each thread that arrives.
  alignas(64) std::atomic<uint32_t> phase = 0;
};

} // namespace gist

#endif // GIST_RUNTIME_DEVICE_THREADPOOL_H
