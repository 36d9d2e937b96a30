//===- Memory.h - The device memory a kernel may touch ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device addresses are host addresses. The map knows every allocation, so an
// access outside all of them is an error with a name instead of a crash.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SIMULATOR_MEMORY_H
#define GIST_TOOLS_SIMULATOR_MEMORY_H

#include <cstdint>
#include <string>
#include <vector>

namespace gist::sim {

struct Allocation {
  uint64_t base = 0, size = 0;
  /// Written without `address + bytes`, which can wrap.
  bool contains(uint64_t address, uint64_t bytes) const {
    return address >= base && bytes <= size && address - base <= size - bytes;
  }
};

/// Changed only while no kernel runs; read without a lock by all that do.
class MemoryMap {
public:
  void add(const void *base, uint64_t size);
  /// False if no allocation starts at `base`.
  bool remove(const void *base);
  /// The allocation that holds all `bytes` at `address`, or null.
  const Allocation *find(uint64_t address, uint64_t bytes) const;
  /// Describes where `address` is relative to the nearest allocation.
  std::string describe(uint64_t address) const;
  uint64_t bytesInUse() const;

private:
  std::vector<Allocation> allocations; ///< Sorted by base, never overlapping.
};

} // namespace gist::sim

#endif // GIST_TOOLS_SIMULATOR_MEMORY_H
