//===- LoneSequence.h - One sequence of a pool by itself --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the entry `decode` on the state of one sequence, as a session does:
// kernels for one row, in a recorded graph, that draw the next token too. They
// add in another order than kernels of many rows.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_LONESEQUENCE_H
#define GIST_RUNTIME_SESSION_LONESEQUENCE_H

#include "runtime/session/EntryCall.h"
#include "runtime/session/SequenceState.h"

#include <memory>
#include <vector>

namespace gist {

class LoneSequence {
public:
  /// Null where the module has no such entry for `target`, or one that does not
  /// draw. `weights` holds their addresses; all arguments must outlive the
  /// result. Reserves all its memory, for states of up to `capacity` tokens.
  static Status create(const Module &module, uint32_t target, Device &device,
                       const DeviceCode &code, const MemoryMap &weights,
                       int64_t capacity, std::unique_ptr<LoneSequence> &result);

  /// Adds `token` behind the `before` that `state` has, and draws the next;
  /// negative: none could be chosen.
  Status next(int32_t token, int64_t before, const SequenceState &state,
              const SampleSettings &settings, int32_t &drawn);

private:
  LoneSequence(const Module &module, const EntrySpec &entry, Device &device,
               const DeviceCode &code, const MemoryMap &weights)
      : module(module), device(device), symbols(module.spec()),
        callSymbols(module), memory(module.spec(), device), map(weights),
        binding(module, entry, code) {}
  Status initialize(int64_t capacity, bool &isUsable);
  /// Makes the memory and the symbols those of one token behind `before`.
  Status prepare(int64_t before, int64_t capacity);

  const Module &module;
  Device &device;
  SymbolValues symbols;
  CallSymbols callSymbols;
  CallMemory memory;
  MemoryMap map;
  EntryBinding binding; ///< after the memory: recordings have its addresses
  uint32_t tokenBuffer = kNone, settingsBuffer = kNone, nextBuffer = kNone;
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_LONESEQUENCE_H
