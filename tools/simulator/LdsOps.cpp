//===- LdsOps.cpp - Reads, writes and permutations of LDS -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads, writes and lane exchanges of LDS (ds_*). Atomics are in AtomicOps.cpp.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/VectorMemory.h"

#include <algorithm>
#include <bit>

using namespace gist::sim;

/// Cycles an access needs beyond the least: 32 banks of a dword serve 128 bytes
/// at a time, lanes in order; a bank serves one dword address per cycle. Which
/// lanes the hardware really groups for wide accesses is not documented.
static uint64_t conflictCycles(const uint32_t *addresses, uint64_t mask,
                               unsigned bytes) {
  // 12 bytes go like 16.
  unsigned group = std::bit_floor(std::min(32u, 128 / std::max(bytes, 4u)));
  uint64_t extra = 0;
  // Lanes are served in groups that move 128 bytes together.
  for (unsigned first = 0; first < kLanes; first += group) {
    // Dwords that each bank has been asked for. A group has at most 32.
    uint32_t seen[32][32];
    uint8_t counts[32] = {};
    unsigned worst = 1;
    for (unsigned lane = first; lane < first + group; ++lane) {
      if (!(mask >> lane & 1))
        continue;
      for (unsigned byte = 0; byte < bytes; byte += 4) {
        uint32_t dword = (addresses[lane] + byte) / 4;
        unsigned bank = dword % 32;
        // Lanes that name the same dword share one access.
        if (std::find(seen[bank], seen[bank] + counts[bank], dword) !=
            seen[bank] + counts[bank])
          continue;
        if (counts[bank] < 32)
          seen[bank][counts[bank]++] = dword;
        worst = std::max<unsigned>(worst, counts[bank]);
      }
    }
    extra += worst - 1;
  }
  return extra;
}

/// Addresses of all lanes for one part of the access.
static void laneAddresses(const Wave &wave, const Inst &inst, uint32_t offset,
                          uint32_t *addresses) {
  const uint32_t *row = wave.vector[inst.src[0].reg];
  for (unsigned lane = 0; lane < kLanes; ++lane)
    addresses[lane] = row[lane] + offset;
}

/// Checks one part of an access for all lanes and tells the shadow of it.
static bool prepare(Wave &wave, LdsAccess kind, const uint32_t *addresses,
                    unsigned bytes) {
  uint64_t exec = wave.exec();
  uint16_t compact[kLanes];
  unsigned count = 0;
  const char *verb = kind == LdsAccess::Read ? "reads" : "writes";
  forEachLane(exec, [&](unsigned lane) {
    if (wave.state == WaveState::Failed ||
        !wave.lds(addresses[lane], bytes, lane, verb) ||
        !wave.checkAlignment(addresses[lane], std::min(bytes, 4u), lane) ||
        !noteLdsAccess(wave, kind, addresses[lane], bytes, lane))
      return;
    compact[count++] = static_cast<uint16_t>(addresses[lane]);
  });
  if (wave.state == WaveState::Failed)
    return false;
  Counters &counters = wave.group->counters;
  // Counted per lane, also where lanes share an access.
  (kind == LdsAccess::Read ? counters.ldsBytesRead
                           : counters.ldsBytesWritten) += count * bytes;
  counters.ldsConflictCycles += conflictCycles(addresses, exec, bytes);
  if (wave.group->config->checks && count)
    // checks.after() will number this operation; it is the next one.
    wave.group->shadow.issue(
        wave.index, /*isDma=*/false,
        wave.checks.issued[static_cast<size_t>(WaitKind::Lds)] + 1, kind,
        compact, count, bytes);
  return true;
}

/// Parts accesses of Bytes each; with two parts, offsets count in units.
template <unsigned Bytes, unsigned Parts, unsigned Unit, bool Signed = false,
          int Half = -1>
static void runRead(Wave &wave, const Inst &inst) {
  constexpr unsigned kDwords = (Bytes + 3) / 4;
  // All parts are checked before a register changes, so that a finding leaves
  // the wave as it was.
  uint32_t addresses[Parts][kLanes];
  for (unsigned part = 0; part < Parts; ++part) {
    uint32_t offset = static_cast<uint32_t>(part ? inst.imm2 : inst.imm) * Unit;
    laneAddresses(wave, inst, offset, addresses[part]);
    if (!prepare(wave, LdsAccess::Read, addresses[part], Bytes))
      return;
  }
  const uint8_t *memory = wave.group->lds.data();
  forEachLane(wave.exec(), [&](unsigned lane) {
    for (unsigned part = 0; part < Parts; ++part) {
      uint32_t values[kDwords] = {};
      std::memcpy(values, memory + addresses[part][lane], Bytes);
      // The shift left puts the sign of the value at bit 31.
      if constexpr (Signed)
        values[0] = static_cast<uint32_t>(
            int32_t(values[0] << (32 - 8 * Bytes)) >> (32 - 8 * Bytes));
      for (unsigned i = 0; i < kDwords; ++i) {
        uint32_t &dst = wave.vector[inst.dst.reg + part * kDwords + i][lane];
        // -1 writes the whole register, 0 and 1 one half of it.
        if constexpr (Half == 0)
          dst = (dst & 0xffff0000) | (values[i] & 0xffff);
        else if constexpr (Half == 1)
          dst = (dst & 0xffff) | values[i] << 16;
        else
          dst = values[i];
      }
    }
  });
}

/// `High` takes the data from the upper half of the register.
template <unsigned Bytes, unsigned Parts, unsigned Unit, bool High = false>
static void runWrite(Wave &wave, const Inst &inst) {
  constexpr unsigned kDwords = (Bytes + 3) / 4;
  for (unsigned part = 0; part < Parts; ++part) {
    uint32_t addresses[kLanes];
    uint32_t offset = static_cast<uint32_t>(part ? inst.imm2 : inst.imm) * Unit;
    laneAddresses(wave, inst, offset, addresses);
    if (!prepare(wave, LdsAccess::Write, addresses, Bytes))
      return;
    uint8_t *memory = wave.group->lds.data();
    // write2 has a data register for each part.
    const Operand &data = inst.src[1 + part];
    forEachLane(wave.exec(), [&](unsigned lane) {
      uint32_t values[kDwords];
      for (unsigned i = 0; i < kDwords; ++i)
        values[i] = wave.vector[data.reg + i][lane] >> (High ? 16 : 0);
      std::memcpy(memory + addresses[lane], values, Bytes);
    });
  }
}

/// Pull: each lane names the lane it reads from.
static void runBackwardPermute(Wave &wave, const Inst &inst) {
  uint64_t exec = wave.exec();
  uint32_t results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    unsigned source =
        (wave.vector[inst.src[0].reg][lane] + static_cast<uint32_t>(inst.imm)) /
        4 % kLanes;
    // A lane that exec hides gives zero. Results are collected first: the
    // destination may be the source.
    results[lane] =
        exec >> source & 1 ? wave.vector[inst.src[1].reg][source] : 0;
  }
  forEachLane(exec, [&](unsigned lane) {
    wave.vector[inst.dst.reg][lane] = results[lane];
  });
}

/// Push: each lane names the lane it writes to; the highest lane wins.
static void runPermute(Wave &wave, const Inst &inst) {
  uint64_t exec = wave.exec();
  uint32_t results[kLanes] = {};
  forEachLane(exec, [&](unsigned lane) {
    unsigned target =
        (wave.vector[inst.src[0].reg][lane] + static_cast<uint32_t>(inst.imm)) /
        4 % kLanes;
    results[target] = wave.vector[inst.src[1].reg][lane];
  });
  // A lane that no lane wrote to gets zero.
  forEachLane(exec, [&](unsigned lane) {
    wave.vector[inst.dst.reg][lane] = results[lane];
  });
}

static void runSwizzle(Wave &wave, const Inst &inst) {
  uint32_t control = static_cast<uint32_t>(inst.imm);
  // Offsets from 0xc000 rotate, those from 0xe000 permute as in an FFT.
  if (control >= 0xc000)
    return wave.fail(-1, "this swizzle mode is not implemented");
  uint64_t exec = wave.exec();
  uint32_t results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    unsigned source;
    // Quad permutation: two bits for each lane of four.
    if (control & 0x8000) {
      source = (lane & ~3u) | (control >> (2 * (lane & 3)) & 3);
    } else {
      unsigned andMask = control & 31, orMask = control >> 5 & 31,
               xorMask = control >> 10 & 31;
      source = (lane & 32) | ((((lane & 31) & andMask) | orMask) ^ xorMask);
    }
    results[lane] =
        exec >> source & 1 ? wave.vector[inst.src[0].reg][source] : 0;
  }
  forEachLane(exec, [&](unsigned lane) {
    wave.vector[inst.dst.reg][lane] = results[lane];
  });
}

OpTable gist::sim::ldsOps() {
  auto read = [](const char *name, Handler run, uint32_t flags = 0) {
    return OpInfo{name, run, OpClass::Lds, 1, flags, {}, 0};
  };
  auto write = [](const char *name, Handler run) {
    return OpInfo{name, run, OpClass::Lds, 0, kStore, {}, 0};
  };
  constexpr uint32_t kHalf = kD16 | kReadsDst;
  static const OpInfo kOps[] = {
      read("ds_read_u8", runRead<1, 1, 1>),
      read("ds_read_i8", runRead<1, 1, 1, true>),
      read("ds_read_u16", runRead<2, 1, 1>),
      read("ds_read_i16", runRead<2, 1, 1, true>),
      read("ds_read_b32", runRead<4, 1, 1>),
      read("ds_read_b64", runRead<8, 1, 1>),
      read("ds_read_b96", runRead<12, 1, 1>),
      read("ds_read_b128", runRead<16, 1, 1>),
      read("ds_read_u8_d16", runRead<1, 1, 1, false, 0>, kHalf),
      read("ds_read_u8_d16_hi", runRead<1, 1, 1, false, 1>, kHalf),
      read("ds_read_i8_d16", runRead<1, 1, 1, true, 0>, kHalf),
      read("ds_read_i8_d16_hi", runRead<1, 1, 1, true, 1>, kHalf),
      read("ds_read_u16_d16", runRead<2, 1, 1, false, 0>, kHalf),
      read("ds_read_u16_d16_hi", runRead<2, 1, 1, false, 1>, kHalf),
      read("ds_read2_b32", runRead<4, 2, 4>),
      read("ds_read2_b64", runRead<8, 2, 8>),
      read("ds_read2st64_b32", runRead<4, 2, 256>),
      read("ds_read2st64_b64", runRead<8, 2, 512>),
      write("ds_write_b8", runWrite<1, 1, 1>),
      write("ds_write_b16", runWrite<2, 1, 1>),
      write("ds_write_b32", runWrite<4, 1, 1>),
      write("ds_write_b64", runWrite<8, 1, 1>),
      write("ds_write_b96", runWrite<12, 1, 1>),
      write("ds_write_b128", runWrite<16, 1, 1>),
      write("ds_write_b8_d16_hi", runWrite<1, 1, 1, true>),
      write("ds_write_b16_d16_hi", runWrite<2, 1, 1, true>),
      write("ds_write2_b32", runWrite<4, 2, 4>),
      write("ds_write2_b64", runWrite<8, 2, 8>),
      write("ds_write2st64_b32", runWrite<4, 2, 256>),
      write("ds_write2st64_b64", runWrite<8, 2, 512>),
      read("ds_bpermute_b32", runBackwardPermute, kLane),
      read("ds_permute_b32", runPermute, kLane),
      read("ds_swizzle_b32", runSwizzle, kLane),
  };
  return kOps;
}
