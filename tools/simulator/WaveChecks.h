//===- WaveChecks.h - What a card would not tell, per wave ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three questions about every register an instruction names: was it written
// (or computed from something written), has the wait for the load that fills
// it been done, and is the last writer far enough back for the pipeline.
// The checks see decoded operands only; the code that executes knows nothing
// of them.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SIMULATOR_WAVECHECKS_H
#define GIST_TOOLS_SIMULATOR_WAVECHECKS_H

#include "tools/simulator/Isa.h"

#include <bitset>
#include <cstdint>
#include <string>

namespace gist::sim {

class Wave;

/// The counters of s_waitcnt, split where they return out of order.
enum class WaitKind : uint8_t { Vmem, Lds, Smem, Flat };

struct PendingWrite {
  uint32_t sequence = 0;
  WaitKind kind = WaitKind::Vmem;
};

/// The last write of a vector register, for the hazard distances.
struct WriteStamp {
  uint32_t time = 0;
  enum Kind : uint8_t {
    None,
    Valu,
    Trans,
    Partial,
    Dot,
    Xdl,
    Sgemm,
    Dgemm
  } kind = None;
  uint8_t passes = 0;
  uint16_t first = 0, count = 0; ///< The whole destination of a matrix op.
  const OpInfo *op = nullptr;
};

class WaveChecks {
public:
  void reset();
  void defineScalar(unsigned reg, unsigned count = 1);
  void defineVector(unsigned reg) { defined[reg] = ~uint64_t(0); }

  /// Before the instruction executes. Fails the wave on a finding.
  void before(Wave &wave, const Inst &inst);
  /// After it: new pending loads, definedness of its results.
  void after(Wave &wave, const Inst &inst);
  void wait(const Inst &inst);

  // Sequence numbers of what was issued and of what is known to be done.
  uint32_t issued[4] = {}, done[4] = {};
  uint32_t flatLgkmDone = 0;

private:
  bool checkPending(Wave &wave, const Operand &operand, bool isWrite);
  bool isDone(const PendingWrite &pending) const;
  void setPending(const Operand &operand, WaitKind kind);
  uint64_t definedLanes(const Operand &operand) const;
  bool requireDefined(Wave &wave, const Operand &operand, uint64_t lanes);
  void propagate(Wave &wave, const Inst &inst);
  void propagateMatrix(const Inst &inst);
  uint64_t definedHalf(const Inst &inst, unsigned part) const;
  void setDefined(const Operand &operand, uint64_t lanes, uint64_t mask);

  bool checkHazards(Wave &wave, const Inst &inst);
  bool checkSourceHazard(Wave &wave, const Inst &inst, unsigned source);
  bool checkDestinationHazard(Wave &wave, const Inst &inst);
  bool checkScalarHazard(Wave &wave, const Inst &inst);
  bool requireStates(Wave &wave, uint32_t since, unsigned needed,
                     const char *rule, unsigned reg);
  void stampWrites(const Inst &inst);

  uint64_t defined[kNumVector] = {}; ///< One bit per lane.
  std::bitset<kNumScalar> scalarDefined;
  /// Registers that a load may still write. Cleared lazily, when it is queried.
  std::bitset<kNumVector> vectorPending;
  std::bitset<kNumScalar> scalarPending;
  PendingWrite pendingVector[kNumVector], pendingScalar[kNumScalar];

  /// What before() found out for after(): the exec mask that the instruction
  /// ran under, and the lanes in which all that it read was defined.
  uint64_t execBefore = 0;
  uint64_t resultDefined = 0;

  // Hazards. Time counts wait states: one per instruction, more for s_nop.
  uint32_t now = 0;
  WriteStamp stamps[kNumVector];
  /// When a matrix operation read the register as C, 0 for never; likewise
  /// below for writes of scalar registers and for stores.
  uint32_t readAsC[kNumVector] = {};
  uint8_t readAsCPasses[kNumVector] = {};
  uint32_t valuWroteScalar[kNumScalar] = {};
  uint32_t wideStore[kNumVector] = {};
  uint32_t saluWroteM0 = 0, valuWroteExec = 0;
};

/// The row of its block that register `index` of a matrix result holds in
/// `lane`.
unsigned matrixRow(const OpInfo &op, unsigned index, unsigned lane);

/// The register's assembly name.
std::string registerName(OperandKind kind, unsigned reg);

} // namespace gist::sim

#endif // GIST_TOOLS_SIMULATOR_WAVECHECKS_H
