//===- Memory.cpp - The device memory a kernel may touch ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The map of allocations is a sorted list: lookups are many and need a binary
// search, changes are few.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Memory.h"

#include "tools/simulator/Format.h"

#include <algorithm>
#include <cinttypes>

using namespace gist::sim;

static bool startsAfter(uint64_t address, const Allocation &allocation) {
  return address < allocation.base;
}

void MemoryMap::add(const void *base, uint64_t size) {
  uint64_t address = reinterpret_cast<uintptr_t>(base);
  auto next = std::upper_bound(allocations.begin(), allocations.end(), address,
                               startsAfter);
  // The caller sees to it that allocations do not overlap: each is its own
  // block of host memory.
  allocations.insert(next, {address, size});
}

bool MemoryMap::remove(const void *base) {
  uint64_t address = reinterpret_cast<uintptr_t>(base);
  for (auto it = allocations.begin(); it != allocations.end(); ++it)
    if (it->base == address) {
      allocations.erase(it);
      return true;
    }
  return false;
}

/// An access that begins in one allocation and ends in the next is outside of
/// both, even where they touch.
const Allocation *MemoryMap::find(uint64_t address, uint64_t bytes) const {
  auto next = std::upper_bound(allocations.begin(), allocations.end(), address,
                               startsAfter);
  if (next == allocations.begin())
    return nullptr;
  const Allocation &candidate = *std::prev(next);
  return candidate.contains(address, bytes) ? &candidate : nullptr;
}

/// The distance tells what went wrong: a few bytes past the end is an index, a
/// far address a bad pointer.
std::string MemoryMap::describe(uint64_t address) const {
  auto next = std::upper_bound(allocations.begin(), allocations.end(), address,
                               startsAfter);
  if (next != allocations.begin()) {
    const Allocation &before = *std::prev(next);
    uint64_t distance = address - before.base;
    if (next == allocations.end() || distance < next->base - address)
      return format("byte %" PRIu64 " of an allocation of %" PRIu64 " bytes",
                    distance, before.size);
  }
  if (next != allocations.end())
    return format("%" PRIu64 " bytes before an allocation of %" PRIu64 " bytes",
                  next->base - address, next->size);
  return "nothing is allocated";
}

uint64_t MemoryMap::bytesInUse() const {
  uint64_t total = 0;
  for (const Allocation &allocation : allocations)
    total += allocation.size;
  return total;
}
