//===- LdsShadow.h - Which waves touched a byte of LDS ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two waves may touch the same byte of LDS between two barriers only if both
// read, or both use atomics. An access that was issued but not waited for when
// its wave reached the barrier still counts after it: the barrier waits for
// instructions, not for memory.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SIMULATOR_LDSSHADOW_H
#define GIST_TOOLS_SIMULATOR_LDSSHADOW_H

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace gist::sim {

constexpr unsigned kMaxLds = 64 * 1024;
constexpr unsigned kMaxWaves = 16;

enum class LdsAccess : uint8_t { Read, Write, Atomic };

class LdsShadow {
public:
  /// A new workgroup: nothing is written, and there were no accesses.
  void reset(unsigned bytes);

  /// Records an access; what is wrong with it, or null. On a race, `other` is
  /// the wave it races with.
  const char *access(unsigned wave, LdsAccess kind, unsigned address,
                     unsigned bytes, unsigned &other);

  /// Remembers the accesses of one instruction, `count` of them, as in flight
  /// until `sequence` of its counter is done. LDS-DMA counts with vmcnt.
  void issue(unsigned wave, bool isDma, uint32_t sequence, LdsAccess kind,
             const uint16_t *addresses, unsigned count, unsigned bytes);
  /// The wave has waited: LDS operations up to `lds`, loads up to `vmem`.
  void retire(unsigned wave, uint32_t lds, uint32_t vmem);
  /// All waves have reached the barrier.
  void barrier();

private:
  struct InFlight {
    uint32_t sequence;
    LdsAccess kind;
    bool isDma;
    uint8_t count, bytes;
    std::array<uint16_t, 64> addresses;
  };
  /// One dword. Writers and readers are kept per byte: neighbouring halves may
  /// belong to different waves.
  struct Cell {
    uint32_t writeEpoch = 0, readEpoch = 0;
    uint32_t writers = 0;   ///< Four wave numbers.
    uint64_t readers = 0;   ///< Four sets of waves.
    uint8_t writtenNow = 0; ///< Bytes written in writeEpoch.
    uint8_t writtenEver = 0;
    bool atomic = false;
    uint8_t dmaOwner = kNoWave; ///< Wave whose LDS-DMA is still in flight.
  };
  static constexpr uint8_t kNoWave = 0xff;
  const char *accessDword(unsigned wave, LdsAccess kind, Cell &cell,
                          unsigned byteMask, unsigned &other);
  void mark(unsigned wave, LdsAccess kind, Cell &cell, unsigned byteMask);

  std::vector<Cell> cells;
  /// By wave, in the order of issue.
  std::deque<InFlight> inFlight[kMaxWaves];
  /// Barriers so far, plus one: fresh cells have the epoch 0.
  uint32_t epoch = 1;
};

} // namespace gist::sim

#endif // GIST_TOOLS_SIMULATOR_LDSSHADOW_H
