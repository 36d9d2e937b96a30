//===- ThreadPool.cpp - Threads that run one function together ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/ThreadPool.h"

#include <algorithm>
#include <exception>
#include <sched.h>

using namespace gist;

/// Tells the core that this is a spin loop.
static void pauseCore() {
#if defined(__aarch64__)
  // Longer than `yield`, which is a no-op on most cores.
  asm volatile("isb" ::: "memory");
#elif defined(__x86_64__)
  asm volatile("pause" ::: "memory");
#endif
}

/// Rounds of pauseCore(): about 100 microseconds, more than the time between
/// the tokens of a generation.
static constexpr int kSpinBeforeSleep = 4000;
/// About 25 microseconds. A thread that takes longer has probably lost its core
/// to another process: yield ours to it.
static constexpr int kSpinBeforeYield = 1000;

/// The low bits of ThreadPool::generation hold how many threads take part. The
/// CPU device allows 1024 threads, which fit. The number travels in the same
/// word as the count of runs, so that a worker sees both change at once.
static constexpr uint32_t kThreadBits = 12;
static constexpr uint32_t kThreadMask = (1u << kThreadBits) - 1;

/// Keeps the calling thread on these CPUs. What the system refuses changes
/// nothing but the speed.
static void stayOn(const std::vector<int> &cpus) {
  if (cpus.empty())
    return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : cpus)
    CPU_SET(cpu, &set);
  ::sched_setaffinity(0, sizeof(set), &set);
}

ThreadPool::ThreadPool(unsigned threads, const std::vector<int> &cpus)
    : ThreadPool(threads, [&](unsigned) { return cpus; }) {}

ThreadPool::ThreadPool(
    unsigned threads, const std::function<std::vector<int>(unsigned)> &cpusOf) {
  workers.reserve(threads - 1);
  awake.store(threads, std::memory_order_relaxed);
  try {
    for (unsigned i = 1; i < threads; ++i)
      // The list is copied: the constructor may return before the thread has
      // read it.
      workers.emplace_back([this, i, cpus = cpusOf(i)] {
        stayOn(cpus);
        work(i);
      });
  } catch (const std::exception &) {
    // Fewer threads do the same work.
  }
}

ThreadPool::~ThreadPool() {
  stopping.store(true, std::memory_order_relaxed);
  // More than any thread's number: the sleepers leave the first wait of
  // waitForRun and then the second one. `stopping` comes before both, and a
  // worker that sees either change sees it too.
  awake.store(kThreadMask, std::memory_order_release);
  awake.notify_all();
  generation.fetch_add(1u << kThreadBits, std::memory_order_release);
  generation.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

uint32_t ThreadPool::waitForRun(unsigned thread, uint32_t seen) {
  // A thread that is not needed sleeps and takes no CPU time.
  for (uint32_t count = awake.load(std::memory_order_acquire); count <= thread;
       count = awake.load(std::memory_order_acquire)) {
    awake.wait(count, std::memory_order_acquire);
    // The count of runs may have come around in the meantime. The last run was
    // without this thread, so that looking at it again does no harm.
    seen = 0;
  }
  for (int i = 0; i < kSpinBeforeSleep; ++i) {
    if (generation.load(std::memory_order_acquire) != seen)
      break;
    pauseCore();
  }
  generation.wait(seen, std::memory_order_acquire);
  return generation.load(std::memory_order_acquire);
}

void ThreadPool::work(unsigned thread) {
  uint32_t seen = 0;
  while (true) {
    seen = waitForRun(thread, seen);
    if (stopping.load(std::memory_order_relaxed))
      return;
    // A thread that takes no part must not touch body and context: the caller
    // does not wait for it and may already write those of the next run.
    if (thread >= (seen & kThreadMask))
      continue;
    body(context, thread);
    // Pairs with the acquire at the end of run(): the caller then sees what
    // this thread wrote.
    running.fetch_sub(1, std::memory_order_release);
  }
}

void ThreadPool::run(Body newBody, void *newContext, unsigned threads) {
  threads = std::min(threads, size());
  bool isOther = awake.load(std::memory_order_relaxed) != threads;
  if (isOther) {
    awake.store(threads, std::memory_order_release);
    awake.notify_all();
  }
  // Plain members are enough: no worker of the last run is left, and the
  // release of `generation` below publishes them.
  body = newBody;
  context = newContext;
  running.store(threads - 1, std::memory_order_relaxed);
  uint32_t count = generation.load(std::memory_order_relaxed) >> kThreadBits;
  generation.store(((count + 1) << kThreadBits) | threads,
                   std::memory_order_release);
  // Threads that are no longer needed move from this wait to the other one.
  if (threads > 1 || isOther)
    generation.notify_all();
  body(context, 0);
  for (int i = 0; running.load(std::memory_order_acquire) != 0; ++i) {
    if (i < kSpinBeforeYield)
      pauseCore();
    else
      ::sched_yield();
  }
}

void SpinBarrier::arriveAndWait() {
  if (threads == 1)
    return;
  uint32_t current = phase.load(std::memory_order_relaxed);
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == threads) {
    // Before the phase changes: a thread that goes on may arrive at the next
    // barrier at once, and must be counted there.
    arrived.store(0, std::memory_order_relaxed);
    phase.store(current + 1, std::memory_order_release);
    return;
  }
  for (int i = 0; phase.load(std::memory_order_acquire) == current; ++i) {
    if (i < kSpinBeforeYield)
      pauseCore();
    else
      ::sched_yield();
  }
}
