//===- CheckGraph.h - What is tried with one random graph -------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TEST_FUZZ_CHECKGRAPH_H
#define GIST_TEST_FUZZ_CHECKGRAPH_H

#include "test/fuzz/GraphRun.h"

#include <functional>

namespace gist::fuzz {

struct CheckOptions {
  uint64_t largeOf = 10;   ///< one layer of so many is attention or the like
  uint64_t allOf = 0;      ///< one graph of so many is lowered for all targets
  uint64_t codeOf = 64;    ///< one is compiled to the end
  uint64_t runOf = 0;      ///< one is run on this CPU; 0: none
  uint64_t simulateOf = 0; ///< one is run on the simulator too; 0: none
  std::string simulator;   ///< libgist-hip-sim.so
  std::string folder;      ///< for modules
};

/// What became of a graph; several of these for each.
enum class Outcome : char {
  Lowered = 'L',   ///< for a target
  Compiled = 'C',  ///< to assembly, for one target
  Ran = 'R',       ///< on the CPU, with the results of the definition
  Simulated = 'S', ///< on gfx942-sim, with the results of the definition
  Refused = 'N',   ///< with a sentence that is in the list of limits
  Undecided = 'U', ///< the definition's own results hang on a rounding
  Finding = 'F',
};

using Report = std::function<void(Outcome, const std::string &text)>;

/// Verifies, lowers and runs the graph of `seed`, and says what happened. A
/// crash is for the caller to see.
void checkGraph(mlir::MLIRContext &context, uint64_t seed,
                const CheckOptions &options, const Report &report);

} // namespace gist::fuzz

#endif // GIST_TEST_FUZZ_CHECKGRAPH_H
