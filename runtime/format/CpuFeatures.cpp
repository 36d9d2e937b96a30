//===- CpuFeatures.cpp - Features that code may require -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/format/CpuFeatures.h"

using namespace gist;

namespace {
enum Register : uint8_t { Eax, Ebx, Ecx, Edx };

struct Aarch64Feature {
  std::string_view name;
  unsigned word;
  uint64_t bits;
};

struct X86Feature {
  std::string_view name;
  uint32_t leaf, subleaf;
  Register where;
  unsigned bit;
  unsigned version; ///< of the low byte; 0: the bit says it
  uint64_t states;
};
} // namespace

// Of XCR0: halves of ymm; masks and zmm; the upper half of general registers.
static constexpr uint64_t kAvxState = 0x6;
static constexpr uint64_t kAvx512State = 0xe6;
static constexpr uint64_t kApxState = 0x80000;

static constexpr Aarch64Feature kAarch64[] = {
#define GIST_AARCH64_FEATURE(name, word, bits) {name, word, bits},
#include "runtime/format/CpuFeatures.def"
};

static constexpr X86Feature kX8664[] = {
#define GIST_X86_64_FEATURE(name, leaf, subleaf, where, bit, states)           \
  {name, leaf, subleaf, where, bit, 0, states},
#define GIST_X86_64_VERSION(name, leaf, subleaf, where, version, states)       \
  {name, leaf, subleaf, where, 0, version, states},
#include "runtime/format/CpuFeatures.def"
};

static constexpr std::string_view kHidden[] = {
#define GIST_AARCH64_HIDDEN(name) name,
#include "runtime/format/CpuFeatures.def"
};

template <typename Row, size_t count>
static constexpr std::array<std::string_view, count>
namesOf(const Row (&rows)[count]) {
  std::array<std::string_view, count> names;
  for (size_t i = 0; i < count; ++i)
    names[i] = rows[i].name;
  return names;
}

static constexpr auto kAarch64Names = namesOf(kAarch64);
static constexpr auto kX8664Names = namesOf(kX8664);

std::span<const std::string_view>
gist::getKnownFeatures(std::string_view architecture) {
  if (architecture == "aarch64")
    return kAarch64Names;
  if (architecture == "x86_64")
    return kX8664Names;
  return {};
}

std::span<const std::string_view>
gist::getHiddenFeatures(std::string_view architecture) {
  if (architecture == "aarch64")
    return kHidden;
  return {};
}

std::vector<std::string> gist::featuresOf(const HwcapWords &words) {
  std::vector<std::string> names;
  for (const Aarch64Feature &row : kAarch64)
    if ((words[row.word - 1] & row.bits) == row.bits)
      names.emplace_back(row.name);
  return names;
}

/// Whether CPUID knows this leaf. Where it does not, it answers with what
/// belongs to another one.
static bool hasLeaf(const X86Cpu &cpu, uint32_t leaf, uint32_t subleaf) {
  constexpr uint32_t kExtended = 0x80000000;
  if (cpu.cpuid(leaf & kExtended, 0)[Eax] < leaf)
    return false;
  // These leaves begin with the number of their last subleaf.
  bool countsSubleaves = leaf == 0x7 || leaf == 0x1e;
  return subleaf == 0 || !countsSubleaves || cpu.cpuid(leaf, 0)[Eax] >= subleaf;
}

static bool hasFeature(const X86Cpu &cpu, const X86Feature &row) {
  if ((cpu.states & row.states) != row.states ||
      !hasLeaf(cpu, row.leaf, row.subleaf))
    return false;
  uint32_t word = cpu.cpuid(row.leaf, row.subleaf)[row.where];
  if (row.version != 0)
    return (word & 0xff) >= row.version;
  return (word >> row.bit & 1) != 0;
}

std::vector<std::string> gist::featuresOf(const X86Cpu &cpu) {
  std::vector<std::string> names;
  for (const X86Feature &row : kX8664)
    if (hasFeature(cpu, row))
      names.emplace_back(row.name);
  return names;
}
