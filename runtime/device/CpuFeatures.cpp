//===- CpuFeatures.cpp - What this CPU can execute ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Asked from the running CPU, not looked up by its name: a virtual machine may
// hide what the name promises.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/CpuFeatures.h"

#include <algorithm>
#include <fstream>
#include <utility>

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

using namespace gist;

namespace {
struct Feature {
  const char *name;
  bool present;
};
} // namespace

#if defined(__aarch64__)

const char *gist::hostArchitecture() { return "aarch64"; }

static std::vector<Feature> features() {
  // Bit numbers of the Linux user interface, which never change; older headers
  // lack the newer names.
  unsigned long first = ::getauxval(AT_HWCAP);
  unsigned long second = ::getauxval(AT_HWCAP2);
  auto bit = [](unsigned long word, int number) {
    return (word >> number & 1) != 0;
  };
  return {
      {"fp-armv8", bit(first, 0)},
      {"neon", bit(first, 1)},
      {"aes", bit(first, 3)},
      {"sha2", bit(first, 6)},
      {"crc", bit(first, 7)},
      {"lse", bit(first, 8)},
      {"fullfp16", bit(first, 9) && bit(first, 10)},
      {"rdm", bit(first, 12)},
      {"rcpc", bit(first, 15)},
      {"dotprod", bit(first, 20)},
      {"sve", bit(first, 22)},
      {"fp16fml", bit(first, 23)},
      {"sve2", bit(second, 1)},
      {"i8mm", bit(second, 13)},
      {"bf16", bit(second, 14)},
      {"sme", bit(second, 23)},
  };
}

#elif defined(__x86_64__)

const char *gist::hostArchitecture() { return "x86_64"; }

static std::vector<Feature> features() {
  __builtin_cpu_init();
  // The builtin takes literals only, and also asks whether the operating system
  // saves the registers.
  return {
      {"sse2", __builtin_cpu_supports("sse2") != 0},
      {"sse3", __builtin_cpu_supports("sse3") != 0},
      {"ssse3", __builtin_cpu_supports("ssse3") != 0},
      {"sse4.1", __builtin_cpu_supports("sse4.1") != 0},
      {"sse4.2", __builtin_cpu_supports("sse4.2") != 0},
      {"popcnt", __builtin_cpu_supports("popcnt") != 0},
      {"avx", __builtin_cpu_supports("avx") != 0},
      {"avx2", __builtin_cpu_supports("avx2") != 0},
      {"fma", __builtin_cpu_supports("fma") != 0},
      {"f16c", __builtin_cpu_supports("f16c") != 0},
      {"bmi", __builtin_cpu_supports("bmi") != 0},
      {"bmi2", __builtin_cpu_supports("bmi2") != 0},
      {"avx512f", __builtin_cpu_supports("avx512f") != 0},
      {"avx512bw", __builtin_cpu_supports("avx512bw") != 0},
      {"avx512cd", __builtin_cpu_supports("avx512cd") != 0},
      {"avx512dq", __builtin_cpu_supports("avx512dq") != 0},
      {"avx512vl", __builtin_cpu_supports("avx512vl") != 0},
      {"avx512vnni", __builtin_cpu_supports("avx512vnni") != 0},
      {"avx512bf16", __builtin_cpu_supports("avx512bf16") != 0},
  };
}

#else
#error "Gist runs on aarch64 and x86-64"
#endif

std::vector<std::string> gist::hostCpuFeatures() {
  std::vector<std::string> names;
  for (const Feature &feature : features())
    if (feature.present)
      names.emplace_back(feature.name);
  return names;
}

/// ARM kernels give numbers instead of a name.
static const char *armCoreName(const std::string &part) {
  static constexpr std::pair<const char *, const char *> kCores[] = {
      {"0xd0c", "Neoverse-N1"}, {"0xd40", "Neoverse-V1"},
      {"0xd49", "Neoverse-N2"}, {"0xd4f", "Neoverse-V2"},
      {"0xd83", "Neoverse-V3"}, {"0xd8e", "Neoverse-N3"},
      {"0xd0b", "Cortex-A76"},  {"0xd08", "Cortex-A72"},
      {"0xd03", "Cortex-A53"}};
  for (const auto &[number, name] : kCores)
    if (part == number)
      return name;
  return nullptr;
}

std::string gist::hostCpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    size_t colon = line.find(": ");
    if (colon == std::string::npos)
      continue;
    std::string value = line.substr(colon + 2);
    if (line.rfind("model name", 0) == 0)
      return value;
    if (line.rfind("CPU part", 0) == 0)
      if (const char *name = armCoreName(value))
        return name;
  }
  return hostArchitecture();
}

Status gist::checkCpuFeatures(const std::vector<std::string> &required) {
  std::vector<std::string> present = hostCpuFeatures();
  std::string missing;
  for (const std::string &name : required)
    if (std::find(present.begin(), present.end(), name) == present.end())
      missing += (missing.empty() ? "" : ", ") + name;
  if (missing.empty())
    return {};
  return Status::error(Code::Unsupported,
                       "needs CPU features that %s does not have: %s",
                       hostCpuName().c_str(), missing.c_str());
}
