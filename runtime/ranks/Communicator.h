//===- Communicator.h - How ranks talk to each other ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function moves bytes; sums, gathers and messages are made of it
// (Collectives.h), so that they are the same however bytes travel.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_RANKS_COMMUNICATOR_H
#define GIST_RUNTIME_RANKS_COMMUNICATOR_H

#include "runtime/ranks/WorkWatch.h"
#include "runtime/support/Bytes.h"

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

namespace gist {

/// Memory that bytes of another rank go to.
struct Window {
  uint8_t *data = nullptr;
  uint64_t size = 0;
};

/// How long a rank waits for the others.
enum class Patience {
  Bounded, ///< They do the same work: as long as CommunicatorOptions says.
  Endless, ///< Until a rank has work, or is gone.
};

struct CommunicatorOptions {
  /// After this long without a result a collective has failed. Other ranks may
  /// be loading a model, which reports no progress.
  std::chrono::milliseconds timeout = std::chrono::seconds(60);
};

/// How long work that reports progress may stand still: a job has to end within
/// five seconds after a rank hangs.
inline constexpr std::chrono::milliseconds kStandstill{3000};

/// Whether cards talk to each other without the host (CardRanks.h).
struct CardOptions {
  bool areUsed = false;     ///< Each rank has a card of its own.
  std::string library = {}; ///< path of NCCL or RCCL; empty: the usual names
};

/// One rank of several. Used by one thread at a time.
class Communicator {
public:
  explicit Communicator(const CommunicatorOptions &limits) : limits(limits) {}
  virtual ~Communicator() = default;

  virtual uint32_t rank() const = 0;
  virtual uint32_t size() const = 0;
  /// Ranks on this machine, and which of them this is.
  virtual uint32_t localRank() const { return rank(); }
  virtual uint32_t localSize() const { return size(); }

  /// Sends `to[r]` to each rank r and fills `from[r]` with what rank r sends;
  /// both have an element for every rank, and what is empty is not sent. All
  /// ranks call this together, with sizes that agree. The error names the rank
  /// that is gone, is silent or has failed.
  virtual Status exchange(std::span<const Bytes> to,
                          std::span<const Window> from,
                          Patience patience = Patience::Bounded) = 0;

  /// The known state of the other ranks, without communication: an error that
  /// names the first that is gone, is silent or has failed. Any thread may call
  /// this.
  virtual Status check() const = 0;

  /// This rank cannot go on. The others learn why, as far as they can still be
  /// reached.
  virtual void fail(const Status &why) = 0;

  const CommunicatorOptions limits;

  /// Set before the first session.
  CardOptions cards;

  /// The progress of this rank's work. Watched if ranks are processes.
  WorkWatch work;
};

} // namespace gist

#endif // GIST_RUNTIME_RANKS_COMMUNICATOR_H
