//===- CpuTopology.cpp - Which CPUs share cores and memory ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/CpuTopology.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <sched.h>
#include <sstream>

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

/// The quota that one group sets, in microseconds of CPU time for each period;
/// SIZE_MAX where it sets none. Version 2 has both numbers in one file.
static size_t quotaOfGroup(const std::string &group) {
  int64_t quota = 0, period = 0;
  std::ifstream both(group + "/cpu.max");
  if (!(both >> quota >> period)) {
    std::ifstream(group + "/cpu.cfs_quota_us") >> quota;
    std::ifstream(group + "/cpu.cfs_period_us") >> period;
  }
  if (quota <= 0 || period <= 0)
    return SIZE_MAX;
  return static_cast<size_t>((quota - 1) / period + 1);
}

size_t gist::readCpuQuota(const std::string &membership,
                          const std::string &folder) {
  size_t least = SIZE_MAX;
  std::ifstream groups(membership);
  // Number, controllers and path of a group. Version 2 has no controllers in
  // the list, and lies in a folder of its own beside version 1.
  for (std::string line; std::getline(groups, line);) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    std::string controllers =
        "," + line.substr(first + 1, second - first - 1) + ",";
    std::vector<std::string> roots = {folder + "/cpu", folder + "/cpu,cpuacct"};
    if (controllers == ",,")
      roots = {folder, folder + "/unified"};
    else if (controllers.find(",cpu,") == std::string::npos)
      continue;
    // Each group is limited by those above it. A container may see its own
    // group as the root.
    for (std::string path = line.substr(second + 1);;
         path.resize(path.rfind('/'))) {
      for (const std::string &root : roots)
        least = std::min(least, quotaOfGroup(root + path));
      if (path.find('/') == std::string::npos)
        break;
    }
  }
  return least;
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

/// Linux has room for 1024 nodes; machines have a few.
static constexpr int kMaxNodes = 64;

std::vector<std::vector<int>> gist::readNodes(const std::vector<int> &cpus,
                                              const std::string &folder) {
  std::map<int, std::vector<int>> found;
  // A list of numbers is read, not a folder: std::filesystem ends the program
  // where memory is short.
  std::string list;
  std::ifstream(folder + "/online") >> list;
  std::vector<int> numbers;
  for (int number = 0; number < kMaxNodes; ++number) {
    std::istringstream online(list);
    if (contains(online, number))
      numbers.push_back(number);
  }
  for (int cpu : cpus) {
    auto has = [&](int number) {
      std::ifstream file(folder + "/node" + std::to_string(number) +
                         "/cpulist");
      return contains(file, cpu);
    };
    auto at = std::find_if(numbers.begin(), numbers.end(), has);
    // Where the system does not tell, as in some containers, all memory counts
    // as equally near.
    found[at != numbers.end() ? *at
          : !numbers.empty()  ? numbers.front()
                              : 0]
        .push_back(cpu);
  }
  std::vector<std::vector<int>> nodes;
  for (auto &[number, members] : found)
    nodes.push_back(std::move(members));
  return nodes;
}

/// The cores of `topology` whose first CPU is one of these.
static CpuTopology coresOfNode(const CpuTopology &topology,
                               const std::vector<int> &cpus) {
  CpuTopology part;
  for (const std::vector<int> &core : topology.cores)
    if (std::find(cpus.begin(), cpus.end(), core.front()) != cpus.end())
      part.cores.push_back(core);
  return part;
}

ThreadPlaces gist::placeOnNodes(const CpuTopology &topology,
                                std::vector<std::vector<int>> nodes,
                                unsigned threads, int caller) {
  if (nodes.size() < 2)
    return {{{0, threads}}, {placeThreads(topology, threads)}};
  // The caller's first, then those with the most cores: few nodes are enough.
  std::vector<CpuTopology> parts;
  for (const std::vector<int> &node : nodes)
    parts.push_back(coresOfNode(topology, node));
  auto hasCaller = [&](const CpuTopology &part) {
    return std::any_of(part.cores.begin(), part.cores.end(),
                       [&](const std::vector<int> &core) {
                         return std::find(core.begin(), core.end(), caller) !=
                                core.end();
                       });
  };
  std::sort(parts.begin(), parts.end(),
            [&](const CpuTopology &a, const CpuTopology &b) {
              if (hasCaller(a) != hasCaller(b))
                return hasCaller(a);
              if (a.cores.size() != b.cores.size())
                return a.cores.size() > b.cores.size();
              return a.cores < b.cores;
            });
  size_t used = 0, cores = 0;
  while (used < parts.size() && (cores < threads || used == 0))
    cores += parts[used++].cores.size();
  ThreadPlaces places;
  unsigned begin = 0;
  for (size_t i = 0; i < used; ++i) {
    // In proportion to the cores; the last one takes what is left.
    size_t size = parts[i].cores.size();
    unsigned left = threads - begin;
    unsigned count =
        i + 1 == used
            ? left
            : static_cast<unsigned>((left * size + cores - 1) / cores);
    cores -= size;
    places.nodes.push_back({begin, begin + count});
    begin += count;
    std::vector<int> cpus;
    for (const std::vector<int> &core : parts[i].cores)
      cpus.insert(cpus.end(), core.begin(),
                  count > size ? core.end() : core.begin() + 1);
    places.cpus.push_back(std::move(cpus));
  }
  return places;
}
