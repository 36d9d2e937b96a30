//===- GpuLoops.h - The main loops of kernels -------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TARGET_GPULOOPS_H
#define GIST_PASSES_TARGET_GPULOOPS_H

#include "passes/Target/GpuDisassembly.h"

#include <optional>

namespace gist {

/// Instructions of one iteration, by the unit that executes them.
struct InstructionMix {
  unsigned matrix = 0; ///< v_mfma_*
  unsigned lds = 0;    ///< workgroup memory
  unsigned vmem = 0;   ///< global memory, through vector registers
  unsigned valu = 0;   ///< other vector instructions
  unsigned salu = 0;   ///< scalar, loads of scalars included
  unsigned waits = 0;  ///< s_waitcnt
  unsigned barriers = 0;
};

/// An innermost loop with matrix instructions.
struct MainLoop {
  uint64_t begin, end; ///< addresses of its first and last instruction
  InstructionMix mix;
  /// Iterations between a load from global memory and the first matrix
  /// instruction that multiplies what it loaded: 0 if the loop waits for it.
  /// None if the loop loads nothing that it multiplies.
  std::optional<unsigned> stagesAhead;
  /// Matrix instructions between a load from global memory and the wait for it:
  /// what hides its latency. The smallest of all loads; none without loads.
  std::optional<unsigned> matrixPerLoad;
  /// llvm-mca's cycles of an iteration and, of these, those in which the matrix
  /// unit works. A cycle of its model is four of the clock.
  double cycles = 0, matrixCycles = 0;

  double getUtilisation() const {
    return cycles == 0 ? 0 : matrixCycles / cycles;
  }
};

/// The main loops of a kernel, in the order of their addresses.
std::vector<MainLoop> findMainLoops(const GpuKernelCode &kernel,
                                    const GpuInstructionSet &isa);

} // namespace gist

#endif // GIST_PASSES_TARGET_GPULOOPS_H
