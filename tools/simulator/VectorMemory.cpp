//===- VectorMemory.cpp - Addresses of vector memory ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the operands of a lane to the host's bytes, in all address spaces. Flat
// addresses are global unless their upper half is that of an aperture.
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/VectorMemory.h"

#include "tools/simulator/BufferResource.h"
#include "tools/simulator/Format.h"

#include <algorithm>
#include <cinttypes>

using namespace gist::sim;

static const char *verbOf(Access access) {
  switch (access) {
  case Access::Load:
    return "loads";
  case Access::Store:
    return "stores";
  case Access::Atomic:
    return "updates";
  }
  return "";
}

/// Without checks nothing is entered.
bool gist::sim::noteLdsAccess(Wave &wave, LdsAccess kind, uint64_t address,
                              unsigned bytes, unsigned lane) {
  if (!wave.group->config->checks)
    return true;
  unsigned other = ~0u;
  const char *problem = wave.group->shadow.access(
      wave.index, kind, static_cast<unsigned>(address), bytes, other);
  if (!problem)
    return true;
  std::string by = other == ~0u ? "" : format(" (wave %u)", other);
  wave.fail(static_cast<int>(lane),
            format("%s %u bytes of LDS at byte %" PRIu64 ", %s%s",
                   kind == LdsAccess::Read ? "reads" : "writes", bytes, address,
                   problem, by.c_str()));
  return false;
}

/// An atomic reads and writes.
/// Flat accesses of LDS or scratch count as global here: the instruction does
/// not say.
static void count(Counters &counters, OpClass opClass, Access access,
                  unsigned bytes) {
  bool isScratch = opClass == OpClass::Scratch;
  if (access != Access::Store)
    (isScratch ? counters.scratchBytesRead : counters.globalBytesRead) += bytes;
  if (access != Access::Load)
    (isScratch ? counters.scratchBytesWritten : counters.globalBytesWritten) +=
        bytes;
}

/// A 32-bit offset where the base is in scalar registers, else a 64-bit
/// address.
static uint64_t vectorAddress(const Wave &wave, const Operand &operand,
                              unsigned lane) {
  uint64_t address = wave.vector[operand.reg][lane];
  if (operand.count > 1)
    address |= uint64_t(wave.vector[operand.reg + 1][lane]) << 32;
  return address;
}

/// Buffers have bounds of their own: what is outside reads zero and writes
/// nothing, and is not a finding.
static LaneMemory resolveBuffer(Wave &wave, const Inst &inst, unsigned lane,
                                unsigned bytes, Access access,
                                unsigned offset) {
  BufferResource resource(&wave.scalar[inst.src[2].reg]);
  if (resource.swizzled || resource.addsThreadId) {
    wave.fail(-1, "swizzled buffers are not implemented");
    return {};
  }
  uint64_t scalarOffset = wave.readScalar32(inst.src[3]);
  const Operand &vaddr = inst.src[0];
  unsigned next = vaddr.reg;
  uint64_t index = inst.idxen ? wave.vector[next++][lane] : 0;
  uint64_t inRecord = uint64_t(inst.offen ? wave.vector[next][lane] : 0) +
                      static_cast<uint32_t>(inst.imm) + offset;
  // NUM_RECORDS counts records for indexed access of a structured buffer, and
  // bytes, after the scalar offset, for everything else.
  // 64-bit sums of 32-bit numbers cannot wrap.
  bool outside = inst.idxen && resource.stride
                     ? index >= resource.records
                     : inRecord + scalarOffset + bytes > resource.records;
  if (outside)
    return {nullptr, true};
  uint64_t address =
      resource.base + scalarOffset + index * resource.stride + inRecord;
  bool isAtomic = access == Access::Atomic;
  if (!wave.checkAlignment(address, isAtomic ? bytes : std::min(bytes, 4u),
                           lane,
                           isAtomic ? Alignment::Required : Alignment::Strict))
    return {};
  return {wave.global(address, bytes, lane, verbOf(access)), false};
}

LaneMemory gist::sim::resolveLane(Wave &wave, const Inst &inst, unsigned lane,
                                  unsigned bytes, Access access,
                                  unsigned offset) {
  // What is outside of a buffer counts too.
  count(wave.group->counters, inst.op->opClass, access, bytes);
  const Operand &vaddr = inst.src[0], &saddr = inst.src[2];
  // The immediate is signed. The address wraps like the hardware's.
  uint64_t displacement = static_cast<uint64_t>(int64_t(inst.imm)) + offset;
  const char *verb = verbOf(access);
  // Wide loads need the alignment of a dword only.
  unsigned alignment = access == Access::Atomic ? bytes : std::min(bytes, 4u);

  switch (inst.op->opClass) {
  case OpClass::Buffer:
    return resolveBuffer(wave, inst, lane, bytes, access, offset);
  case OpClass::Scratch: {
    uint64_t address = displacement;
    if (vaddr.isVector())
      address += wave.vector[vaddr.reg][lane];
    if (saddr.isScalar())
      address += wave.scalar[saddr.reg];
    // Scratch addresses have 32 bits.
    address = static_cast<uint32_t>(address);
    if (!wave.checkAlignment(address, alignment, lane))
      return {};
    return {wave.privateMemory(address, bytes, lane, verb), false};
  }
  default:
    break;
  }
  // Global and flat.
  uint64_t address = vectorAddress(wave, vaddr, lane) + displacement;
  if (saddr.isScalar())
    address += wave.read64(saddr.reg);
  bool isShared = inst.op->opClass == OpClass::Flat &&
                  address >> 32 == kSharedAperture >> 32;
  bool isPrivate = inst.op->opClass == OpClass::Flat &&
                   address >> 32 == kPrivateAperture >> 32;
  bool isPlain = !isShared && !isPrivate && access != Access::Atomic;
  if (!wave.checkAlignment(address, alignment, lane,
                           isPlain ? Alignment::Strict : Alignment::Required))
    return {};
  uint64_t low = static_cast<uint32_t>(address);
  if (isShared) {
    LdsAccess kind = access == Access::Load    ? LdsAccess::Read
                     : access == Access::Store ? LdsAccess::Write
                                               : LdsAccess::Atomic;
    // Bounds first: the shadow has cells for the LDS that exists.
    uint8_t *pointer = wave.lds(low, bytes, lane, verb);
    if (!pointer || !noteLdsAccess(wave, kind, low, bytes, lane))
      return {};
    return {pointer, false};
  }
  if (isPrivate)
    return {wave.privateMemory(low, bytes, lane, verb), false};
  return {wave.global(address, bytes, lane, verb), false};
}
