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
  const unsigned long words[] = {::getauxval(AT_HWCAP), ::getauxval(AT_HWCAP2)};
  return {
#define GIST_AARCH64_FEATURE(name, word, bits)                                 \
  {name, (words[(word) - 1] & (bits)) == (bits)},
#include "runtime/format/CpuFeatures.def"
  };
}

#elif defined(__x86_64__)

const char *gist::hostArchitecture() { return "x86_64"; }

static std::vector<Feature> features() {
  __builtin_cpu_init();
  return {
#define GIST_X86_64_FEATURE(name) {name, __builtin_cpu_supports(name) != 0},
#include "runtime/format/CpuFeatures.def"
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
