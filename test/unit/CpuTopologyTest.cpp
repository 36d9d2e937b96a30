//===- CpuTopologyTest.cpp - Which CPUs share a core ----------------------===//
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
  CpuTopology read(const std::vector<int> &cpus) {
    return readTopology(cpus, folder.string());
  }

  std::filesystem::path folder;
};

using Cores = std::vector<std::vector<int>>;
} // namespace

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

// Nothing is done where no core has two threads, or where nobody says.
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
