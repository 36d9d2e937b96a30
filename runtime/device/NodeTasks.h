//===- NodeTasks.h - Tasks of a command, node by node -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linux gives a page to the node of the thread that touches it first. Threads
// of a node therefore begin with the same part of a command's tasks in every
// run, so that they find weights and activations where they touched them, and
// help the others when they are done. With one node, that part is everything.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_DEVICE_NODETASKS_H
#define GIST_RUNTIME_DEVICE_NODETASKS_H

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

namespace gist {

/// The threads of a pool that are on one node: [begin, end).
struct NodeThreads {
  unsigned begin = 0, end = 1;
};

/// Tasks [begin, end) of a command.
struct TaskRange {
  uint64_t begin = 0, end = 0;
};

/// A counter of its own cache line, since all threads write it.
struct alignas(64) TaskCounter {
  std::atomic<uint64_t> next = 0;
};

/// The part of `total` tasks that `node` begins with, when the first `threads`
/// of the pool take part.
inline TaskRange tasksOfNode(uint64_t total, NodeThreads node,
                             unsigned threads) {
  // A quotient and a rest: the product of all tasks and threads might wrap.
  auto before = [&](unsigned thread) {
    uint64_t count = std::min(thread, threads);
    return total / threads * count + total % threads * count / threads;
  };
  return {before(node.begin), before(node.end)};
}

/// Runs `body` on tasks of `range` until none is left. `counter` is shared by
/// all threads and counts from 0.
template <typename Body>
void takeTasks(TaskRange range, std::atomic<uint64_t> &counter,
               unsigned threads, Body body) {
  // Threads take smaller and smaller pieces of the rest: the shared counter is
  // touched rarely, and all finish together.
  constexpr uint64_t kMaxPiece = 64;
  uint64_t total = range.end - range.begin;
  uint64_t begin = counter.load(std::memory_order_relaxed);
  while (begin < total) {
    uint64_t piece = std::clamp<uint64_t>(
        (total - begin) / (uint64_t{2} * threads), 1, kMaxPiece);
    uint64_t end = begin + piece;
    if (!counter.compare_exchange_weak(begin, end, std::memory_order_relaxed))
      continue;
    for (uint64_t task = begin; task < end; ++task)
      body(range.begin + task);
    begin = counter.load(std::memory_order_relaxed);
  }
}

/// What `thread` does of a command: the tasks of its node, then those of the
/// others. `counters` has one for each node.
template <typename Body>
void takeTasksOfNodes(uint64_t total, const std::vector<NodeThreads> &nodes,
                      TaskCounter *counters, unsigned thread, unsigned threads,
                      Body body) {
  // Nothing to divide: a small kernel takes less time than the divisions.
  if (nodes.size() == 1)
    return takeTasks({0, total}, counters[0].next, threads, body);
  size_t home = 0;
  while (home + 1 < nodes.size() && nodes[home].end <= thread)
    ++home;
  for (size_t i = 0; i < nodes.size(); ++i) {
    size_t node = (home + i) % nodes.size();
    TaskRange range = tasksOfNode(total, nodes[node], threads);
    takeTasks(range, counters[node].next, threads, body);
  }
}

} // namespace gist

#endif // GIST_RUNTIME_DEVICE_NODETASKS_H
