//===- Wave.h - The state of a wave and of its workgroup --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A wave is 64 lanes that execute one instruction after the other, with 512
// vector and 256 scalar registers. Handlers of operations read and write its
// members directly: this is the inner loop of the simulator.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SIMULATOR_WAVE_H
#define GIST_TOOLS_SIMULATOR_WAVE_H

#include "tools/simulator/LdsShadow.h"
#include "tools/simulator/Simulator.h"
#include "tools/simulator/WaveChecks.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace gist::sim {

/// Where flat addresses leave global memory. No host address has these bits.
constexpr uint64_t kSharedAperture = 0x0001'0000'0000'0000;
constexpr uint64_t kPrivateAperture = 0x0002'0000'0000'0000;

class Wave;

/// What the waves of one workgroup share. Reused for one workgroup after the
/// other by the host thread that owns it.
struct Workgroup {
  const Kernel *kernel = nullptr;
  const MemoryMap *memory = nullptr;
  const Config *config = nullptr;
  Counters counters;
  uint32_t id[3] = {};
  std::vector<uint8_t> lds;
  LdsShadow shadow;
  std::vector<std::unique_ptr<Wave>> waves;
  std::string error;
  Allocation lastAllocation; ///< Most accesses hit the one before.
};

enum class WaveState : uint8_t { Running, AtBarrier, Ended, Failed };

class Wave {
public:
  alignas(64) uint32_t vector[kNumVector][kLanes];
  alignas(8) uint32_t scalar[kNumScalar];
  uint32_t pc = 0; ///< Index of the next instruction.
  WaveState state = WaveState::Ended;
  uint8_t index = 0;                            ///< In the workgroup.
  bool flushInput = false, flushOutput = false; ///< f32 denormals.
  /// The MODE register; setMode keeps the flags above in step.
  uint32_t mode = 0;
  /// Instructions so far; also the wave's clock.
  uint64_t executed = 0;
  /// The instruction being executed, for messages.
  const Inst *current = nullptr;
  Workgroup *group = nullptr;
  std::vector<uint8_t> scratch; ///< Lane after lane.
  uint32_t scratchPerLane = 0;
  WaveChecks checks;

  uint64_t exec() const { return read64(kExec); }
  uint64_t vcc() const { return read64(kVcc); }
  bool scc() const { return scalar[kScc]; }
  void setScc(bool value) { scalar[kScc] = value; }

  /// A pair of registers. `reg` need not be even here.
  uint64_t read64(unsigned reg) const {
    return scalar[reg] | uint64_t(scalar[reg + 1]) << 32;
  }
  void write64(unsigned reg, uint64_t value) {
    scalar[reg] = static_cast<uint32_t>(value);
    scalar[reg + 1] = static_cast<uint32_t>(value >> 32);
  }
  uint32_t readScalar32(const Operand &operand) const {
    return operand.isScalar() ? scalar[operand.reg]
                              : static_cast<uint32_t>(operand.value);
  }
  uint64_t readScalar64(const Operand &operand) const {
    return operand.isScalar() ? read64(operand.reg) : operand.value;
  }
  void writeScalar(const Operand &operand, uint64_t value) {
    scalar[operand.reg] = static_cast<uint32_t>(value);
    if (operand.count == 2)
      scalar[operand.reg + 1] = static_cast<uint32_t>(value >> 32);
  }

  void setMode(uint32_t value);

  /// Stops the wave. The sentence names kernel, workgroup, wave, instruction
  /// and, where it is not negative, the lane.
  void fail(int lane, const std::string &what);

  /// Host address of `bytes` bytes of global memory, or null after fail().
  uint8_t *global(uint64_t address, unsigned bytes, unsigned lane,
                  const char *verb) {
    // The allocation that was hit last is tried first, because the search would
    // dominate the time.
    if (!group->lastAllocation.contains(address, bytes) &&
        !findAllocation(address, bytes, lane, verb))
      return nullptr;
    return reinterpret_cast<uint8_t *>(address);
  }
  /// The same for LDS; `address` is a byte offset.
  uint8_t *lds(uint64_t address, unsigned bytes, unsigned lane,
               const char *verb);
  uint8_t *privateMemory(uint64_t address, unsigned bytes, unsigned lane,
                         const char *verb);
  /// False after fail() when `address` is not a multiple of `alignment` and the
  /// level of checking is `least` or more.
  bool checkAlignment(uint64_t address, unsigned alignment, unsigned lane,
                      Alignment least = Alignment::Required) {
    if (address % alignment == 0 || group->config->alignment < least)
      return true;
    failAlignment(address, alignment, lane);
    return false;
  }

private:
  bool findAllocation(uint64_t address, unsigned bytes, unsigned lane,
                      const char *verb);
  void failAlignment(uint64_t address, unsigned alignment, unsigned lane);
};

/// Calls `visit(lane)` for the lanes set in `mask`, lowest first.
template <typename Visit> void forEachLane(uint64_t mask, Visit visit) {
  for (; mask; mask &= mask - 1)
    visit(static_cast<unsigned>(__builtin_ctzll(mask)));
}

} // namespace gist::sim

#endif // GIST_TOOLS_SIMULATOR_WAVE_H
