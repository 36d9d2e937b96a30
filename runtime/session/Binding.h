//===- Binding.h - From symbolic commands to launches -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates a module's expressions for the current symbols and fills the
// argument slots of an entry's command list. A decode step changes one symbol,
// so only what depends on a changed symbol is done again.
//
// Devices that take numbers by address (GPUs) read them from a table in their
// memory, one word per distinct expression. Then a change of a number leaves
// the list as it is, and a recording of it valid.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_BINDING_H
#define GIST_RUNTIME_SESSION_BINDING_H

#include "runtime/device/Device.h"
#include "runtime/module/Module.h"

#include <span>
#include <vector>

namespace gist {

/// The values of a module's symbols and of the expressions over them.
class SymbolValues {
public:
  explicit SymbolValues(const ModuleSpec &spec);

  /// Sets a symbol; a value outside its bounds is an error.
  Status set(uint32_t symbol, int64_t value);
  std::span<const int64_t> values() const { return current; }

  /// The value of an expression, remembered until a symbol it reads changes.
  Status get(ExprId id, int64_t &value);
  /// The same for sizes and offsets, which cannot be negative.
  Status getSize(ExprId id, const char *what, uint64_t &value);
  /// Symbols that the expression reads; none for kNone.
  uint64_t dependencies(ExprId id) const { return id == kNone ? 0 : masks[id]; }

private:
  const ModuleSpec &spec;
  std::vector<int64_t> current; ///< per symbol
  std::vector<uint64_t> masks;  ///< per expression
  std::vector<int64_t> cached;
  std::vector<bool> valid;
};

/// Where the memory of a session is. What lies in the arena is found on demand,
/// because it depends on symbols (EntryBinding::locate).
struct MemoryMap {
  struct Range {
    DeviceAddress address = 0;
    uint64_t size = 0;
  };
  std::vector<Range> buffers; ///< of every kind but Arena
  Range arena;
  /// Changes whenever an address does.
  uint64_t generation = 0;
};

/// The grid of a command for the current symbols.
Status bindGrid(const CommandSpec &command, SymbolValues &symbols,
                std::array<uint32_t, 3> &grid);

/// An entry with its command list, bound to the symbols of the last call.
/// Holds pointers into the module and addresses of the session's memory.
class EntryBinding {
public:
  EntryBinding(const Module &module, const EntrySpec &entry,
               const DeviceCode &code);

  const EntrySpec &entry() const { return *spec; }
  const CommandList &list() const { return commands; }

  /// Makes scalar arguments words of a table on the device, for devices that
  /// want them so.
  Status useNumberTable(Device &device);

  /// Makes the list right for the current symbols and memory.
  Status bind(SymbolValues &symbols, const MemoryMap &memory);

  /// Where the recording of the list as it is bound now is, or belongs; null:
  /// the list was not bound like this before. One that comes again is worth
  /// recording.
  std::unique_ptr<Recording> *findRecording();

  /// Runs the list as it is bound, recorded where it has come before.
  Status submit(Device &device);

  /// Brings the table of numbers on the device up to date, before the list
  /// runs.
  Status uploadNumbers(Device &device);

  /// Where a buffer is for the current symbols; checked against the arena.
  Status locate(uint32_t buffer, SymbolValues &symbols, const MemoryMap &memory,
                MemoryMap::Range &range) const;

private:
  /// A list by what it launches. Tokens before a call change numbers alone, but
  /// where a block of a plan ends, commands are launched that else are not.
  struct Recorded {
    std::vector<int64_t> values;          ///< of `changing`
    std::unique_ptr<Recording> recording; ///< null: seen once
  };
  /// Values of scalar arguments on a device that takes them by address.
  struct NumberTable {
    std::vector<ExprId> exprs; ///< distinct
    std::vector<int64_t> values;
    DeviceMemory memory;
    bool isStale = false; ///< `memory` does not have `values`

    DeviceAddress addressOf(ExprId expr) const;
  };

  /// Expressions that say what a command launches: its grid, and where its
  /// buffers are. Some are kNone.
  std::vector<ExprId> launchExprs(const CommandSpec &command) const;
  /// Sets `masks` and `changing`.
  void findDependencies(const SymbolValues &symbols);
  Status bindLaunches(SymbolValues &symbols);
  Status bindCommand(size_t number, SymbolValues &symbols,
                     const MemoryMap &memory);
  Status bindNumbers(SymbolValues &symbols);

  const Module *module;
  const EntrySpec *spec;
  CommandList commands;
  std::unique_ptr<NumberTable> numbers; ///< null: numbers are arguments
  std::vector<uint64_t> masks;  ///< symbols each command depends on; empty: not
                                ///< worked out yet
  std::vector<ExprId> changing; ///< of launchExprs(), those with a symbol
  std::vector<int64_t> launched;    ///< their values at the last bind
  std::vector<int64_t> boundValues; ///< symbols of the last bind; empty: none
  uint64_t boundGeneration = 0;
  std::vector<Recorded> recordings; ///< the last used first
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_BINDING_H
