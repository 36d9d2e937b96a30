//===- CpuFeaturesTest.cpp - What this CPU can execute --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/CpuFeatures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
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
             {"avx512bf16", "avx512_bf16"}};
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
