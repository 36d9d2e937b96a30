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
#include <vector>

namespace gist {

/// How the state of a module is laid out, for sequences of any capacity.
class StateLayout {
public:
  /// Of the state that an entry uses. `module` must outlive the layout.
  static Status create(const Module &module, const EntrySpec &entry,
                       StateLayout &layout);

  /// Bytes of the state of a sequence that can hold so many tokens.
  Status bytes(int64_t capacity, uint64_t &bytes) const;

  /// Whether all state is rows by position: then the first n tokens of one
  /// sequence can become those of another that begins with the same.
  bool isByPosition() const { return byPosition; }

private:
  friend class SequenceState;
  /// Rows of a state buffer: `blocks` times as many rows of `rowBytes` as there
  /// are positions.
  struct Rows {
    uint32_t buffer = 0;
    uint64_t blocks = 1, rowBytes = 0;
    uint64_t positions = 0; ///< 0: as many as the sequence can hold
  };

  const Module *module = nullptr;
  uint32_t symbolC = kNone;
  bool byPosition = true;
  std::vector<uint32_t> buffers;
  std::vector<Rows> rows; ///< of every buffer, when it is by position
};

/// The state of one sequence: the KV cache, or a plan's rings and clusters.
class SequenceState {
public:
  /// All zero, as a sequence begins.
  static Status create(const StateLayout &layout, Device &device,
                       int64_t capacity,
                       std::unique_ptr<SequenceState> &result);

  /// Takes over the tokens from `begin` to `end` of another sequence. Only
  /// where the layout is by position.
  Status copyTokens(const SequenceState &from, int64_t begin, int64_t end);

  int64_t capacity() const { return tokens; }
  uint64_t bytes() const { return size; }
  /// By buffer of the module.
  const std::vector<MemoryMap::Range> &ranges() const { return places; }

private:
  SequenceState(const StateLayout &layout, Device &device)
      : layout(layout), device(device) {}

  const StateLayout &layout;
  Device &device;
  int64_t tokens = 0;
  uint64_t size = 0;
  std::vector<DeviceMemory> memory;
  std::vector<MemoryMap::Range> places;
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_SEQUENCESTATE_H
