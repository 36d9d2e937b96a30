//===- StateStore.h - States apart from sequences ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of tokens that several sequences begin with. Where a device can
// show pages, the rows of such tokens are in memory once, and each sequence has
// them among its own as if they were its own. Elsewhere each has a copy.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_STATESTORE_H
#define GIST_RUNTIME_SESSION_STATESTORE_H

#include "runtime/device/PageStore.h"
#include "runtime/session/SequenceState.h"

#include <memory>
#include <span>

namespace gist {

/// The state of some tokens.
class KeptState {
public:
  KeptState() = default;
  ~KeptState();
  KeptState(const KeptState &) = delete;
  KeptState &operator=(const KeptState &) = delete;

  uint64_t bytes() const { return size; }

private:
  friend class SequenceState;
  friend class StateStore;
  uint64_t size = 0;
  int64_t begin = 0, end = 0;  ///< of the tokens
  DeviceMemory packed;         ///< a copy, where nothing is shown
  StateStore *store = nullptr; ///< which has its pages; null: none
  uint64_t region = 0;         ///< of the store's pages, where they are
  bool isContinued = false;    ///< tokens behind these are in the region too
};

class StateStore {
public:
  /// Of sequences that hold `most` tokens at most, which are kept by chunks.
  /// `layout` and `device` outlive the store, and it outlives what is kept.
  Status open(const StateLayout &layout, Device &device, int64_t chunk,
              int64_t most);

  /// Whether sequences show what is kept.
  bool shares() const { return pages != nullptr; }
  /// Sequences that hold multiples of so many tokens can show it.
  int64_t capacityStep() const { return step; }
  /// Whether a sequence with room for so many tokens can show more now.
  bool canShow(int64_t capacity) const;
  /// Whether a sequence can show tokens from `begin` on: what it shows has no
  /// gaps.
  bool canShowFrom(const SequenceState &state, int64_t begin) const {
    return canShow(state.capacity()) && state.shownTokens() == begin;
  }

  /// Keeps tokens of a sequence that come behind those of `before`, which may
  /// be null. Where the sequence can, it shows them from now on: they take no
  /// more memory than they did.
  Status keep(SequenceState &from, int64_t begin, int64_t end,
              KeptState *before, std::shared_ptr<KeptState> &result);

  /// Lets a sequence have what was kept, tokens in order.
  Status take(SequenceState &to,
              std::span<const std::shared_ptr<KeptState>> kept);

private:
  friend class KeptState;
  friend class SequenceState;
  using Pieces = std::vector<MemoryMap::Range>;

  Status findPages(uint64_t region, int64_t begin, int64_t end,
                   Pieces &pieces) const;
  Status show(SequenceState &to,
              std::span<const std::shared_ptr<KeptState>> kept);
  void freeMappings(uint64_t count) { mapped -= count; }

  const StateLayout *layout = nullptr;
  Device *device = nullptr;
  std::unique_ptr<PageStore> pages; ///< null: copies
  int64_t step = 1, most = 0;
  // A region has a place for each token that a sequence can hold, so that
  // tokens that follow one another are neighbours, as they are in a sequence.
  // Only those that are kept take memory.
  Pieces places; ///< by buffer, in a region
  uint64_t regionSize = 0, nextRegion = 0;
  uint64_t piecesOfTokens = 0; ///< that follow one another
  uint64_t mapped = 0;         ///< pieces that sequences show
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_STATESTORE_H
