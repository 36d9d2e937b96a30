//===- CpuTopologyTest.cpp - Which CPUs share cores and memory ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/CpuTopology.h"
#include "runtime/device/ThreadPool.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace gist;

namespace {
/// A folder as Linux shows it, with a list of siblings for each CPU.
class CpuTopologyTest : public testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() /
             ("gist-topology-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void add(int cpu, const std::string &siblings) {
    std::filesystem::path place =
        folder / ("cpu" + std::to_string(cpu)) / "topology";
    std::filesystem::create_directories(place);
    std::ofstream(place / "thread_siblings_list") << siblings << "\n";
  }
  void addNode(int node, const std::string &cpus) {
    std::filesystem::path place = folder / ("node" + std::to_string(node));
    std::filesystem::create_directories(place);
    std::ofstream(place / "cpulist") << cpus << "\n";
  }
  CpuTopology read(const std::vector<int> &cpus) {
    return readTopology(cpus, folder.string());
  }

  std::filesystem::path folder;
};

using Cores = std::vector<std::vector<int>>;
} // namespace

// Of a group and those above it, in both versions; of containers, which see
// their own group as the root.
TEST_F(CpuTopologyTest, ReadsQuotas) {
  auto write = [&](const std::string &file, const std::string &text) {
    std::filesystem::path place = folder / file;
    std::filesystem::create_directories(place.parent_path());
    std::ofstream(place) << text << "\n";
  };
  auto read = [&](const std::string &groups) {
    write("membership", groups);
    return readCpuQuota((folder / "membership").string(),
                        (folder / "cgroup").string());
  };
  EXPECT_EQ(read("0::/"), SIZE_MAX);
  EXPECT_EQ(readCpuQuota((folder / "none").string(), folder.string()),
            SIZE_MAX);
  write("cgroup/a/b/cpu.max", "max 100000");
  EXPECT_EQ(read("0::/a/b"), SIZE_MAX);
  write("cgroup/a/cpu.max", "250000 100000");
  EXPECT_EQ(read("0::/a/b"), 3u);
  EXPECT_EQ(read("0::/c"), SIZE_MAX);
  write("cgroup/cpu.max", "100000 100000");
  EXPECT_EQ(read("0::/a/b"), 1u);
  EXPECT_EQ(read("0::/"), 1u);
  write("cgroup/cpu.max", "0 0");
  EXPECT_EQ(read("0::/"), SIZE_MAX);
  write("cgroup/cpu/x/cpu.cfs_quota_us", "150000");
  write("cgroup/cpu/x/cpu.cfs_period_us", "100000");
  EXPECT_EQ(read("3:cpuset:/x\n2:cpu:/x\n0::/"), 2u);
  EXPECT_EQ(read("2:cpu,cpuacct:/y"), SIZE_MAX);
  write("cgroup/cpu/x/cpu.cfs_quota_us", "-1");
  EXPECT_EQ(read("2:cpu:/x"), SIZE_MAX);
  EXPECT_EQ(read("no colons"), SIZE_MAX);
}

// Servers count all cores first, laptops the two threads of each core.
TEST_F(CpuTopologyTest, FindsSiblings) {
  for (int cpu = 0; cpu < 4; ++cpu)
    add(cpu, std::to_string(cpu % 2) + "," + std::to_string(cpu % 2 + 2));
  EXPECT_EQ(read({0, 1, 2, 3}).cores, (Cores{{0, 2}, {1, 3}}));
  for (int cpu = 0; cpu < 4; ++cpu)
    add(cpu,
        std::to_string(cpu / 2 * 2) + "-" + std::to_string(cpu / 2 * 2 + 1));
  EXPECT_EQ(read({0, 1, 2, 3}).cores, (Cores{{0, 1}, {2, 3}}));
}

// A process that may use one thread of a core has that core.
TEST_F(CpuTopologyTest, CountsWhatIsAllowed) {
  for (int cpu = 0; cpu < 4; ++cpu)
    add(cpu,
        std::to_string(cpu / 2 * 2) + "-" + std::to_string(cpu / 2 * 2 + 1));
  CpuTopology topology = read({1, 2, 3});
  EXPECT_EQ(topology.cores, (Cores{{1}, {2, 3}}));
  EXPECT_EQ(placeThreads(topology, 2), (std::vector<int>{1, 2}));
  EXPECT_EQ(placeThreads(topology, 1), (std::vector<int>{1, 2}));
  // More threads than cores: all of them are wanted.
  EXPECT_TRUE(placeThreads(topology, 3).empty());
}

// Nothing is done where no core has two threads, or where the system does not
// tell.
TEST_F(CpuTopologyTest, LeavesOthersAlone) {
  add(0, "0");
  add(1, "1");
  EXPECT_EQ(read({0, 1, 7}).cores, (Cores{{0}, {1}, {7}}));
  EXPECT_TRUE(placeThreads(read({0, 1, 7}), 2).empty());
  add(0, "nonsense");
  EXPECT_EQ(read({0, 1}).cores, (Cores{{0}, {1}}));
  EXPECT_TRUE(read({}).cores.empty());
}

// The pool's own threads stay where they are put; the caller is left alone.
TEST_F(CpuTopologyTest, PoolStaysOnItsCpus) {
  std::vector<int> allowed = allowedCpus();
  ASSERT_FALSE(allowed.empty());
  ThreadPool pool(3, {allowed.back()});
  std::vector<std::vector<int>> seen(3);
  pool.run(
      [](void *context, unsigned thread) {
        (*static_cast<std::vector<std::vector<int>> *>(context))[thread] =
            allowedCpus();
      },
      &seen);
  EXPECT_EQ(seen[0], allowed);
  EXPECT_EQ(seen[1], (std::vector<int>{allowed.back()}));
  EXPECT_EQ(seen[2], (std::vector<int>{allowed.back()}));
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

// Files as on a server with two sockets: a list of ranges for each node, in a
// folder that has other files as well.
TEST_F(CpuTopologyTest, FindsNodes) {
  addNode(0, "0-1,4-5");
  addNode(10, "");
  addNode(2, "2-3,6-7");
  std::ofstream(folder / "node3") << "not a folder\n";
  std::ofstream(folder / "online") << "0,2,10\n";
  auto nodes = [&](const std::vector<int> &cpus) {
    return readNodes(cpus, folder.string());
  };
  EXPECT_EQ(nodes({0, 1, 2, 3, 4, 5, 6, 7}),
            (Cores{{0, 1, 4, 5}, {2, 3, 6, 7}}));
  // Only what the process may use counts, and CPUs without a node go to the
  // first one.
  EXPECT_EQ(nodes({3, 7}), (Cores{{3, 7}}));
  EXPECT_EQ(nodes({2, 99}), (Cores{{99}, {2}}));
  EXPECT_EQ(readNodes({0, 3}, (folder / "missing").string()), (Cores{{0, 3}}));
  EXPECT_TRUE(nodes({}).empty());
}

namespace {
/// Two nodes of two cores with two threads each: CPU c and c + 4 share a core,
/// cores 0 and 1 are on the first node.
const CpuTopology kTwoNodes = {{{0, 4}, {1, 5}, {2, 6}, {3, 7}}};
const Cores kNodes = {{0, 1, 4, 5}, {2, 3, 6, 7}};

std::vector<std::pair<unsigned, unsigned>> rangesOf(const ThreadPlaces &p) {
  std::vector<std::pair<unsigned, unsigned>> ranges;
  for (NodeThreads node : p.nodes)
    ranges.emplace_back(node.begin, node.end);
  return ranges;
}
using Ranges = std::vector<std::pair<unsigned, unsigned>>;
} // namespace

// As few nodes as have a core for each thread, the caller's first.
TEST_F(CpuTopologyTest, PlacesOnNodes) {
  ThreadPlaces two = placeOnNodes(kTwoNodes, kNodes, 2, /*caller=*/0);
  EXPECT_EQ(rangesOf(two), (Ranges{{0, 2}}));
  EXPECT_EQ(two.cpus, (Cores{{0, 1}}));
  ThreadPlaces other = placeOnNodes(kTwoNodes, kNodes, 2, /*caller=*/7);
  EXPECT_EQ(other.cpus, (Cores{{2, 3}}));
  ThreadPlaces four = placeOnNodes(kTwoNodes, kNodes, 4, /*caller=*/6);
  EXPECT_EQ(rangesOf(four), (Ranges{{0, 2}, {2, 4}}));
  EXPECT_EQ(four.cpus, (Cores{{2, 3}, {0, 1}}));
  // More than there are cores: all hyper-threads of the node.
  ThreadPlaces seven = placeOnNodes(kTwoNodes, kNodes, 7, /*caller=*/0);
  EXPECT_EQ(rangesOf(seven), (Ranges{{0, 4}, {4, 7}}));
  EXPECT_EQ(seven.cpus, (Cores{{0, 4, 1, 5}, {2, 6, 3, 7}}));
  // One node is what it was without nodes.
  ThreadPlaces one = placeOnNodes({{{0}, {1}}}, {{0, 1}}, 2, /*caller=*/1);
  EXPECT_EQ(rangesOf(one), (Ranges{{0, 2}}));
  EXPECT_EQ(one.cpus, (Cores{{}}));
}

// A big and a small node share threads in proportion.
TEST_F(CpuTopologyTest, PlacesInProportion) {
  CpuTopology topology;
  Cores nodes(2);
  for (int cpu = 0; cpu < 64; ++cpu) {
    topology.cores.push_back({cpu});
    nodes[cpu < 48 ? 0 : 1].push_back(cpu);
  }
  EXPECT_EQ(rangesOf(placeOnNodes(topology, nodes, 64, 0)),
            (Ranges{{0, 48}, {48, 64}}));
  EXPECT_EQ(rangesOf(placeOnNodes(topology, nodes, 64, 50)),
            (Ranges{{0, 16}, {16, 64}}));
  EXPECT_EQ(rangesOf(placeOnNodes(topology, nodes, 48, 0)), (Ranges{{0, 48}}));
}

// Nodes share all tasks out, also where fewer threads run than there are.
TEST(NodeTasksTest, CoversAllTasks) {
  std::vector<NodeThreads> nodes = {{0, 3}, {3, 4}, {4, 8}};
  for (unsigned threads : {1u, 2u, 3u, 4u, 7u, 8u})
    for (uint64_t total : {0ull, 1ull, 7ull, 1000ull, 1ull << 62}) {
      uint64_t end = 0;
      for (NodeThreads node : nodes) {
        TaskRange range = tasksOfNode(total, node, threads);
        EXPECT_EQ(range.begin, end);
        EXPECT_LE(range.begin, range.end);
        end = range.end;
      }
      EXPECT_EQ(end, total);
    }
  // Three of eight threads begin with three eighths.
  EXPECT_EQ(tasksOfNode(1000, nodes[0], 8).end, 375u);
}

// Every task runs once, whichever thread takes it. A single thread does the
// work of all nodes, its own first.
TEST(NodeTasksTest, RunsEachTaskOnce) {
  std::vector<NodeThreads> nodes = {{0, 2}, {2, 3}};
  std::vector<TaskCounter> counters(2);
  std::vector<uint64_t> order;
  takeTasksOfNodes(9, nodes, counters.data(), /*thread=*/2, /*threads=*/3,
                   [&](uint64_t task) { order.push_back(task); });
  EXPECT_EQ(order, (std::vector<uint64_t>{6, 7, 8, 0, 1, 2, 3, 4, 5}));

  struct Shared {
    std::vector<NodeThreads> nodes = {{0, 2}, {2, 3}};
    std::vector<TaskCounter> counters = std::vector<TaskCounter>(2);
    std::vector<std::atomic<int>> seen = std::vector<std::atomic<int>>(500);
  } shared;
  ThreadPool pool(3);
  pool.run(
      [](void *context, unsigned thread) {
        auto &s = *static_cast<Shared *>(context);
        takeTasksOfNodes(s.seen.size(), s.nodes, s.counters.data(), thread, 3,
                         [&](uint64_t task) { ++s.seen[task]; });
      },
      &shared);
  for (const std::atomic<int> &count : shared.seen)
    EXPECT_EQ(count, 1);
}

// Each thread has CPUs of its own.
TEST(NodeTasksTest, PoolAsksForEachThread) {
  std::vector<unsigned> asked;
  ThreadPool pool(3, [&](unsigned thread) {
    asked.push_back(thread);
    return std::vector<int>();
  });
  EXPECT_EQ(asked, (std::vector<unsigned>{1, 2}));
}
