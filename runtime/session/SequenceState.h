//===- SequenceState.h - What a model remembers of one sequence -*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_SEQUENCESTATE_H
#define GIST_RUNTIME_SESSION_SEQUENCESTATE_H

#include "runtime/session/Binding.h"

#include <memory>
#include <set>
#include <vector>

namespace gist {

/// How the state of a module is laid out, for sequences of any capacity.
class StateLayout {
public:
  /// Of the state that an entry uses. `module` must outlive the layout.
  static Status create(const Module &module, const EntrySpec &entry,
                       StateLayout &layout);
  /// Of all state.
  static Status create(const Module &module, StateLayout &layout);

  /// Bytes of the state of a sequence that can hold so many tokens.
  Status bytes(int64_t capacity, uint64_t &bytes) const;
  /// Where it is by buffer of the module, as offsets in memory whose parts
  /// begin at multiples of `alignment`, and the size of that memory.
  Status places(int64_t capacity, uint64_t alignment,
                std::vector<MemoryMap::Range> &places, uint64_t &size) const;

  /// Whether all state is rows by position: then the first n tokens of one
  /// sequence can become those of another that begins with the same.
  bool isByPosition() const { return byPosition; }
  /// Of how many tokens rows are whole pages: multiples of it begin and end
  /// between pages, in sequences that can hold a multiple of it. 0: there is no
  /// such number.
  int64_t tokensOfPages(uint64_t page) const;
  /// Whether the state of a sequence after some tokens can become that of
  /// another: what is not rows by position has the same size for all.
  bool canPack() const { return packs; }

  /// Where the tokens from `begin` to `end` are, and all that there is of state
  /// that is not by position, in an order of their own. `places` are those of
  /// a sequence that can hold `capacity` tokens, by buffer of the module.
  Status findPieces(const std::vector<MemoryMap::Range> &places,
                    int64_t capacity, int64_t begin, int64_t end,
                    std::vector<MemoryMap::Range> &pieces) const;

private:
  friend class SequenceState;
  Status initialize(const Module &source, const std::set<uint32_t> &used);
  /// Rows of a state buffer: `blocks` times as many rows of `rowBytes` as there
  /// are positions.
  struct Rows {
    uint32_t buffer = 0;
    uint64_t blocks = 1, rowBytes = 0;
    uint64_t positions = 0; ///< 0: as many as the sequence can hold
    bool isKnown = false;   ///< false: the buffer is not rows by position
  };

  const Module *module = nullptr;
  uint32_t symbolC = kNone;
  bool byPosition = true, packs = true;
  std::vector<uint32_t> buffers;
  std::vector<Rows> rows; ///< of every buffer
};

class KeptState;
class StateStore;

/// The state of one sequence: the KV cache, or a plan's rings and clusters.
class SequenceState {
public:
  ~SequenceState();
  /// All zero, as a sequence begins.
  static Status create(const StateLayout &layout, Device &device,
                       int64_t capacity,
                       std::unique_ptr<SequenceState> &result);

  /// Takes over the tokens from `begin` to `end` of another sequence. Only
  /// where the layout is by position.
  Status copyTokens(const SequenceState &from, int64_t begin, int64_t end);

  /// Copies the tokens from `begin` to `end` into memory of their own, and all
  /// that there is of state that is not by position.
  Status pack(int64_t begin, int64_t end, DeviceMemory &packed) const;
  /// What pack() takes.
  Status packedBytes(int64_t begin, int64_t end, uint64_t &bytes) const;
  /// The way back, into a state of any capacity that has room for them.
  Status unpack(int64_t begin, int64_t end, const DeviceMemory &packed);

  int64_t capacity() const { return tokens; }
  /// So many of its first tokens it shows, and none behind them.
  int64_t shownTokens() const;
  /// What it takes at most, but for what it shows of others.
  uint64_t bytes() const { return size - shownBytes; }
  /// By buffer of the module.
  const std::vector<MemoryMap::Range> &ranges() const { return places; }

private:
  friend class StateStore;
  SequenceState(const StateLayout &layout, Device &device)
      : layout(layout), device(device) {}
  Status findPieces(int64_t begin, int64_t end,
                    std::vector<MemoryMap::Range> &pieces) const {
    return layout.findPieces(places, tokens, begin, end, pieces);
  }

  const StateLayout &layout;
  Device &device;
  int64_t tokens = 0;
  uint64_t size = 0;
  /// What it shows, and where that has its pages. Before the memory, which goes
  /// first.
  std::vector<std::shared_ptr<const KeptState>> shown;
  uint64_t shownBytes = 0, mappings = 0;
  StateStore *store = nullptr; ///< null: it shows nothing
  std::vector<DeviceMemory> memory;
  std::vector<MemoryMap::Range> places;
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_SEQUENCESTATE_H
