//===- CardRanks.h - Sums and gathers between cards -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NCCL for NVIDIA's cards and RCCL for AMD's, which have the same functions.
// The library is found by name when it is asked for. It works in the stream of
// the device, so a call has no host between its kernels and its sums. A kernel
// of the library waits for the other cards, for ever if one is gone: a thread
// watches the ranks, and then aborts the kernels.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_RANKS_CARDRANKS_H
#define GIST_RUNTIME_RANKS_CARDRANKS_H

#include "runtime/ranks/Communicator.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace gist {

class CardRanks {
public:
  /// Joins the cards of all ranks, as `ranks.cards` says. `kind` is that of the
  /// device, "cuda" or "hip"; this rank's card must be current for the thread.
  /// NotFound, on all ranks, if one rank has no library or no card of its own;
  /// data then goes through the host.
  static Status open(const std::string &kind, Communicator &ranks,
                     std::unique_ptr<CardRanks> &result);
  ~CardRanks();

  /// f32 sums of `count` numbers at these addresses, in this stream. Every
  /// number is summed in one place and handed on, so ranks have the same bits.
  Status allReduce(uint64_t part, uint64_t sum, uint64_t count, void *stream);

  /// One row: the columns of all ranks side by side.
  Status allGather(uint64_t part, std::span<const int64_t> columns,
                   uint64_t all, void *stream);

private:
  struct Functions;
  explicit CardRanks(Communicator &ranks);
  Status load(const std::string &kind, const std::string &library);
  Status check(int code, const char *what) const;
  /// Waits for the end, or for a rank that fails.
  void watch();

  Communicator &ranks;
  std::unique_ptr<Functions> call;
  void *handle = nullptr; ///< ncclComm_t; null after a failure
  std::mutex mutex;       ///< of the handle
  std::atomic<bool> isEnding = false;
  std::thread watcher;
};

} // namespace gist

#endif // GIST_RUNTIME_RANKS_CARDRANKS_H
