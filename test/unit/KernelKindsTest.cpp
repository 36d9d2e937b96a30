//===- KernelKindsTest.cpp - Every kind of kernel, on every target --------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/CpuKernel.h"
#include "passes/Tile/Gpu/GpuKernels.h"

#include <gtest/gtest.h>

using namespace gist;

/// Calls `body` for every kind; numbers in between may be free.
/// The tests fail when a kind is added and a registry is forgotten.
static void forEachKind(llvm::function_ref<void(KernelKind)> body) {
  for (uint32_t i = 0; i <= getMaxEnumValForKernelKind(); ++i)
    if (std::optional<KernelKind> kind = symbolizeKernelKind(i))
      body(*kind);
}

// If the walk found nothing, the other tests would pass.
TEST(KernelKinds, AllAreWalked) {
  int64_t kinds = 0;
  forEachKind([&](KernelKind) { ++kinds; });
  EXPECT_GE(kinds, 12);
}

TEST(KernelKinds, CpusHaveAnEntryForEach) {
  forEachKind([](KernelKind kind) {
    const CpuKernelEntry *entry = findCpuKernelEntry(kind);
    ASSERT_NE(entry, nullptr) << stringifyKernelKind(kind).str();
    EXPECT_NE(entry->choose, nullptr) << stringifyKernelKind(kind).str();
    EXPECT_NE(entry->distribute, nullptr) << stringifyKernelKind(kind).str();
    EXPECT_NE(entry->verify, nullptr) << stringifyKernelKind(kind).str();
  });
}

TEST(KernelKinds, GpusHaveAnEntryForEach) {
  forEachKind([](KernelKind kind) {
    const GpuKernelEntry *entry = findGpuKernelEntry(kind);
    ASSERT_NE(entry, nullptr) << stringifyKernelKind(kind).str();
    EXPECT_NE(entry->choose, nullptr) << stringifyKernelKind(kind).str();
    EXPECT_NE(entry->emit, nullptr) << stringifyKernelKind(kind).str();
    EXPECT_NE(entry->verify, nullptr) << stringifyKernelKind(kind).str();
  });
}
