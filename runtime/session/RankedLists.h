//===- RankedLists.h - Commands between what ranks do together --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module for several ranks has commands that the runtime does itself, with
// the other ranks. They cut the list of an entry into pieces, which the device
// runs one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_RANKEDLISTS_H
#define GIST_RUNTIME_SESSION_RANKEDLISTS_H

#include "runtime/ranks/CardRanks.h"
#include "runtime/ranks/Collectives.h"
#include "runtime/session/Binding.h"
#include "runtime/support/Hash.h"

#include <map>

namespace gist {

class RankedLists {
public:
  RankedLists(const Module &module, Device &device, Communicator &ranks)
      : module(module), device(device), ranks(ranks) {}

  /// Joins the cards of the ranks, where they can talk to each other. All ranks
  /// call this together.
  Status joinCards();

  /// Has the work of this rank watched while the result lives.
  WorkWatch::Scope watch() {
    // The host cannot see the progress of cards that wait for each other.
    return {ranks.work, [this] { return device.progress(); },
            cards ? ranks.limits.timeout : kStandstill};
  }

  /// Runs a list that is bound. With `times`, says when each command ran.
  Status run(const EntryBinding &binding, SymbolValues &symbols,
             const MemoryMap &memory, std::vector<CommandTime> *times);

private:
  /// Commands from `begin` to before `end`; the one there is a collective, or
  /// the list is over.
  struct Piece {
    size_t begin = 0, end = 0;
    /// What each command waits for within the piece.
    std::vector<std::vector<uint32_t>> after;
    CommandList list; ///< as bound for the last call
  };

  std::vector<Piece> &findPieces(const EntryBinding &binding);
  Status runPiece(Piece &piece, const CommandList &bound,
                  std::vector<CommandTime> *times);
  Status runCollective(const EntryBinding &binding, const CommandSpec &command,
                       SymbolValues &symbols, const MemoryMap &memory);
  Status compute(const CollectiveSpec &what, std::span<const float> part,
                 std::span<float> result);

  const Module &module;
  Device &device;
  Communicator &ranks;
  std::unique_ptr<CardRanks> cards; ///< null: the host carries bytes
  std::map<const EntrySpec *, std::vector<Piece>> pieces;
  CollectiveScratch scratch;
  std::vector<float> sent, received; ///< of devices that the host cannot read
  uint64_t calls = 0;
  Hasher hash; ///< of what collectives gave in this call
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_RANKEDLISTS_H
