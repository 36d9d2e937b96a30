//===- CpuFeaturesTest.cpp - What this CPU can execute --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/CpuFeatures.h"
#include "runtime/format/CpuFeatures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

using namespace gist;

// The kernel prints the same facts under its own names: a second opinion.
TEST(CpuFeatures, AgreeWithTheKernel) {
  std::ifstream file("/proc/cpuinfo");
  std::vector<std::string> words;
  for (std::string line; std::getline(file, line);)
    if (line.rfind("Features", 0) == 0 || line.rfind("flags", 0) == 0) {
      std::istringstream rest(line.substr(line.find(':') + 1));
      for (std::string word; rest >> word;)
        words.push_back(word);
      break;
    }
  // Inside of an emulator or another system.
  if (words.empty())
    GTEST_SKIP() << "/proc/cpuinfo lists no features";
  std::vector<std::string> ours = hostCpuFeatures();
  auto has = [](const std::vector<std::string> &list, const std::string &name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  // LLVM's name, the kernel's name.
  std::vector<std::pair<const char *, const char *>> names;
  if (std::string(hostArchitecture()) == "aarch64")
    names = {
        {"neon", "asimd"},   {"dotprod", "asimddp"}, {"fullfp16", "asimdhp"},
        {"i8mm", "i8mm"},    {"bf16", "bf16"},       {"sve", "sve"},
        {"sve2", "sve2"},    {"lse", "atomics"},     {"fp16fml", "asimdfhm"},
        {"rdm", "asimdrdm"}, {"rcpc", "lrcpc"},      {"crc", "crc32"}};
  else
    names = {{"avx2", "avx2"},
             {"fma", "fma"},
             {"f16c", "f16c"},
             {"avx512f", "avx512f"},
             {"avx512bw", "avx512bw"},
             {"avx512vnni", "avx512_vnni"},
             {"avx512bf16", "avx512_bf16"},
             {"sse3", "pni"},
             {"sse4.1", "sse4_1"},
             {"aes", "aes"},
             {"bmi", "bmi1"},
             {"bmi2", "bmi2"},
             {"lzcnt", "abm"},
             {"movbe", "movbe"},
             {"gfni", "gfni"},
             {"vaes", "vaes"},
             {"avxvnni", "avx_vnni"},
             {"avx512vbmi", "avx512vbmi"},
             {"avx512fp16", "avx512_fp16"},
             {"amx-tile", "amx_tile"},
             {"amx-int8", "amx_int8"},
             {"amx-bf16", "amx_bf16"},
             {"cx16", "cx16"},
             {"sahf", "lahf_lm"},
             {"sha", "sha_ni"}};
  for (auto [llvm, kernel] : names)
    EXPECT_EQ(has(ours, llvm), has(words, kernel)) << llvm;
}

// A module for a newer CPU must be refused by name, not by an illegal
// instruction.
TEST(CpuFeatures, NamesWhatIsMissing) {
  EXPECT_TRUE(checkCpuFeatures({}).ok());
  EXPECT_TRUE(checkCpuFeatures(hostCpuFeatures()).ok());
  std::vector<std::string> more = hostCpuFeatures();
  more.insert(more.begin(), "quantum");
  more.emplace_back("telepathy");
  Status status = checkCpuFeatures(more);
  EXPECT_EQ(status.code, Code::Unsupported);
  EXPECT_EQ(status.text, "needs CPU features that " + hostCpuName() +
                             " does not have: quantum, telepathy");
}

namespace {
/// A fake x86-64 CPU.
struct FakeCpu {
  std::map<std::pair<uint32_t, uint32_t>, X86Cpu::Registers> leaves;
  uint64_t states = 0;

  bool has(const std::string &name) const {
    X86Cpu cpu;
    cpu.cpuid = [this](uint32_t leaf, uint32_t subleaf) {
      auto found = leaves.find({leaf, subleaf});
      // Values of leaves past the last one must be ignored.
      X86Cpu::Registers noise = {~0u, ~0u, ~0u, ~0u};
      return found == leaves.end() ? noise : found->second;
    };
    cpu.states = states;
    std::vector<std::string> names = featuresOf(cpu);
    return std::find(names.begin(), names.end(), name) != names.end();
  }
};
} // namespace

// The numbers are those of Intel's manual, volume 2A, CPUID.
TEST(CpuFeatures, OfX86AreReadFromCpuId) {
  FakeCpu cpu;
  cpu.leaves[{0, 0}] = {0x1e, 0, 0, 0};
  cpu.leaves[{1, 0}] = {0, 0, 1u << 28 | 1u << 12, 1u << 26};
  cpu.leaves[{7, 0}] = {1, 1u << 5 | 1u << 16, 1u << 11 | 1u << 8,
                        1u << 24 | 1u << 25};
  cpu.leaves[{7, 1}] = {1u << 4, 0, 0, 0};
  cpu.leaves[{0x1e, 0}] = {0, 0, 0, 0};
  cpu.leaves[{0x80000000, 0}] = {0x80000001, 0, 0, 0};
  cpu.leaves[{0x80000001, 0}] = {0, 0, 1u << 5, 0};
  for (uint32_t leaf : {0xdu, 0x14u, 0x19u})
    cpu.leaves[{leaf, 0}] = cpu.leaves[{leaf, 1}] = {0, 0, 0, 0};

  // No feature with registers of its own, unless the operating system saves
  // them.
  EXPECT_TRUE(cpu.has("sse2"));
  EXPECT_TRUE(cpu.has("lzcnt"));
  EXPECT_TRUE(cpu.has("gfni"));
  for (const char *name :
       {"avx", "fma", "avx2", "avxvnni", "avx512f", "avx512vnni", "amx-tile"})
    EXPECT_FALSE(cpu.has(name)) << name;
  cpu.states = 0x7;
  for (const char *name : {"avx", "fma", "avx2", "avxvnni"})
    EXPECT_TRUE(cpu.has(name)) << name;
  EXPECT_FALSE(cpu.has("avx512f"));
  cpu.states = 0xe7;
  EXPECT_TRUE(cpu.has("avx512f"));
  EXPECT_TRUE(cpu.has("avx512vnni"));
  EXPECT_FALSE(cpu.has("amx-int8"));
  cpu.states = 0x600e7;
  EXPECT_TRUE(cpu.has("amx-int8"));
  // It says no; leaf 0x24, a second part of 0x1e and leaf 0x80000008 do not
  // exist.
  for (const char *name : {"aes", "avx10.1", "amx-fp8", "clzero", "egpr"})
    EXPECT_FALSE(cpu.has(name)) << name;

  cpu.leaves[{0, 0}] = {0x24, 0, 0, 0};
  cpu.leaves[{0x24, 0}] = {0, 1, 0, 0};
  EXPECT_TRUE(cpu.has("avx10.1"));
  EXPECT_FALSE(cpu.has("avx10.2"));
  cpu.leaves[{0x24, 0}] = {0, 2, 0, 0};
  EXPECT_TRUE(cpu.has("avx10.2"));
}

// A feature of several bits is there when all of them are.
TEST(CpuFeatures, OfAarch64AreReadFromTheWords) {
  auto has = [](HwcapWords words, const std::string &name) {
    std::vector<std::string> names = featuresOf(words);
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  EXPECT_FALSE(has({0, 0, 0}, "neon"));
  EXPECT_TRUE(has({1u << 1, 0, 0}, "neon"));
  EXPECT_FALSE(has({1u << 9, 0, 0}, "fullfp16"));
  EXPECT_TRUE(has({1u << 9 | 1u << 10, 0, 0}, "fullfp16"));
  EXPECT_TRUE(has({0, 1u << 13, 0}, "i8mm"));
  EXPECT_FALSE(has({1u << 13, 0, 0}, "i8mm"));
  EXPECT_TRUE(has({0, 0, 1u << 2}, "lsfe"));
}
