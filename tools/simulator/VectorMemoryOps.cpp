//===- VectorMemoryOps.cpp - Vector loads and stores ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads and stores of vector registers, in four address spaces. A lane that
// fails stops the wave; the lanes after it are passed over.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/VectorMemory.h"

#include <deque>
#include <string>
#include <vector>

using namespace gist::sim;

namespace {
/// What a load does with its bytes, or a store takes them from.
enum class Form { Plain, Signed, D16, D16Signed, D16High, D16HighSigned };
} // namespace

static constexpr bool isSigned(Form form) {
  return form == Form::Signed || form == Form::D16Signed ||
         form == Form::D16HighSigned;
}

/// Widens what was loaded.
template <unsigned Bytes, Form F> static uint32_t extend(uint32_t value) {
  if constexpr (Bytes == 1 && isSigned(F))
    return static_cast<uint32_t>(int32_t(int8_t(value)));
  if constexpr (Bytes == 2 && isSigned(F))
    return static_cast<uint32_t>(int32_t(int16_t(value)));
  return value;
}

/// The load into LDS: memory to LDS at M0 + offset + 4 * lane, no register.
template <unsigned Bytes, Form F>
static void runLoadToLds(Wave &wave, const Inst &inst) {
  // The hardware takes 16 bits of M0. In this form the immediate counts for
  // memory and for LDS.
  uint32_t base = (wave.scalar[kM0] & 0xffff) + static_cast<uint32_t>(inst.imm);
  uint16_t addresses[kLanes];
  unsigned count = 0;
  forEachLane(wave.exec(), [&](unsigned lane) {
    if (wave.state == WaveState::Failed)
      return;
    LaneMemory memory = resolveLane(wave, inst, lane, Bytes, Access::Load);
    if (!memory.pointer && !memory.outOfBuffer)
      return;
    uint32_t value = 0, address = base + 4 * lane;
    if (memory.pointer)
      std::memcpy(&value, memory.pointer, Bytes);
    value = extend<Bytes, F>(value);
    uint8_t *target = wave.lds(address, 4, lane, "loads into LDS");
    // The access is entered when it is issued. shadow.issue() below keeps it
    // open until the wave waits.
    if (!target || !wave.checkAlignment(address, 4, lane) ||
        !noteLdsAccess(wave, LdsAccess::Write, address, 4, lane))
      return;
    std::memcpy(target, &value, 4);
    // Checked above: it lies within 64 KiB.
    addresses[count++] = static_cast<uint16_t>(address);
    wave.group->counters.ldsBytesWritten += 4;
  });
  // The value is in LDS already. The shadow makes others wait for it, as the
  // card would.
  if (wave.group->config->checks && wave.state != WaveState::Failed)
    // checks.after() will number this load; it is the next one.
    wave.group->shadow.issue(
        wave.index, /*isDma=*/true,
        wave.checks.issued[static_cast<size_t>(WaitKind::Vmem)] + 1,
        LdsAccess::Write, addresses, count, 4);
}

/// Sub-dword loads extend to a dword, or fill one half of the register (D16).
template <unsigned Bytes, Form F>
static void runLoad(Wave &wave, const Inst &inst) {
  if (inst.lds)
    return runLoadToLds<(Bytes < 4 ? Bytes : 4), F>(wave, inst);
  constexpr unsigned kDwords = Bytes < 4 ? 1 : Bytes / 4;
  // A buffer is bounded dword by dword, everything else as a whole.
  unsigned parts = inst.op->opClass == OpClass::Buffer ? kDwords : 1;
  unsigned partBytes = Bytes / parts;
  // All lanes are loaded before a register changes: the destination may hold
  // the addresses.
  uint32_t results[kLanes][kDwords] = {};
  uint64_t exec = wave.exec();
  forEachLane(exec, [&](unsigned lane) {
    for (unsigned part = 0; part < parts; ++part) {
      if (wave.state == WaveState::Failed)
        return;
      LaneMemory memory = resolveLane(wave, inst, lane, partBytes, Access::Load,
                                      part * partBytes);
      if (memory.pointer)
        std::memcpy(reinterpret_cast<uint8_t *>(results[lane]) +
                        part * partBytes,
                    memory.pointer, partBytes);
    }
  });
  if (wave.state == WaveState::Failed)
    return;
  // Zeros where a buffer load was out of range.
  forEachLane(exec, [&](unsigned lane) {
    for (unsigned i = 0; i < kDwords; ++i) {
      uint32_t &dst = wave.vector[inst.dst.reg + i][lane];
      uint32_t value = extend<Bytes, F>(results[lane][i]);
      if constexpr (F == Form::D16 || F == Form::D16Signed)
        dst = (dst & 0xffff0000) | (value & 0xffff);
      else if constexpr (F == Form::D16High || F == Form::D16HighSigned)
        dst = (dst & 0xffff) | value << 16;
      else
        dst = value;
    }
  });
}

/// A lane that is out of a buffer's range stores nothing; the others do.
template <unsigned Bytes, Form F>
static void runStore(Wave &wave, const Inst &inst) {
  constexpr unsigned kDwords = Bytes < 4 ? 1 : Bytes / 4;
  unsigned parts = inst.op->opClass == OpClass::Buffer ? kDwords : 1;
  unsigned partBytes = Bytes / parts;
  forEachLane(wave.exec(), [&](unsigned lane) {
    uint32_t data[kDwords];
    for (unsigned i = 0; i < kDwords; ++i)
      data[i] = wave.vector[inst.src[1].reg + i][lane];
    if constexpr (F == Form::D16High)
      data[0] >>= 16;
    for (unsigned part = 0; part < parts; ++part) {
      if (wave.state == WaveState::Failed)
        return;
      LaneMemory memory = resolveLane(wave, inst, lane, partBytes,
                                      Access::Store, part * partBytes);
      if (memory.pointer)
        std::memcpy(memory.pointer,
                    reinterpret_cast<const uint8_t *>(data) + part * partBytes,
                    partBytes);
    }
  });
}

namespace {
/// The same loads and stores in four address spaces.
class Table {
public:
  Table() {
    // buffer_load has the load into LDS as a modifier (inst.lds).
    addSpace("global_", OpClass::Global);
    addSpace("flat_", OpClass::Flat);
    addSpace("scratch_", OpClass::Scratch);
    addSpace("buffer_", OpClass::Buffer);
    // The global form of the load into LDS has names of its own.
    addLoadToLds("ubyte", runLoadToLds<1, Form::Plain>);
    addLoadToLds("sbyte", runLoadToLds<1, Form::Signed>);
    addLoadToLds("ushort", runLoadToLds<2, Form::Plain>);
    addLoadToLds("sshort", runLoadToLds<2, Form::Signed>);
    addLoadToLds("dword", runLoadToLds<4, Form::Plain>);
  }
  OpTable get() const { return ops; }

private:
  void add(const std::string &name, Handler run, OpClass opClass,
           uint8_t numDst, uint32_t flags, uint8_t size) {
    names.push_back(name);
    ops.push_back(
        {names.back().c_str(), run, opClass, numDst, flags, {}, size});
  }
  template <unsigned Bytes, Form F>
  void addLoad(const std::string &name, OpClass opClass) {
    bool isPartial = F != Form::Plain && F != Form::Signed;
    add(name, runLoad<Bytes, F>, opClass, 1, isPartial ? kD16 | kReadsDst : 0,
        Bytes);
  }
  template <unsigned Bytes, Form F = Form::Plain>
  void addStore(const std::string &name, OpClass opClass) {
    add(name, runStore<Bytes, F>, opClass, 0, kStore, Bytes);
  }
  void addLoadToLds(const std::string &type, Handler run) {
    add("global_load_lds_" + type, run, OpClass::Global, 0, kReadsM0, 4);
  }
  void addSpace(const std::string &space, OpClass opClass) {
    std::string load = space + "load_", store = space + "store_";
    addLoad<1, Form::Plain>(load + "ubyte", opClass);
    addLoad<1, Form::Signed>(load + "sbyte", opClass);
    addLoad<2, Form::Plain>(load + "ushort", opClass);
    addLoad<2, Form::Signed>(load + "sshort", opClass);
    addLoad<4, Form::Plain>(load + "dword", opClass);
    addLoad<8, Form::Plain>(load + "dwordx2", opClass);
    addLoad<12, Form::Plain>(load + "dwordx3", opClass);
    addLoad<16, Form::Plain>(load + "dwordx4", opClass);
    addLoad<1, Form::D16>(load + "ubyte_d16", opClass);
    addLoad<1, Form::D16High>(load + "ubyte_d16_hi", opClass);
    addLoad<1, Form::D16Signed>(load + "sbyte_d16", opClass);
    addLoad<1, Form::D16HighSigned>(load + "sbyte_d16_hi", opClass);
    addLoad<2, Form::D16>(load + "short_d16", opClass);
    addLoad<2, Form::D16High>(load + "short_d16_hi", opClass);
    addStore<1>(store + "byte", opClass);
    addStore<1, Form::D16High>(store + "byte_d16_hi", opClass);
    addStore<2>(store + "short", opClass);
    addStore<2, Form::D16High>(store + "short_d16_hi", opClass);
    addStore<4>(store + "dword", opClass);
    addStore<8>(store + "dwordx2", opClass);
    addStore<12>(store + "dwordx3", opClass);
    addStore<16>(store + "dwordx4", opClass);
  }

  std::deque<std::string> names; ///< Addresses stay valid.
  std::vector<OpInfo> ops;
};
} // namespace

OpTable gist::sim::vectorMemoryOps() {
  static const Table kTable;
  return kTable.get();
}
