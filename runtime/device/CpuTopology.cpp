//===- CpuTopology.cpp - Which CPUs share a core --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/CpuTopology.h"

#include <algorithm>
#include <fstream>
#include <sched.h>

using namespace gist;

bool CpuTopology::hasHyperThreads() const {
  return std::any_of(cores.begin(), cores.end(),
                     [](const auto &core) { return core.size() > 1; });
}

std::vector<int> CpuTopology::firstOfEachCore() const {
  std::vector<int> cpus;
  for (const std::vector<int> &core : cores)
    cpus.push_back(core.front());
  return cpus;
}

std::vector<int> gist::allowedCpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof(set), &set) != 0)
    return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set))
      cpus.push_back(cpu);
  return cpus;
}

/// Whether a list such as "0-1,8" has this number.
static bool contains(std::istream &list, int number) {
  for (int first = 0; list >> first;) {
    int last = first;
    if (list.peek() == '-') {
      list.get();
      if (!(list >> last))
        return false;
    }
    if (first <= number && number <= last)
      return true;
    if (list.get() != ',')
      return false;
  }
  return false;
}

CpuTopology gist::readTopology(const std::vector<int> &cpus,
                               const std::string &folder) {
  CpuTopology topology;
  for (int cpu : cpus) {
    auto isShared = [&](const std::vector<int> &core) {
      std::ifstream file(folder + "/cpu" + std::to_string(cpu) +
                         "/topology/thread_siblings_list");
      // Where the file is missing, as in some containers, nothing is shared and
      // each CPU counts as a core. One member of a core speaks for all:
      // siblings list one another.
      return contains(file, core.front());
    };
    auto core =
        std::find_if(topology.cores.begin(), topology.cores.end(), isShared);
    if (core == topology.cores.end())
      topology.cores.push_back({cpu});
    else
      core->push_back(cpu);
  }
  return topology;
}

std::vector<int> gist::placeThreads(const CpuTopology &topology,
                                    unsigned threads) {
  // Empty means that the scheduler is free. Without hyper-threads it cannot put
  // two threads on one core; with more threads than cores it has to.
  if (!topology.hasHyperThreads() || threads > topology.cores.size())
    return {};
  return topology.firstOfEachCore();
}
