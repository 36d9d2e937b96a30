//===- Simulator.h - Runs gfx942 kernels on the host ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole interface of the simulator: load a code object, launch a kernel of
// it, read what went wrong and what was counted.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SIMULATOR_SIMULATOR_H
#define GIST_TOOLS_SIMULATOR_SIMULATOR_H

#include "tools/simulator/CodeObject.h"
#include "tools/simulator/Isa.h"
#include "tools/simulator/Memory.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gist::sim {

/// Which misaligned accesses are findings. Under HSA the card runs in unaligned
/// mode: loads and stores of global memory may begin at any byte.
enum class Alignment : uint8_t {
  None,     ///< None.
  Required, ///< Atomics off their size; LDS and scratch off the dword.
  Strict,   ///< And global memory off the dword, which costs time.
};

struct Config {
  /// Undefined values, waits, races, hazards. Bounds are always checked.
  bool checks = true;
  Alignment alignment = Alignment::Required;
  /// Host threads; 0 takes all cores. Results do not depend on it.
  unsigned threads = 0;
  /// Instructions after which a wave counts as hanging.
  uint64_t maxInstructions = 4'000'000'000;
};

struct Counters {
  uint64_t workgroups = 0, waves = 0;
  uint64_t instructions[static_cast<size_t>(OpClass::kCount)] = {};
  uint64_t matrixPasses = 0; ///< Four cycles each.
  uint64_t scalarBytesRead = 0;
  uint64_t globalBytesRead = 0, globalBytesWritten = 0;
  uint64_t ldsBytesRead = 0, ldsBytesWritten = 0;
  uint64_t scratchBytesRead = 0, scratchBytesWritten = 0;
  uint64_t ldsConflictCycles = 0; ///< Beyond the least an access needs.

  uint64_t totalInstructions() const;
  void add(const Counters &other);
  /// One "name value" line per counter.
  std::string text() const;
};

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

struct LaunchRequest {
  const Kernel *kernel = nullptr;
  Dim3 workgroups, workgroupSize;
  uint32_t dynamicLds = 0;        ///< Bytes after the kernel's own.
  std::vector<uint8_t> arguments; ///< The explicit part of the kernarg segment.
};

/// Runs the kernel to its end. Empty, or one sentence that names the kernel,
/// the instruction and the lane that failed. When several workgroups fail, the
/// first one in launch order is reported.
std::string launch(const LaunchRequest &request, MemoryMap &memory,
                   const Config &config, Counters &counters);

} // namespace gist::sim

#endif // GIST_TOOLS_SIMULATOR_SIMULATOR_H
