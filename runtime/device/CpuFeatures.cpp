//===- CpuFeatures.cpp - What this CPU can execute ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Read from the running CPU, not looked up by its name: a virtual machine may
// hide what the name promises.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/CpuFeatures.h"
#include "runtime/format/CpuFeatures.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#if defined(__aarch64__)
#include <sys/auxv.h>
#elif defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace gist;

#if defined(__aarch64__)

const char *gist::hostArchitecture() { return "aarch64"; }

std::vector<std::string> gist::hostCpuFeatures() {
  // Older headers lack the name of the third word.
  constexpr unsigned long kHwcap3 = 29;
  return featuresOf(HwcapWords{::getauxval(AT_HWCAP), ::getauxval(AT_HWCAP2),
                               ::getauxval(kHwcap3)});
}

static Status askForTiles() { return {}; }

#elif defined(__x86_64__)

const char *gist::hostArchitecture() { return "x86_64"; }

/// The registers that the operating system saves; 0 if it does not tell.
static uint64_t savedStates() {
  // CPUID leaf 1, ECX. Without this bit `xgetbv` is an illegal instruction.
  constexpr unsigned kOsXsave = 1u << 27;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || (ecx & kOsXsave) == 0)
    return 0;
  asm volatile("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
  return uint64_t{edx} << 32 | eax;
}

std::vector<std::string> gist::hostCpuFeatures() {
  X86Cpu cpu;
  cpu.cpuid = [](uint32_t leaf, uint32_t subleaf) {
    X86Cpu::Registers words = {};
    __cpuid_count(leaf, subleaf, words[0], words[1], words[2], words[3]);
    return words;
  };
  cpu.states = savedStates();
  return featuresOf(cpu);
}

/// Asks Linux to save the tiles of this process' threads. By default it does
/// not, because they are large, and the first tile instruction would fault.
static Status askForTiles() {
  constexpr long kRequestPermission = 0x1023; // ARCH_REQ_XCOMP_PERM
  if (::syscall(SYS_arch_prctl, kRequestPermission, kTileDataNumber) == 0)
    return {};
  return Status::error(Code::Unsupported,
                       "needs AMX (amx-tile), which the operating system does "
                       "not allow this process to use: %s",
                       std::strerror(errno));
}

#else
#error "Gist runs on aarch64 and x86-64"
#endif

/// ARM kernels give numbers instead of a name.
/// These are the part numbers of Arm's own cores in MIDR_EL1. A part that is
/// not listed is not an error: the name is only informative.
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
    // Only for a module that uses tiles: any other one must not fail if the
    // system refuses.
    return std::find(required.begin(), required.end(), "amx-tile") ==
                   required.end()
               ? Status()
               : askForTiles();
  return Status::error(Code::Unsupported,
                       "needs CPU features that %s does not have: %s",
                       hostCpuName().c_str(), missing.c_str());
}
