//===- ScalarMemoryOps.cpp - Scalar loads ---------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scalar loads. They read the same memory as vector loads and are never out of
// order with stores here: there are no caches.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Wave.h"

#include "tools/simulator/BufferResource.h"

using namespace gist::sim;

/// The offset operand, a register or a constant, plus the one in offset:.
static int64_t readOffset(const Wave &wave, const Inst &inst) {
  const Operand &operand = inst.src[1];
  int64_t offset = operand.isScalar() ? int64_t(wave.scalar[operand.reg])
                                      : static_cast<int64_t>(operand.value);
  return offset + inst.imm;
}

template <unsigned Dwords> static void runLoad(Wave &wave, const Inst &inst) {
  // The two low bits of the sum are ignored.
  uint64_t address = (wave.readScalar64(inst.src[0]) +
                      static_cast<uint64_t>(readOffset(wave, inst))) &
                     ~uint64_t(3);
  // Lane 0 stands for the wave in messages.
  const uint8_t *memory = wave.global(address, 4 * Dwords, 0, "loads");
  if (!memory)
    return;
  // Registers are 32 bits in the host's order, which is little-endian as the
  // card's is.
  std::memcpy(&wave.scalar[inst.dst.reg], memory, 4 * Dwords);
  wave.group->counters.scalarBytesRead += 4 * Dwords;
}

/// Each dword is bounded by itself; what is beyond the buffer reads zero.
template <unsigned Dwords>
static void runBufferLoad(Wave &wave, const Inst &inst) {
  BufferResource resource(&wave.scalar[inst.src[0].reg]);
  uint64_t offset =
      static_cast<uint64_t>(readOffset(wave, inst)) & ~uint64_t(3);
  for (unsigned i = 0; i < Dwords; ++i) {
    uint64_t at = offset + 4 * i;
    uint32_t value = 0; // Beyond the buffer.
    if (at + 4 <= resource.size()) {
      const uint8_t *memory = wave.global(resource.base + at, 4, 0, "loads");
      if (!memory)
        return;
      std::memcpy(&value, memory, 4);
    }
    wave.scalar[inst.dst.reg + i] = value;
  }
  wave.group->counters.scalarBytesRead += 4 * Dwords;
}

OpTable gist::sim::scalarMemoryOps() {
  static constexpr std::array<ValueType, 4> kTypes = {
      ValueType::B64, ValueType::B32, ValueType::B32, ValueType::B32};
  auto load = [](const char *name, Handler run) {
    return OpInfo{name, run, OpClass::Smem, 1, 0, kTypes, 0};
  };
  static const OpInfo kOps[] = {
      load("s_load_dword", runLoad<1>),
      load("s_load_dwordx2", runLoad<2>),
      load("s_load_dwordx4", runLoad<4>),
      load("s_load_dwordx8", runLoad<8>),
      load("s_load_dwordx16", runLoad<16>),
      load("s_buffer_load_dword", runBufferLoad<1>),
      load("s_buffer_load_dwordx2", runBufferLoad<2>),
      load("s_buffer_load_dwordx4", runBufferLoad<4>),
      load("s_buffer_load_dwordx8", runBufferLoad<8>),
      load("s_buffer_load_dwordx16", runBufferLoad<16>),
  };
  return kOps;
}
