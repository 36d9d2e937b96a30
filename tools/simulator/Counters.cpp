//===- Counters.cpp - What a launch has done ------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a launch did, in numbers that do not depend on the host: tests compare
// them.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Format.h"
#include "tools/simulator/Simulator.h"

#include <cinttypes>
#include <numeric>

using namespace gist::sim;

/// All classes count alike: a matrix operation is one instruction.
uint64_t Counters::totalInstructions() const {
  return std::accumulate(std::begin(instructions), std::end(instructions),
                         uint64_t(0));
}

void Counters::add(const Counters &other) {
  // The struct is a row of 64-bit counters.
  static_assert(sizeof(Counters) % sizeof(uint64_t) == 0);
  auto *mine = reinterpret_cast<uint64_t *>(this);
  auto *theirs = reinterpret_cast<const uint64_t *>(&other);
  for (size_t i = 0; i < sizeof(Counters) / sizeof(uint64_t); ++i)
    mine[i] += theirs[i];
}

/// The names are an interface: tests read them.
std::string Counters::text() const {
  static constexpr const char *kNames[] = {
      "salu", "branch", "wait", "barrier", "valu",    "trans", "mfma",
      "smem", "global", "flat", "buffer",  "scratch", "lds"};
  static_assert(std::size(kNames) == static_cast<size_t>(OpClass::kCount));
  // One line each, "name value", so that tests need no parser.
  std::string result;
  auto line = [&](const char *name, uint64_t value) {
    result += format("%s %" PRIu64 "\n", name, value);
  };
  line("workgroups", workgroups);
  line("waves", waves);
  line("instructions", totalInstructions());
  for (size_t i = 0; i < std::size(kNames); ++i)
    line(format("instructions.%s", kNames[i]).c_str(), instructions[i]);
  line("matrix.passes", matrixPasses);
  uint64_t total = totalInstructions();
  result += format(
      "matrix.share %.4f\n",
      total ? double(instructions[static_cast<size_t>(OpClass::Mfma)]) / total
            : 0.0);
  line("bytes.scalar.read", scalarBytesRead);
  line("bytes.global.read", globalBytesRead);
  line("bytes.global.written", globalBytesWritten);
  line("bytes.lds.read", ldsBytesRead);
  line("bytes.lds.written", ldsBytesWritten);
  line("bytes.scratch.read", scratchBytesRead);
  line("bytes.scratch.written", scratchBytesWritten);
  line("lds.conflict_cycles", ldsConflictCycles);
  return result;
}
