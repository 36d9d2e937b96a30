//===- CpuTopology.h - Which CPUs share cores and memory --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What Linux calls a CPU may be one of two hyper-threads of a core. Kernels
// keep a core's arithmetic busy with one thread, so two of them on one core
// take twice as long while another core is idle. Cores of one node share memory
// that is near to them; that of another node is further away.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_DEVICE_CPUTOPOLOGY_H
#define GIST_RUNTIME_DEVICE_CPUTOPOLOGY_H

#include "runtime/device/NodeTasks.h"

#include <string>
#include <vector>

namespace gist {

/// The CPUs that this process may use, by the core that they are part of, in
/// the order of the cores' first CPUs.
struct CpuTopology {
  std::vector<std::vector<int>> cores;

  bool hasHyperThreads() const;
  /// The first CPU of each core.
  std::vector<int> firstOfEachCore() const;
};

/// The CPUs of the affinity mask; none if the system does not tell.
std::vector<int> allowedCpus();

/// How many CPUs the control groups of this process let it use at once, rounded
/// up; SIZE_MAX where they set no limit. `membership` lists the groups, which
/// are folders of `folder`.
size_t readCpuQuota(const std::string &membership = "/proc/self/cgroup",
                    const std::string &folder = "/sys/fs/cgroup");

/// Asks the system which of these CPUs share a core. A CPU without that
/// information counts as its own core.
CpuTopology readTopology(const std::vector<int> &cpus,
                         const std::string &folder = "/sys/devices/system/cpu");

/// Where `threads` are to stay: on one CPU of each core as long as there are
/// enough cores. None: anywhere.
std::vector<int> placeThreads(const CpuTopology &topology, unsigned threads);

/// These CPUs by the node whose memory is near, in the order of the nodes. A
/// CPU without that information goes to the first node. Nodes that have only
/// memory, or none of these CPUs, are left out.
std::vector<std::vector<int>>
readNodes(const std::vector<int> &cpus,
          const std::string &folder = "/sys/devices/system/node");

/// Where each thread of a pool is to stay.
struct ThreadPlaces {
  std::vector<NodeThreads> nodes;     ///< at least one
  std::vector<std::vector<int>> cpus; ///< for each node; none: anywhere
};

/// Places `threads` on as few nodes as have a core for each, and on all nodes
/// where none have; on each as placeThreads does. `caller` is the CPU of thread
/// 0: its node comes first.
ThreadPlaces placeOnNodes(const CpuTopology &topology,
                          std::vector<std::vector<int>> nodes, unsigned threads,
                          int caller);

} // namespace gist

#endif // GIST_RUNTIME_DEVICE_CPUTOPOLOGY_H
