//===- Wave.cpp - The state of a wave and of its workgroup ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/simulator/Wave.h"

#include "tools/simulator/Format.h"

#include <cinttypes>

using namespace gist::sim;

/// Refuses what operations do not implement, instead of computing with another
/// mode.
void Wave::setMode(uint32_t value) {
  // FP_ROUND is bits 3:0, FP_DENORM bits 7:4, f32 in the lower half of each.
  if (value & 0xf)
    return fail(-1, "a rounding mode other than nearest-even is not "
                    "implemented");
  if ((value >> 6 & 3) != 3)
    return fail(-1, "flushing of f16 and f64 denormals is not implemented");
  mode = value;
  flushInput = !(value >> 4 & 1);
  flushOutput = !(value >> 5 & 1);
}

void Wave::fail(int lane, const std::string &what) {
  if (state == WaveState::Failed)
    return; // The first finding is the cause of the others.
  state = WaveState::Failed;
  const Kernel &kernel = *group->kernel;
  std::string where = format("kernel '%s', workgroup (%u, %u, %u), wave %u",
                             kernel.name.c_str(), group->id[0], group->id[1],
                             group->id[2], index);
  if (lane >= 0)
    where += format(", lane %d", lane);
  if (current) {
    const Program &program = *kernel.program;
    size_t number = static_cast<size_t>(current - program.instructions.data());
    // The offset counts from the kernel's entry, as disassemblers print it.
    where += format(", at +0x%" PRIx64 " '%s'",
                    program.base + current->offset - kernel.entry,
                    program.texts[number].c_str());
  }
  // The workgroup stops at the next look at it (runWorkgroup).
  group->error = where + ": " + what;
}

bool Wave::findAllocation(uint64_t address, unsigned bytes, unsigned lane,
                          const char *verb) {
  if (const Allocation *found = group->memory->find(address, bytes)) {
    // A copy: the map does not change during a launch, but the next launch may
    // have another.
    group->lastAllocation = *found;
    return true;
  }
  fail(static_cast<int>(lane),
       format("%s %u bytes out of bounds at 0x%" PRIx64 ": %s", verb, bytes,
              address, group->memory->describe(address).c_str()));
  return false;
}

/// The comparisons are written so that nothing wraps.
uint8_t *Wave::lds(uint64_t address, unsigned bytes, unsigned lane,
                   const char *verb) {
  size_t size = group->lds.size();
  if (address > size || bytes > size - address) {
    fail(static_cast<int>(lane),
         format("%s %u bytes out of bounds at byte %" PRIu64
                " of %zu bytes of LDS",
                verb, bytes, address, size));
    return nullptr;
  }
  return group->lds.data() + address;
}

uint8_t *Wave::privateMemory(uint64_t address, unsigned bytes, unsigned lane,
                             const char *verb) {
  if (address > scratchPerLane || bytes > scratchPerLane - address) {
    fail(static_cast<int>(lane),
         format("%s %u bytes out of bounds at byte %" PRIu64
                " of %u bytes of scratch",
                verb, bytes, address, scratchPerLane));
    return nullptr;
  }
  return scratch.data() + uint64_t(lane) * scratchPerLane + address;
}

void Wave::failAlignment(uint64_t address, unsigned alignment, unsigned lane) {
  fail(static_cast<int>(lane),
       format("misaligned: address 0x%" PRIx64 " is not a multiple of %u",
              address, alignment));
}
