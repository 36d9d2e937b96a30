//===- Hazards.cpp - Distances the pipeline requires ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The hardware does not interlock these pairs of instructions: the program must
// keep them apart by a number of wait states, which other instructions or s_nop
// fill. The distances are those of the CDNA3 manual's table of manually
// inserted wait states, read as LLVM's hazard recognizer reads it. Only the
// path that is executed is seen.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Format.h"
#include "tools/simulator/Wave.h"

#include <algorithm>
#include <string_view>

using namespace gist::sim;

/// No rule looks further back.
static constexpr uint32_t kHorizon = 20;

/// Vector memory and LDS; scalar loads read no vector registers.
static bool isMemory(const Inst &inst) {
  return inst.op->opClass >= OpClass::Global;
}
static bool isVectorAlu(const Inst &inst) {
  return inst.op->opClass == OpClass::Valu ||
         inst.op->opClass == OpClass::Trans;
}
static bool isLaneAccess(const Inst &inst) {
  return isVectorAlu(inst) && inst.hasFlag(kLane);
}

/// `since` is the time of the write, `now` that of this instruction; the
/// instructions between them count.
bool WaveChecks::requireStates(Wave &wave, uint32_t since, unsigned needed,
                               const char *rule, unsigned reg) {
  // Wait states, not instructions: an s_nop counts for several.
  uint32_t between = now - since - 1;
  if (between >= needed)
    return true;
  wave.fail(-1, format("hazard: %s (register %s): %u wait states between, "
                       "needs %u",
                       rule, registerName(OperandKind::Vector, reg).c_str(),
                       between, needed));
  return false;
}

/// Wait states from a matrix operation to one that reads its result as C.
static unsigned statesToAddend(const WriteStamp &writer, const Inst &reader) {
  bool readerXdl = reader.op->matrixXdl;
  // The whole accumulator and nothing else: only then does the result go
  // straight back in.
  bool sameRegisters =
      writer.first == reader.src[2].reg && writer.count == reader.src[2].count;
  if (sameRegisters) // The accumulator is forwarded.
    return writer.passes == 2 ? 2 : 0;
  switch (writer.kind) {
  case WriteStamp::Dgemm:
    return readerXdl ? 0 : 9;
  case WriteStamp::Xdl:
    return writer.passes + 1u;
  default:
    return readerXdl ? 0 : writer.passes;
  }
}

/// Wait states from a matrix operation to any other access of its result.
static unsigned statesAfterMatrix(const WriteStamp &writer, bool readByMemory) {
  switch (writer.kind) {
  case WriteStamp::Dgemm:
    return readByMemory ? 18 : 11;
  case WriteStamp::Xdl:
    return writer.passes + 3u;
  default:
    return writer.passes + 2u;
  }
}

/// What this source's last writers ask for. Older writes than the horizon are
/// done by any rule.
bool WaveChecks::checkSourceHazard(Wave &wave, const Inst &inst,
                                   unsigned source) {
  const Operand &operand = inst.src[source];
  bool isMatrix = inst.op->opClass == OpClass::Mfma;
  // Each register has its own last writer.
  for (unsigned reg = operand.reg; reg < operand.reg + operand.count; ++reg) {
    const WriteStamp &stamp = stamps[reg];
    if (now - stamp.time > kHorizon || stamp.kind == WriteStamp::None)
      continue;
    auto require = [&](unsigned needed, const char *rule) {
      return requireStates(wave, stamp.time, needed, rule, reg);
    };
    switch (stamp.kind) {
    case WriteStamp::Xdl:
    case WriteStamp::Sgemm:
    case WriteStamp::Dgemm:
      if (isMatrix && source == 2) {
        if (!require(statesToAddend(stamp, inst),
                     "matrix result read as C of another matrix operation"))
          return false;
      } else if (!require(statesAfterMatrix(stamp, isMemory(inst)),
                          isMatrix ? "matrix result read as A or B"
                                   : "matrix result read")) {
        return false;
      }
      break;
    case WriteStamp::Dot:
      if (isVectorAlu(inst) && (stamp.op != inst.op || source < 2) &&
          !require(3, "dot product read by another operation"))
        return false;
      break;
    case WriteStamp::Trans:
      if (inst.op->opClass == OpClass::Valu &&
          !require(1, "transcendental result read"))
        return false;
      // A transcendental or partial write is a VALU write too.
      [[fallthrough]];
    case WriteStamp::Partial:
      if (stamp.kind == WriteStamp::Partial && isVectorAlu(inst) &&
          !require(1, "partly written register read"))
        return false;
      [[fallthrough]];
    case WriteStamp::Valu:
      if (isMatrix && !require(2, "VALU result read by a matrix operation"))
        return false;
      if (inst.dpp != Dpp::None && source == 0 &&
          !require(2, "VALU result read through DPP"))
        return false;
      if (isLaneAccess(inst) && source == 0 &&
          !require(1, "VALU result read by v_readlane"))
        return false;
      break;
    case WriteStamp::None:
      break;
    }
  }
  return true;
}

/// Overwriting is a hazard as well: the matrix pipeline still writes, or still
/// reads C, when the new value arrives.
bool WaveChecks::checkDestinationHazard(Wave &wave, const Inst &inst) {
  const Operand &operand = inst.dst;
  if (!operand.isVector() || inst.op->opClass == OpClass::Mfma)
    return true;
  for (unsigned reg = operand.reg; reg < operand.reg + operand.count; ++reg) {
    const WriteStamp &stamp = stamps[reg];
    bool byMatrix = stamp.kind == WriteStamp::Xdl ||
                    stamp.kind == WriteStamp::Sgemm ||
                    stamp.kind == WriteStamp::Dgemm;
    if (byMatrix && now - stamp.time <= kHorizon &&
        !requireStates(wave, stamp.time, statesAfterMatrix(stamp, false),
                       "matrix result overwritten", reg))
      return false;
    if (stamp.kind == WriteStamp::Dot && stamp.op != inst.op &&
        now - stamp.time <= kHorizon &&
        !requireStates(wave, stamp.time, 3, "dot product overwritten", reg))
      return false;
    if (readAsC[reg] && now - readAsC[reg] <= kHorizon &&
        !requireStates(wave, readAsC[reg], readAsCPasses[reg] - 1u,
                       "C of a matrix operation overwritten", reg))
      return false;
    if (isVectorAlu(inst) && wideStore[reg] &&
        now - wideStore[reg] <= kHorizon &&
        !requireStates(wave, wideStore[reg], 2,
                       "data of a wide store overwritten", reg))
      return false;
  }
  return true;
}

/// Scalar registers that the vector unit wrote, and EXEC and M0.
bool WaveChecks::checkScalarHazard(Wave &wave, const Inst &inst) {
  auto require = [&](uint32_t since, unsigned needed, const char *rule,
                     unsigned reg) {
    if (!since || now - since - 1 >= needed)
      return true;
    wave.fail(-1, format("hazard: %s (register %s): %u wait states between, "
                         "needs %u",
                         rule, registerName(OperandKind::Scalar, reg).c_str(),
                         now - since - 1, needed));
    return false;
  };
  bool isVector = isVectorAlu(inst);
  bool isVmem = isMemory(inst) && inst.op->opClass != OpClass::Lds;
  if (isVector || isVmem)
    for (unsigned i = 0; i < 4; ++i) {
      const Operand &source = inst.src[i];
      // EXEC has rules of its own, below.
      if (!source.isScalar() || source.reg == kExec)
        continue;
      for (unsigned reg = source.reg; reg < source.reg + source.count; ++reg) {
        uint32_t since = valuWroteScalar[reg];
        if (isVmem && !require(since, 5, "SGPR from VALU read by VMEM", reg))
          return false;
        // Operand 1 of v_readlane and v_writelane selects the lane; the manual
        // has a distance of its own for it.
        if (isVector && !require(since, isLaneAccess(inst) && i == 1 ? 4 : 2,
                                 "SGPR from VALU read by VALU", reg))
          return false;
      }
    }
  if (inst.hasFlag(kReadsVcc) && isVector &&
      !require(valuWroteScalar[kVcc], 4, "VCC from VALU read by v_div_fmas",
               kVcc))
    return false;
  if (inst.dpp != Dpp::None &&
      !require(valuWroteExec, 5, "EXEC from VALU, then DPP", kExec))
    return false;
  if (inst.op->opClass == OpClass::Mfma &&
      !require(valuWroteExec, 4, "EXEC from VALU, then a matrix operation",
               kExec))
    return false;
  if (isLaneAccess(inst) &&
      !require(valuWroteExec, 4, "EXEC from VALU, then a lane access", kExec))
    return false;
  if ((inst.hasFlag(kReadsM0) || inst.lds) &&
      !require(saluWroteM0, 1, "M0 from SALU, then a load into LDS", kM0))
    return false;
  return true;
}

/// Scalar operations and branches have no hazards with vector registers.
bool WaveChecks::checkHazards(Wave &wave, const Inst &inst) {
  if (!checkScalarHazard(wave, inst))
    return false;
  if (!isVectorAlu(inst) && !isMemory(inst) &&
      inst.op->opClass != OpClass::Mfma)
    return true;
  for (unsigned i = 0; i < 4; ++i)
    if (inst.src[i].isVector() && !checkSourceHazard(wave, inst, i))
      return false;
  return checkDestinationHazard(wave, inst);
}

/// Notes what this instruction writes, for the questions of later ones.
void WaveChecks::stampWrites(const Inst &inst) {
  const OpInfo &op = *inst.op;
  WriteStamp stamp;
  stamp.time = now;
  stamp.op = &op;
  // `size` of a matrix operation is its passes.
  // How long the pipeline is busy decides most of the distances.
  stamp.passes = op.size;
  stamp.first = inst.dst.reg;
  stamp.count = inst.dst.count;
  bool isMatrix = op.opClass == OpClass::Mfma;
  if (isMatrix)
    stamp.kind = op.types[0] == ValueType::F64 ? WriteStamp::Dgemm
                 : op.matrixXdl                ? WriteStamp::Xdl
                                               : WriteStamp::Sgemm;
  else if (op.opClass == OpClass::Trans)
    stamp.kind = WriteStamp::Trans;
  else if (op.opClass == OpClass::Valu)
    stamp.kind = op.isDot                                 ? WriteStamp::Dot
                 : inst.sdwa && inst.dstSel != Sel::Dword ? WriteStamp::Partial
                 : inst.hasFlag(kD16) && inst.opSel & 0xc ? WriteStamp::Partial
                                                          : WriteStamp::Valu;
  if (inst.dst.isVector())
    std::fill_n(stamps + inst.dst.reg, inst.dst.count, stamp);
  if (isMatrix && op.matrixXdl && inst.src[2].isVector())
    for (unsigned i = 0; i < inst.src[2].count; ++i) {
      readAsC[inst.src[2].reg + i] = now;
      readAsCPasses[inst.src[2].reg + i] = op.size;
    }
  bool isFlatStore = op.opClass >= OpClass::Global &&
                     op.opClass <= OpClass::Scratch && inst.hasFlag(kStore);
  // Stores of more than two dwords read their data late. With a scalar offset
  // no distance is needed.
  if (isFlatStore && inst.src[1].count > 2 && !inst.src[3].isScalar())
    std::fill_n(wideStore + inst.src[1].reg, inst.src[1].count, now);

  // Compares and carries of the vector unit write scalar registers too.
  bool byVector = isVectorAlu(inst);
  for (const Operand *dst : {&inst.dst, &inst.sdst})
    if (dst->isScalar())
      for (unsigned reg = dst->reg; reg < dst->reg + dst->count; ++reg)
        // A write of the scalar unit is interlocked, and ends the hazard of one
        // before.
        valuWroteScalar[reg] = byVector ? now : 0;
  if (byVector && inst.hasFlag(kWritesExec))
    valuWroteExec = now;
  if (!byVector && inst.dst.isScalar() && inst.dst.reg == kM0)
    saluWroteM0 = now;
  // s_nop N fills N + 1 states.
  ++now;
  if (op.isNop)
    now += static_cast<uint32_t>(inst.src[0].value);
}
