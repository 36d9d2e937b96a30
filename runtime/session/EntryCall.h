//===- EntryCall.h - What a call of an entry needs --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The symbols that a call sets, its inputs and outputs by name, and their
// memory: for a session, for a sequence that is alone, and for a batch.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_ENTRYCALL_H
#define GIST_RUNTIME_SESSION_ENTRYCALL_H

#include "runtime/session/Binding.h"
#include "runtime/session/Sampler.h"

#include <map>
#include <string_view>
#include <vector>

namespace gist {

/// The symbols of a call; kNone for one that the module does not have.
struct CallSymbols {
  CallSymbols() = default;
  explicit CallSymbols(const Module &module);

  Status setTokens(SymbolValues &values, int64_t count, int64_t before) const;
  Status setCapacity(SymbolValues &values, int64_t count) const;

  uint32_t tokens = kNone, past = kNone, capacity = kNone;
};

/// Whether an input or output of `entry` is called `name`; names in a module
/// are unique, so that the entry's may stand before it.
bool isCalled(const BufferSpec &buffer, const EntrySpec &entry,
              std::string_view name);

/// The one of `entry`'s `buffers`, its inputs or outputs, that is called
/// `name`; kNone: none is.
uint32_t findTensor(const ModuleSpec &spec, const EntrySpec &entry,
                    const std::vector<uint32_t> &buffers,
                    std::string_view name);

/// The scratch memory, inputs and outputs of calls, which entries share.
class CallMemory {
public:
  /// What is given must outlive the memory.
  CallMemory(const ModuleSpec &spec, Device &device)
      : spec(spec), device(device), buffers(spec.buffers.size()) {}

  /// Bytes that a call of `entry` needs.
  Status bytesOf(const EntrySpec &entry, SymbolValues &symbols,
                 uint64_t &bytes) const;

  /// Grows to what a call of `entry` needs, and says in `map` where that is.
  Status reserve(const EntrySpec &entry, SymbolValues &symbols, MemoryMap &map);

  /// Brings settings to an input of them, unless it holds the same.
  Status upload(const SampleSettings &settings, uint32_t buffer,
                const MemoryMap &map);
  /// Something else was written to an input, which may be one of settings.
  void forget(uint32_t buffer) { held.erase(buffer); }

  uint64_t arenaBytes() const { return arena.size(); }
  /// Of inputs and outputs.
  uint64_t tensorBytes() const;

private:
  Status ensure(uint64_t size, DeviceMemory &memory, MemoryMap &map);

  const ModuleSpec &spec;
  Device &device;
  DeviceMemory arena;
  std::vector<DeviceMemory> buffers; ///< inputs and outputs, by their numbers
  std::map<uint32_t, SampleSettings> held; ///< by inputs of settings
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_ENTRYCALL_H
