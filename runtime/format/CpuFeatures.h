//===- CpuFeatures.h - Features that code may require -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names, and how CPUID and AT_HWCAP become names. Nothing here reads the
// running CPU, so that every machine can be tested on any other.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_FORMAT_CPUFEATURES_H
#define GIST_RUNTIME_FORMAT_CPUFEATURES_H

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gist {

/// LLVM names of the features that code for an architecture, "aarch64" or
/// "x86_64", may require; none for others.
std::span<const std::string_view>
getKnownFeatures(std::string_view architecture);

/// Features of LLVM with instructions that Linux does not report to programs.
std::span<const std::string_view>
getHiddenFeatures(std::string_view architecture);

/// The words AT_HWCAP, AT_HWCAP2 and AT_HWCAP3 of an aarch64 Linux.
using HwcapWords = std::array<uint64_t, 3>;
std::vector<std::string> featuresOf(const HwcapWords &words);

/// What an x86-64 CPU says of itself.
struct X86Cpu {
  /// Registers eax, ebx, ecx and edx that CPUID gives for a leaf and subleaf.
  using Registers = std::array<uint32_t, 4>;
  std::function<Registers(uint32_t leaf, uint32_t subleaf)> cpuid;
  /// Registers that the operating system saves (XCR0); 0 without XSAVE.
  uint64_t states = 0;
};
std::vector<std::string> featuresOf(const X86Cpu &cpu);

/// The state of AMX' tiles in XCR0, and the number of the state component that
/// a process must request from Linux.
inline constexpr uint64_t kTileState = 0x60000;
inline constexpr int kTileDataNumber = 18;

} // namespace gist

#endif // GIST_RUNTIME_FORMAT_CPUFEATURES_H
