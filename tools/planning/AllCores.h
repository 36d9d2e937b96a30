//===- AllCores.h - Independent jobs on all cores ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_ALLCORES_H
#define GIST_TOOLS_PLANNING_ALLCORES_H

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

/// A function that is compiled for several CPUs, of which the best is called:
/// Eigen has the instructions that it is compiled for.
#ifdef __x86_64__
#define GIST_BEST_INSTRUCTIONS                                                 \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define GIST_BEST_INSTRUCTIONS
#endif

namespace gist::plan {

/// Calls `body` for every number below `count`, on all cores.
inline void forEachOnAllCores(size_t count,
                              const std::function<void(size_t)> &body) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < count; i = next++)
      body(i);
  };
  size_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  // The caller is a thread too, so one less is started.
  for (size_t i = 1; i < std::min(cores, count); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_ALLCORES_H
