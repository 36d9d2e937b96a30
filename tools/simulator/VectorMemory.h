//===- VectorMemory.h - Addresses of vector memory --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Addresses of vector memory instructions. Loads, stores and atomics of all
// address spaces find their bytes here, and all bounds are checked here.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SIMULATOR_VECTORMEMORY_H
#define GIST_TOOLS_SIMULATOR_VECTORMEMORY_H

#include "tools/simulator/Wave.h"

namespace gist::sim {

enum class Access { Load, Store, Atomic };

/// Where a lane of a global, flat, buffer or scratch instruction points to.
struct LaneMemory {
  uint8_t *pointer = nullptr;
  /// A buffer access out of its range: loads zero, stores nothing. Otherwise a
  /// null pointer means that the wave has failed.
  bool outOfBuffer = false;
};

/// `offset` is added to the address, for the parts of a wide access.
LaneMemory resolveLane(Wave &wave, const Inst &inst, unsigned lane,
                       unsigned bytes, Access access, unsigned offset = 0);

/// Records an access of LDS with the shadow; false after a finding.
bool noteLdsAccess(Wave &wave, LdsAccess kind, uint64_t address, unsigned bytes,
                   unsigned lane);

} // namespace gist::sim

#endif // GIST_TOOLS_SIMULATOR_VECTORMEMORY_H
