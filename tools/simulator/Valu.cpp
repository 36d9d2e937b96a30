//===- Valu.cpp - DPP and SDWA --------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lane permutations (DPP) and sub-dword accesses (SDWA) of vector operations.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Valu.h"

using namespace gist::sim;

/// The lane that `lane` reads, or -1 if that does not exist. As the CDNA3
/// manual defines each DPP control.
static int dppSource(const Inst &inst, int lane) {
  // A row is 16 lanes.
  int row = lane & ~15, column = lane & 15, amount = inst.dppArg;
  switch (inst.dpp) {
  case Dpp::None:
    return lane;
  case Dpp::QuadPerm:
    return (lane & ~3) | (amount >> (2 * (lane & 3)) & 3);
  case Dpp::RowShl:
    return column + amount < 16 ? lane + amount : -1;
  case Dpp::RowShr:
    return column >= amount ? lane - amount : -1;
  case Dpp::RowRor:
    return row | ((column - amount) & 15);
  case Dpp::WaveShl:
    return lane < 63 ? lane + 1 : -1;
  case Dpp::WaveRol:
    return (lane + 1) & 63;
  case Dpp::WaveShr:
    return lane > 0 ? lane - 1 : -1;
  case Dpp::WaveRor:
    return (lane - 1) & 63;
  case Dpp::RowMirror:
    return row | (15 - column);
  case Dpp::RowHalfMirror:
    return (lane & ~7) | (7 - (lane & 7));
  case Dpp::RowBcast15:
    // Lane 15 of each row goes to the whole row after it, lane 31 to the upper
    // half of the wave.
    return row == 0 ? -1 : row - 1;
  case Dpp::RowBcast31:
    return lane < 32 ? -1 : 31;
  case Dpp::RowNewBcast:
    return row | amount;
  }
  return -1;
}

DppMap gist::sim::makeDppMap(const Inst &inst, uint64_t exec) {
  DppMap map;
  map.written = exec;
  for (int lane = 0; lane < int(kLanes); ++lane) {
    uint64_t bit = uint64_t(1) << lane;
    int source = dppSource(inst, lane);
    // A lane that is switched off does not exist as a source.
    bool exists = source >= 0 && exec >> source & 1;
    // An index in range, so that nothing is read out of bounds; `invalid` makes
    // the value zero.
    map.source[lane] = static_cast<uint8_t>(exists ? source : lane);
    if (!exists) {
      map.invalid |= bit;
      if (!inst.boundCtrl)
        map.written &= ~bit;
    }
    if (!(inst.rowMask >> (lane / 16) & 1) ||
        !(inst.bankMask >> (lane % 16 / 4) & 1))
      map.written &= ~bit;
  }
  return map;
}

// A part always lands at bit 0 of what the operation reads.
uint32_t gist::sim::selectSdwa(uint32_t value, Sel sel, bool sext) {
  switch (sel) {
  case Sel::Dword:
    return value;
  case Sel::Word0:
  case Sel::Word1: {
    uint16_t word =
        static_cast<uint16_t>(sel == Sel::Word1 ? value >> 16 : value);
    return sext ? static_cast<uint32_t>(int32_t(int16_t(word))) : word;
  }
  default: {
    unsigned index =
        static_cast<unsigned>(sel) - static_cast<unsigned>(Sel::Byte0);
    uint8_t byte = static_cast<uint8_t>(value >> (8 * index));
    return sext ? static_cast<uint32_t>(int32_t(int8_t(byte))) : byte;
  }
  }
}

uint32_t gist::sim::mergeSdwa(uint32_t old, uint32_t value, const Inst &inst) {
  unsigned shift = 0, width = 32;
  switch (inst.dstSel) {
  case Sel::Dword:
    return value;
  case Sel::Word0:
  case Sel::Word1:
    width = 16;
    shift = inst.dstSel == Sel::Word1 ? 16 : 0;
    break;
  default:
    width = 8;
    shift = 8 * (static_cast<unsigned>(inst.dstSel) -
                 static_cast<unsigned>(Sel::Byte0));
    break;
  }
  // Dword returned above, so the shift is less than 32.
  uint32_t field = (uint32_t(1) << width) - 1;
  uint32_t placed = (value & field) << shift;
  switch (inst.dstUnused) {
  case Unused::Pad:
    return placed;
  case Unused::Preserve:
    return (old & ~(field << shift)) | placed;
  case Unused::Sext: {
    bool negative = value >> (width - 1) & 1;
    uint32_t above = shift + width < 32 ? ~uint32_t(0) << (shift + width) : 0;
    return placed | (negative ? above : 0);
  }
  }
  return placed;
}
