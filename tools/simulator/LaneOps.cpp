//===- LaneOps.cpp - Operations across lanes and register files -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations that move data between lanes and the scalar registers, and between
// the two halves of the vector register file.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Valu.h"

using namespace gist::sim;

/// The scalar result is the same for all lanes, whatever exec is.
static void runReadFirstLane(Wave &wave, const Inst &inst) {
  const Operand &source = inst.src[0];
  if (!source.isVector())
    return wave.writeScalar(inst.dst, wave.readScalar32(source));
  // Without any active lane, lane 0.
  uint64_t exec = wave.exec();
  unsigned lane = exec ? static_cast<unsigned>(__builtin_ctzll(exec)) : 0;
  wave.writeScalar(inst.dst, wave.vector[source.reg][lane]);
}

/// Reads the lane whether exec hides it or not.
static void runReadLane(Wave &wave, const Inst &inst) {
  unsigned lane = wave.readScalar32(inst.src[1]) & 63;
  const Operand &source = inst.src[0];
  wave.writeScalar(inst.dst, source.isVector() ? wave.vector[source.reg][lane]
                                               : wave.readScalar32(source));
}

/// Writes the lane whether exec hides it or not; the others stay.
static void runWriteLane(Wave &wave, const Inst &inst) {
  unsigned lane = wave.readScalar32(inst.src[1]) & 63;
  wave.vector[inst.dst.reg][lane] = wave.readScalar32(inst.src[0]);
}

/// Counts the bits of a mask below this lane, in its low or high half.
/// Both halves in a row give each lane the number of set lanes below it.
template <bool High> static void runMaskedCount(Wave &wave, const Inst &inst) {
  uint32_t bufferA[kLanes], bufferB[kLanes], results[kLanes];
  const uint32_t *masks = fetch<U32>(wave, inst, 0, nullptr, bufferA);
  const uint32_t *base = fetch<U32>(wave, inst, 1, nullptr, bufferB);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    // All bits below the lane's own.
    uint64_t below = (uint64_t(1) << lane) - 1;
    uint32_t half = static_cast<uint32_t>(High ? below >> 32 : below);
    results[lane] = base[lane] + static_cast<uint32_t>(
                                     __builtin_popcount(masks[lane] & half));
  }
  store<U32>(wave, inst, results, wave.exec());
}

/// v_accvgpr_*: the register names already say which half they are in.
static void runMove(Wave &wave, const Inst &inst) {
  uint32_t buffer[kLanes];
  const uint32_t *row = fetch<U32>(wave, inst, 0, nullptr, buffer);
  // The row may be that of the destination.
  uint32_t copy[kLanes];
  std::memcpy(copy, row, sizeof(copy));
  writeRow(wave, inst.dst.reg, copy, wave.exec());
}

OpTable gist::sim::laneOps() {
  static const OpInfo kOps[] = {
      {"v_readfirstlane_b32", runReadFirstLane, OpClass::Valu, 1, kLane, {}, 0},
      {"v_readlane_b32", runReadLane, OpClass::Valu, 1, kLane, {}, 0},
      {"v_writelane_b32",
       runWriteLane,
       OpClass::Valu,
       1,
       kLane | kReadsDst,
       {},
       0},
      {"v_mbcnt_lo_u32_b32", runMaskedCount<false>, OpClass::Valu, 1, 0, {}, 0},
      {"v_mbcnt_hi_u32_b32", runMaskedCount<true>, OpClass::Valu, 1, 0, {}, 0},
      {"v_accvgpr_read_b32", runMove, OpClass::Valu, 1, 0, {}, 0},
      {"v_accvgpr_write_b32", runMove, OpClass::Valu, 1, 0, {}, 0},
      {"v_accvgpr_mov_b32", runMove, OpClass::Valu, 1, 0, {}, 0},
  };
  return kOps;
}
