//===- WaveChecks.cpp - Defined values and waits --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computing with a value that was never written is not an error by itself:
// compilers do that where the result is not used. The result is then undefined
// as well. It is an error when an undefined value becomes an address, is stored
// to memory, or decides a branch.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/WaveChecks.h"

#include "tools/simulator/Format.h"
#include "tools/simulator/Wave.h"

using namespace gist::sim;

static constexpr uint64_t kAllLanes = ~uint64_t(0);

std::string gist::sim::registerName(OperandKind kind, unsigned reg) {
  if (kind == OperandKind::Vector)
    return reg >= kFirstAgpr ? format("a%u", reg - kFirstAgpr)
                             : format("v%u", reg);
  switch (reg) {
  case kVcc:
    return "vcc_lo";
  case kVcc + 1:
    return "vcc_hi";
  case kM0:
    return "m0";
  case kExec:
    return "exec_lo";
  case kExec + 1:
    return "exec_hi";
  case kScc:
    return "scc";
  default:
    return format("s%u", reg);
  }
}

/// Only EXEC is defined at the start; setUpWave defines what the ABI gives.
void WaveChecks::reset() {
  *this = WaveChecks();
  // Far enough from zero that nothing seems to have been written just before.
  now = 1000;
  defineScalar(kExec, 2);
}

void WaveChecks::defineScalar(unsigned reg, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    scalarDefined.set(reg + i);
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

/// Flat loads count with both counters, because they may go to LDS or to
/// memory. Both must have been waited for.
bool WaveChecks::isDone(const PendingWrite &pending) const {
  if (pending.sequence > done[static_cast<size_t>(pending.kind)])
    return false;
  return pending.kind != WaitKind::Flat || pending.sequence <= flatLgkmDone;
}

/// Raises what is known to be done. A counter at its largest value waits for
/// nothing.
void WaveChecks::wait(const Inst &inst) {
  auto reach = [&](WaitKind kind, uint32_t outstanding) {
    uint32_t &reached = done[static_cast<size_t>(kind)];
    uint32_t last = issued[static_cast<size_t>(kind)];
    uint32_t value = last > outstanding ? last - outstanding : 0;
    reached = std::max(reached, value);
  };
  // With at most n of all kinds outstanding, at most n of one kind are, and
  // loads of one kind return in order. Scalar loads and flat ones do not.
  if (inst.vmcnt < 63) {
    reach(WaitKind::Vmem, inst.vmcnt);
    if (inst.vmcnt == 0)
      reach(WaitKind::Flat, 0);
  }
  if (inst.lgkmcnt < 15) {
    reach(WaitKind::Lds, inst.lgkmcnt);
    if (inst.lgkmcnt == 0) {
      reach(WaitKind::Smem, 0);
      flatLgkmDone = issued[static_cast<size_t>(WaitKind::Flat)];
    }
  }
}

static const char *counterOf(WaitKind kind) {
  switch (kind) {
  case WaitKind::Vmem:
    return "vmcnt";
  case WaitKind::Lds:
  case WaitKind::Smem:
    return "lgkmcnt";
  case WaitKind::Flat:
    return "vmcnt and lgkmcnt";
  }
  return "";
}

/// Which counter an instruction raises; false for those that raise none.
static bool kindOf(OpClass opClass, WaitKind &kind) {
  switch (opClass) {
  case OpClass::Smem:
    kind = WaitKind::Smem;
    return true;
  case OpClass::Lds:
    kind = WaitKind::Lds;
    return true;
  case OpClass::Flat:
    kind = WaitKind::Flat;
    return true;
  case OpClass::Global:
  case OpClass::Buffer:
  case OpClass::Scratch:
    kind = WaitKind::Vmem;
    return true;
  default:
    return false;
  }
}

/// Reading a register before the wait gives the old value. Writing one is an
/// error as well: the load would overwrite it later.
bool WaveChecks::checkPending(Wave &wave, const Operand &operand,
                              bool isWrite) {
  if (!operand.isVector() && !operand.isScalar())
    return true;
  bool isVector = operand.isVector();
  for (unsigned reg = operand.reg; reg < operand.reg + operand.count; ++reg) {
    if (!(isVector ? vectorPending[reg] : scalarPending[reg]))
      continue;
    const PendingWrite &pending =
        isVector ? pendingVector[reg] : pendingScalar[reg];
    // The answer is kept, so that it is asked once.
    if (isDone(pending)) {
      if (isVector)
        vectorPending.reset(reg);
      else
        scalarPending.reset(reg);
      continue;
    }
    // Loads of one kind write their registers in order.
    WaitKind kind;
    if (isWrite && kindOf(wave.current->op->opClass, kind) &&
        kind == pending.kind && kind != WaitKind::Smem &&
        kind != WaitKind::Flat)
      continue;
    // The wait must leave only the loads issued after this one. Where order is
    // not kept, it must be for all.
    uint32_t younger =
        issued[static_cast<size_t>(pending.kind)] - pending.sequence;
    bool inOrder =
        pending.kind == WaitKind::Vmem || pending.kind == WaitKind::Lds;
    wave.fail(-1, format("%s %s before the wait for the load into it; needs "
                         "%s of at most %u",
                         isWrite ? "writes" : "reads",
                         registerName(operand.kind, reg).c_str(),
                         counterOf(pending.kind), inOrder ? younger : 0));
    return false;
  }
  return true;
}

/// Called after `issued` was raised, so the number is this load's.
void WaveChecks::setPending(const Operand &operand, WaitKind kind) {
  PendingWrite pending = {issued[static_cast<size_t>(kind)], kind};
  for (unsigned reg = operand.reg; reg < operand.reg + operand.count; ++reg)
    if (operand.isVector()) {
      vectorPending.set(reg);
      pendingVector[reg] = pending;
    } else if (operand.isScalar()) {
      scalarPending.set(reg);
      pendingScalar[reg] = pending;
    }
}

//===----------------------------------------------------------------------===//
// Defined values
//===----------------------------------------------------------------------===//

/// The lanes in which all registers of the operand are defined. Constants
/// always are.
uint64_t WaveChecks::definedLanes(const Operand &operand) const {
  uint64_t lanes = kAllLanes;
  for (unsigned reg = operand.reg; reg < operand.reg + operand.count; ++reg) {
    if (operand.isVector())
      lanes &= defined[reg];
    else if (operand.isScalar() && !scalarDefined[reg])
      lanes = 0;
  }
  return lanes;
}

/// Names the first register and lane that is not.
bool WaveChecks::requireDefined(Wave &wave, const Operand &operand,
                                uint64_t lanes) {
  uint64_t missing = lanes & ~definedLanes(operand);
  if (!missing)
    return true;
  bool isVector = operand.isVector();
  for (unsigned reg = operand.reg; reg < operand.reg + operand.count; ++reg) {
    uint64_t here = isVector             ? lanes & ~defined[reg]
                    : scalarDefined[reg] ? 0
                                         : lanes;
    if (!here)
      continue;
    wave.fail(isVector ? __builtin_ctzll(here) : -1,
              format("uses %s, which was never written or was computed from "
                     "a register that was never written",
                     registerName(operand.kind, reg).c_str()));
    return false;
  }
  return true;
}

/// Lanes outside of `mask` keep what they were. A scalar is defined as a whole
/// or not at all.
void WaveChecks::setDefined(const Operand &operand, uint64_t lanes,
                            uint64_t mask) {
  for (unsigned reg = operand.reg; reg < operand.reg + operand.count; ++reg) {
    if (operand.isVector())
      defined[reg] = (defined[reg] & ~mask) | (lanes & mask);
    else if (operand.isScalar())
      scalarDefined.set(reg, lanes == kAllLanes);
  }
}

static Operand scalarOperand(uint16_t reg, uint8_t count) {
  Operand operand;
  operand.kind = OperandKind::Scalar;
  operand.reg = reg;
  operand.count = count;
  return operand;
}

/// A row of A that is not defined makes the row of D so, a column of B the
/// column.
void WaveChecks::propagateMatrix(const Inst &inst) {
  uint64_t a = definedLanes(inst.src[0]), b = definedLanes(inst.src[1]);
  bool isDouble = inst.op->types[0] == ValueType::F64;
  uint64_t c = kAllLanes;
  if (inst.src[2].isVector())
    c = definedLanes(inst.src[2]);
  // The common case, because the loop below is slow.
  if ((a & b & c) == kAllLanes)
    return setDefined(inst.dst, kAllLanes, kAllLanes);
  unsigned dim = inst.op->matrixDim;
  uint64_t badRows = 0, badColumns = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    badRows |= uint64_t(!(a >> lane & 1)) << (lane % dim);
    badColumns |= uint64_t(!(b >> lane & 1)) << (lane % dim);
  }
  for (unsigned i = 0; i < inst.dst.count; ++i) {
    uint64_t lanes =
        inst.src[2].isVector() ? defined[inst.src[2].reg + i] : kAllLanes;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      unsigned row = matrixRow(*inst.op, isDouble ? i / 2 : i, lane);
      if ((badRows >> row & 1) || (badColumns >> (lane % dim) & 1))
        lanes &= ~(uint64_t(1) << lane);
    }
    defined[inst.dst.reg + i] = lanes;
  }
}

/// Instructions whose two results depend on halves of their sources.
/// Compilers leave a half undefined if no half of the result that they use
/// depends on it.
enum class Halves { None, Multiply, Packed, Move, Copy };

static Halves getHalves(const Inst &inst) {
  std::string_view name = inst.op->name;
  if (name == "v_mad_u64_u32" || name == "v_mad_i64_i32")
    return Halves::Multiply;
  if (name == "v_pk_mov_b32")
    return Halves::Move;
  if (name == "v_mov_b64")
    return Halves::Copy;
  return name.starts_with("v_pk_") && name.ends_with("_f32") ? Halves::Packed
                                                             : Halves::None;
}

/// Lanes in which result `part` of such an instruction is defined.
/// `part` 0 is the low result, 1 the high one.
uint64_t WaveChecks::definedHalf(const Inst &inst, unsigned part) const {
  auto half = [&](unsigned source, bool isUpper) {
    Operand operand = inst.src[source];
    if (operand.count == 2) {
      operand.reg += isUpper;
      operand.count = 1;
    }
    return definedLanes(operand);
  };
  auto isUpper = [&](unsigned source) {
    return (part ? inst.opSelHi : inst.opSel) >> source & 1;
  };
  switch (getHalves(inst)) {
  case Halves::Multiply:
    return definedLanes(inst.src[0]) & definedLanes(inst.src[1]) &
           (part ? definedLanes(inst.src[2]) : half(2, false));
  case Halves::Packed:
    return half(0, isUpper(0)) & half(1, isUpper(1)) & half(2, isUpper(2));
  case Halves::Move:
    return half(part, inst.opSel >> part & 1);
  case Halves::Copy:
    return half(0, part);
  case Halves::None:
    break;
  }
  return resultDefined;
}

/// Decides whether the results are defined, from `resultDefined`, which
/// before() found for the sources.
void WaveChecks::propagate(Wave &wave, const Inst &inst) {
  const OpInfo &op = *inst.op;
  bool isMemory = op.opClass >= OpClass::Smem;
  if (op.opClass == OpClass::Mfma)
    return propagateMatrix(inst);
  if (isMemory || inst.hasFlag(kLane) || inst.dpp != Dpp::None) {
    // What comes from memory is taken as written; the host fills buffers.
    if (op.name == std::string_view("v_writelane_b32")) {
      unsigned lane = wave.readScalar32(inst.src[1]) & 63;
      defined[inst.dst.reg] |= uint64_t(1) << lane;
      return;
    }
    setDefined(inst.dst, kAllLanes,
               inst.dst.isVector() ? execBefore : kAllLanes);
    return;
  }
  uint64_t lanes = resultDefined;
  // Before the scalar result is marked, which may take a source's place.
  bool hasHalves = inst.dst.isVector() && getHalves(inst) != Halves::None;
  uint64_t halves[2] = {};
  if (hasHalves)
    for (unsigned part : {0, 1})
      halves[part] = definedHalf(inst, part);
  if (inst.dst.isScalar() || inst.sdst.isScalar()) {
    // A mask of lanes is defined when all that were compared are.
    uint64_t mask = inst.hasFlag(kCompare) ? execBefore : kAllLanes;
    uint64_t all = (lanes & mask) == mask ? kAllLanes : 0;
    if (inst.dst.isScalar())
      setDefined(inst.dst, all, kAllLanes);
    if (inst.sdst.isScalar())
      setDefined(inst.sdst, all, kAllLanes);
    if (inst.hasFlag(kWritesExec))
      // before() has refused an undefined exec; reporting it again at every
      // instruction would not help.
      defineScalar(kExec, 2);
  }
  if (inst.dst.isVector() && !hasHalves)
    setDefined(inst.dst, lanes, execBefore);
  else if (hasHalves) {
    Operand half = inst.dst;
    half.count = 1;
    for (uint64_t definedLanes : halves) {
      setDefined(half, definedLanes, execBefore);
      ++half.reg;
    }
  }
  if (inst.hasFlag(kWritesScc))
    scalarDefined.set(kScc, lanes == kAllLanes);
}

//===----------------------------------------------------------------------===//
// Around each instruction
//===----------------------------------------------------------------------===//

/// The order matters: pending loads first, because a register that is waited
/// for counts as defined.
void WaveChecks::before(Wave &wave, const Inst &inst) {
  execBefore = wave.exec();
  const OpInfo &op = *inst.op;
  bool isMemory = op.opClass >= OpClass::Smem;
  bool isVectorOp = op.opClass >= OpClass::Valu;

  const Kernel &kernel = *wave.group->kernel;
  if (inst.lastVgpr >= int(kernel.accumOffset) ||
      inst.lastAgpr >= int(kernel.vectorRegisters - kernel.accumOffset))
    return wave.fail(-1, format("names a register beyond the %u + %u that the "
                                "kernel allocates",
                                kernel.accumOffset,
                                kernel.vectorRegisters - kernel.accumOffset));

  // Lanes in which all sources so far are defined.
  uint64_t lanes = kAllLanes;
  for (const Operand &source : inst.src) {
    if (!source.isVector() && !source.isScalar())
      continue;
    if (!checkPending(wave, source, /*isWrite=*/false))
      return;
    if (isMemory) {
      if (!requireDefined(wave, source,
                          source.isVector() ? execBefore : kAllLanes))
        return;
    } else if (!inst.hasFlag(kSelect)) {
      lanes &= definedLanes(source);
    }
  }
  // Only the source that is chosen counts: compilers leave the other one open.
  if (inst.hasFlag(kSelect)) {
    uint64_t condition = wave.readScalar64(inst.src[2]);
    lanes =
        definedLanes(inst.src[2]) & ((condition & definedLanes(inst.src[1])) |
                                     (~condition & definedLanes(inst.src[0])));
  }
  if (inst.hasFlag(kReadsDst)) {
    if (!checkPending(wave, inst.dst, /*isWrite=*/inst.hasFlag(kD16)))
      return;
    // Half of a register may be written first, the other half later.
    if (!inst.hasFlag(kD16))
      lanes &= definedLanes(inst.dst);
  }
  if (!checkPending(wave, inst.dst, /*isWrite=*/true) ||
      !checkPending(wave, inst.sdst, /*isWrite=*/true))
    return;

  // Registers that the assembly text does not name. `consumed` means that the
  // value decides something and must be defined.
  auto implicit = [&](uint16_t reg, uint8_t count, bool consumed) {
    Operand operand = scalarOperand(reg, count);
    if (!checkPending(wave, operand, false))
      return false;
    if (consumed)
      return requireDefined(wave, operand, kAllLanes);
    lanes &= definedLanes(operand);
    return true;
  };
  bool isBranch = op.opClass == OpClass::Branch;
  if (inst.hasFlag(kReadsScc) && !implicit(kScc, 1, isBranch))
    return;
  if (inst.hasFlag(kReadsVcc) && !implicit(kVcc, 2, isBranch))
    return;
  if ((inst.hasFlag(kReadsM0) || inst.lds) && !implicit(kM0, 1, true))
    return;
  // What becomes the exec mask decides for all lanes.
  bool writesExec = inst.hasFlag(kWritesExec) ||
                    (inst.dst.isScalar() && inst.dst.reg == kExec);
  if (writesExec && !isVectorOp && lanes != kAllLanes)
    for (const Operand &source : inst.src)
      if (source.isScalar() && !requireDefined(wave, source, kAllLanes))
        return;
  resultDefined = lanes;
  checkHazards(wave, inst);
}

/// Loads are done at once; their registers are marked as pending until the wave
/// waits.
void WaveChecks::after(Wave &wave, const Inst &inst) {
  propagate(wave, inst);
  WaitKind kind;
  if (kindOf(inst.op->opClass, kind)) {
    ++issued[static_cast<size_t>(kind)];
    setPending(inst.dst, kind);
  }
  stampWrites(inst);
}
