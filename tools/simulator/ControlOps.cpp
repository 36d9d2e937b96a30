//===- ControlOps.cpp - Branches, waits, barriers, modes ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Branches, calls, barriers, waits and the mode register. What only concerns
// caches, priority or sleep does nothing here.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Wave.h"

using namespace gist::sim;

/// wave.pc is an index of instructions; targets of computed jumps are addresses
/// and may point anywhere.
static void jump(Wave &wave, uint32_t target) {
  if (target == Program::kNoInstruction)
    return wave.fail(-1, "jumps to where no instruction starts");
  wave.pc = target;
}

/// `target` is the index of an instruction; the decoder has resolved it.
template <typename Condition>
static constexpr OpInfo branchIf(const char *name, Condition,
                                 uint32_t flags = 0) {
  // Conditions have no state, so that the handler can make one anew and be a
  // plain function.
  Handler run = [](Wave &wave, const Inst &inst) {
    if (Condition{}(wave))
      jump(wave, inst.target);
  };
  return {name, run, OpClass::Branch, 0, flags, {}, 0};
}

/// The address behind this instruction, which calls return to.
static uint64_t nextAddress(const Wave &wave, const Inst &inst) {
  return wave.group->kernel->program->base + inst.offset + inst.size;
}

static void runGetPc(Wave &wave, const Inst &inst) {
  wave.writeScalar(inst.dst, nextAddress(wave, inst));
}
static void runSetPc(Wave &wave, const Inst &inst) {
  jump(wave,
       wave.group->kernel->program->indexAt(wave.readScalar64(inst.src[0])));
}
static void runSwapPc(Wave &wave, const Inst &inst) {
  // Read before the write: both may be the same pair.
  uint64_t target = wave.readScalar64(inst.src[0]);
  wave.writeScalar(inst.dst, nextAddress(wave, inst));
  jump(wave, wave.group->kernel->program->indexAt(target));
}
static void runCall(Wave &wave, const Inst &inst) {
  wave.writeScalar(inst.dst, nextAddress(wave, inst));
  jump(wave, inst.target);
}

static void runEnd(Wave &wave, const Inst &) { wave.state = WaveState::Ended; }
/// The wave stops here. runWorkgroup lets it go on when all have come.
static void runBarrier(Wave &wave, const Inst &) {
  wave.state = WaveState::AtBarrier;
}
static void runTrap(Wave &wave, const Inst &) {
  wave.fail(-1, "the kernel trapped (an assertion or __builtin_trap)");
}
static void runNothing(Wave &, const Inst &) {}

/// Loads are done at once, so a wait has nothing to wait for. It only tells the
/// checks what may be used from here on.
static void runWait(Wave &wave, const Inst &inst) {
  if (!wave.group->config->checks)
    return;
  wave.checks.wait(inst);
  wave.group->shadow.retire(
      wave.index, wave.checks.done[static_cast<size_t>(WaitKind::Lds)],
      wave.checks.done[static_cast<size_t>(WaitKind::Vmem)]);
}

/// Only MODE can be named; the decoder refuses every other register. imm is
/// the first bit, imm2 the width.
static uint32_t fieldMask(const Inst &inst) {
  return inst.imm2 == 32 ? ~0u : (1u << inst.imm2) - 1;
}
/// s_getreg_b32: some bits of MODE, moved down.
static void runGetReg(Wave &wave, const Inst &inst) {
  wave.writeScalar(inst.dst, wave.mode >> inst.imm & fieldMask(inst));
}
static void runSetReg(Wave &wave, const Inst &inst) {
  uint32_t mask = fieldMask(inst);
  uint32_t value = wave.readScalar32(inst.src[0]) & mask;
  wave.setMode((wave.mode & ~(mask << inst.imm)) | value << inst.imm);
}

/// Time is counted in instructions, so that runs repeat.
static void runTime(Wave &wave, const Inst &inst) {
  wave.writeScalar(inst.dst, wave.executed);
}

OpTable gist::sim::controlOps() {
  // Addresses of code are 64 bits wide.
  static constexpr std::array<ValueType, 4> kWide = {ValueType::B64};
  static const OpInfo kOps[] = {
      branchIf("s_branch", [](const Wave &) { return true; }),
      branchIf(
          "s_cbranch_scc0", [](const Wave &wave) { return !wave.scc(); },
          kReadsScc),
      branchIf(
          "s_cbranch_scc1", [](const Wave &wave) { return wave.scc(); },
          kReadsScc),
      branchIf(
          "s_cbranch_vccz", [](const Wave &wave) { return wave.vcc() == 0; },
          kReadsVcc),
      branchIf(
          "s_cbranch_vccnz", [](const Wave &wave) { return wave.vcc() != 0; },
          kReadsVcc),
      branchIf("s_cbranch_execz",
               [](const Wave &wave) { return wave.exec() == 0; }),
      branchIf("s_cbranch_execnz",
               [](const Wave &wave) { return wave.exec() != 0; }),
      {"s_getpc_b64", runGetPc, OpClass::Salu, 1, 0, kWide, 0},
      {"s_setpc_b64", runSetPc, OpClass::Branch, 0, 0, kWide, 0},
      {"s_swappc_b64", runSwapPc, OpClass::Branch, 1, 0, kWide, 0},
      {"s_call_b64", runCall, OpClass::Branch, 1, 0, {}, 0},
      {"s_endpgm", runEnd, OpClass::Wait, 0, 0, {}, 0},
      {"s_barrier", runBarrier, OpClass::Barrier, 0, 0, {}, 0},
      {"s_trap", runTrap, OpClass::Wait, 0, 0, {}, 0},
      {"s_waitcnt", runWait, OpClass::Wait, 0, 0, {}, 0},
      {.name = "s_nop",
       .run = runNothing,
       .opClass = OpClass::Wait,
       .numDst = 0,
       .isNop = true},
      {"s_sleep", runNothing, OpClass::Wait, 0, 0, {}, 0},
      {"s_setprio", runNothing, OpClass::Wait, 0, 0, {}, 0},
      {"s_sethalt", runNothing, OpClass::Wait, 0, 0, {}, 0},
      {"s_icache_inv", runNothing, OpClass::Wait, 0, 0, {}, 0},
      {"s_dcache_inv", runNothing, OpClass::Wait, 0, 0, {}, 0},
      {"s_dcache_wb", runNothing, OpClass::Wait, 0, 0, {}, 0},
      {"s_dcache_inv_vol", runNothing, OpClass::Wait, 0, 0, {}, 0},
      {"s_dcache_wb_vol", runNothing, OpClass::Wait, 0, 0, {}, 0},
      {"buffer_wbl2", runNothing, OpClass::Wait, 0, 0, {}, 0},
      {"buffer_inv", runNothing, OpClass::Wait, 0, 0, {}, 0},
      {"s_getreg_b32", runGetReg, OpClass::Salu, 1, 0, {}, 0},
      {"s_setreg_b32", runSetReg, OpClass::Salu, 0, 0, {}, 0},
      {"s_setreg_imm32_b32", runSetReg, OpClass::Salu, 0, 0, {}, 0},
      {"s_memtime", runTime, OpClass::Smem, 1, 0, {}, 0},
      {"s_memrealtime", runTime, OpClass::Smem, 1, 0, {}, 0},
  };
  return kOps;
}
