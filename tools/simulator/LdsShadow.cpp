//===- LdsShadow.cpp - Which waves touched a byte of LDS ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keeps for each dword of LDS which waves wrote and read its bytes since the
// last barrier. Barriers are counted: an entry whose epoch is not the present
// one is from before a barrier and does not race. Nothing has to be cleared.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/LdsShadow.h"

#include <algorithm>

using namespace gist::sim;

/// Four bytes 0x00 or 0xff from four bits.
static uint32_t widenToBytes(unsigned byteMask) {
  // The multiplication copies the four bits to bits 0, 8, 16, 24 (and places
  // that the mask drops).
  return (((byteMask * 0x00204081u) & 0x01010101u) * 0xffu);
}

/// Four 16-bit words 0x0000 or 0xffff from four bits.
static uint64_t widenToWords(unsigned byteMask) {
  uint64_t bits = (byteMask & 1) | uint64_t(byteMask & 2) << 15 |
                  uint64_t(byteMask & 4) << 30 | uint64_t(byteMask & 8) << 45;
  return bits * 0xffff;
}

void LdsShadow::reset(unsigned bytes) {
  // LDS of a size that is not whole dwords has a last cell that is part used.
  cells.assign((bytes + 3) / 4, Cell());
  for (std::deque<InFlight> &queue : inFlight)
    queue.clear();
  epoch = 1;
}

/// Readers of one byte are a set of 16 waves; of writers only the last is kept,
/// because another one would have been a race.
void LdsShadow::mark(unsigned wave, LdsAccess kind, Cell &cell,
                     unsigned byteMask) {
  if (kind == LdsAccess::Read) {
    if (cell.readEpoch != epoch) {
      cell.readEpoch = epoch;
      cell.readers = 0;
    }
    cell.readers |= (0x0001000100010001ull << wave) & widenToWords(byteMask);
    return;
  }
  // Writers of an earlier epoch are forgotten.
  if (cell.writeEpoch != epoch) {
    cell.writeEpoch = epoch;
    cell.writtenNow = 0;
  }
  uint32_t mask = widenToBytes(byteMask);
  cell.writers = (cell.writers & ~mask) | ((wave * 0x01010101u) & mask);
  cell.writtenNow |= byteMask;
  cell.writtenEver |= byteMask;
  cell.atomic = kind == LdsAccess::Atomic;
}

/// What is wrong, or null. An access that is fine is entered.
const char *LdsShadow::accessDword(unsigned wave, LdsAccess kind, Cell &cell,
                                   unsigned byteMask, unsigned &other) {
  if (cell.dmaOwner != kNoWave) {
    other = cell.dmaOwner;
    return "while a load into LDS is still in flight (missing vmcnt wait)";
  }
  // An atomic reads too.
  if (kind != LdsAccess::Write && (cell.writtenEver & byteMask) != byteMask)
    return "which was never written";

  // Against writes of other waves since the last barrier.
  // Atomics of several waves on one word do not race.
  if (cell.writeEpoch == epoch && (cell.writtenNow & byteMask) &&
      !(kind == LdsAccess::Atomic && cell.atomic)) {
    uint32_t mask = widenToBytes(cell.writtenNow & byteMask);
    uint32_t foreign = (cell.writers ^ (wave * 0x01010101u)) & mask;
    if (foreign) {
      unsigned byte = static_cast<unsigned>(__builtin_ctz(foreign)) / 8;
      other = (cell.writers >> (8 * byte)) & 0xff;
      return "which another wave wrote since the last barrier";
    }
  }
  // A write against reads of other waves.
  if (kind != LdsAccess::Read && cell.readEpoch == epoch) {
    uint64_t foreign = cell.readers & widenToWords(byteMask) &
                       ~(0x0001000100010001ull << wave);
    if (foreign) {
      other = static_cast<unsigned>(__builtin_ctzll(foreign)) % 16;
      return "which another wave read since the last barrier";
    }
  }
  mark(wave, kind, cell, byteMask);
  return nullptr;
}

/// An access may begin anywhere and cross dwords.
const char *LdsShadow::access(unsigned wave, LdsAccess kind, unsigned address,
                              unsigned bytes, unsigned &other) {
  unsigned end = address + bytes;
  while (address < end) {
    unsigned next = std::min((address & ~3u) + 4, end);
    unsigned byteMask = ((1u << (next - address)) - 1) << (address & 3);
    if (const char *problem =
            accessDword(wave, kind, cells[address / 4], byteMask, other))
      return problem;
    address = next;
  }
  return nullptr;
}

/// `count` addresses of at most 64 lanes.
void LdsShadow::issue(unsigned wave, bool isDma, uint32_t sequence,
                      LdsAccess kind, const uint16_t *addresses, unsigned count,
                      unsigned bytes) {
  InFlight &entry = inFlight[wave].emplace_back();
  entry.sequence = sequence;
  entry.kind = kind;
  entry.isDma = isDma;
  entry.count = static_cast<uint8_t>(count);
  entry.bytes = static_cast<uint8_t>(bytes);
  std::copy_n(addresses, count, entry.addresses.begin());
  if (isDma)
    for (unsigned i = 0; i < count; ++i)
      cells[addresses[i] / 4].dmaOwner = static_cast<uint8_t>(wave);
}

/// The wave has waited for these; what they touched may be read by it and,
/// after a barrier, by all.
void LdsShadow::retire(unsigned wave, uint32_t lds, uint32_t vmem) {
  // Loads into LDS and LDS operations count apart: one may be done while an
  // older one of the other kind is not.
  std::erase_if(inFlight[wave], [&](const InFlight &entry) {
    if (entry.sequence > (entry.isDma ? vmem : lds))
      return false;
    if (entry.isDma)
      for (unsigned i = 0; i < entry.count; ++i) {
        Cell &cell = cells[entry.addresses[i] / 4];
        cell.dmaOwner = kNoWave;
        // The write may have landed as late as now.
        mark(wave, LdsAccess::Write, cell, 0xf);
      }
    return true;
  });
}

/// An access that is in flight belongs to both epochs: it may land before or
/// after the barrier. It is entered again.
void LdsShadow::barrier() {
  ++epoch;
  for (unsigned wave = 0; wave < kMaxWaves; ++wave)
    for (const InFlight &entry : inFlight[wave])
      for (unsigned i = 0; i < entry.count; ++i)
        for (unsigned byte = 0; byte < entry.bytes; byte += 4)
          mark(wave, entry.kind, cells[(entry.addresses[i] + byte) / 4],
               entry.bytes < 4
                   ? ((1u << entry.bytes) - 1) << (entry.addresses[i] & 3)
                   : 0xf);
}
