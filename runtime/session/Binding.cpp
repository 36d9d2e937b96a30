//===- Binding.cpp - From symbolic commands to launches -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Binding.h"
#include "runtime/support/Checked.h"

#include <algorithm>
#include <cinttypes>

using namespace gist;

//===----------------------------------------------------------------------===//
// SymbolValues
//===----------------------------------------------------------------------===//

SymbolValues::SymbolValues(const ModuleSpec &spec)
    : spec(spec), cached(spec.exprs.size()), valid(spec.exprs.size()) {
  for (const SymbolSpec &symbol : spec.symbols)
    current.push_back(symbol.initial);
  for (const Expr &expr : spec.exprs)
    masks.push_back(exprSymbols(expr));
}

Status SymbolValues::set(uint32_t symbol, int64_t value) {
  const SymbolSpec &bounds = spec.symbols[symbol];
  if (value < bounds.min || value > bounds.max)
    return Status::error(Code::BadArgument,
                         "%s = %" PRId64 " is outside the range %" PRId64
                         " to %" PRId64 " that the module was compiled for",
                         bounds.name.c_str(), value, bounds.min, bounds.max);
  // Most symbols stay as they are from call to call.
  if (current[symbol] == value)
    return {};
  current[symbol] = value;
  for (size_t i = 0; i < masks.size(); ++i)
    // Invalidated; evaluated again when it is next read.
    if (masks[i] >> symbol & 1)
      valid[i] = false;
  return {};
}

Status SymbolValues::get(ExprId id, int64_t &value) {
  if (!valid[id]) {
    GIST_TRY(evaluateExpr(spec.exprs[id], current, cached[id]));
    valid[id] = true;
  }
  value = cached[id];
  return {};
}

Status SymbolValues::getSize(ExprId id, const char *what, uint64_t &value) {
  int64_t number = 0;
  GIST_TRY(get(id, number));
  if (number < 0)
    return Status::error(Code::BadFile, "%s is %" PRId64 ", which is negative",
                         what, number);
  value = static_cast<uint64_t>(number);
  return {};
}

//===----------------------------------------------------------------------===//
// EntryBinding
//===----------------------------------------------------------------------===//

EntryBinding::EntryBinding(const Module &module, const EntrySpec &entry,
                           const DeviceCode &code)
    : module(&module), spec(&entry) {
  commands.code = &code;
  uint32_t firstArg = 0;
  for (const CommandSpec &command : entry.commands) {
    BoundCommand bound;
    bound.kernel = command.kernel;
    bound.firstArg = firstArg;
    bound.argCount = static_cast<uint32_t>(command.args.size());
    // Points into the module, which outlives the binding.
    bound.after = command.hasAfter ? &command.after : nullptr;
    firstArg += bound.argCount;
    commands.commands.push_back(bound);
  }
  commands.args.resize(firstArg);
}

Status EntryBinding::useNumberTable(Device &device) {
  auto table = std::make_unique<NumberTable>();
  for (const CommandSpec &command : spec->commands)
    for (const ArgSpec &arg : command.args)
      if (arg.buffer == kNone)
        table->exprs.push_back(arg.value);
  // Sorted, so that addressOf can search.
  std::sort(table->exprs.begin(), table->exprs.end());
  table->exprs.erase(std::unique(table->exprs.begin(), table->exprs.end()),
                     table->exprs.end());
  // All zero, as the device's memory is: not stale until a number is not zero.
  table->values.resize(table->exprs.size());
  GIST_TRY(
      device.allocate(table->values.size() * sizeof(int64_t), table->memory));
  numbers = std::move(table);
  return {};
}

DeviceAddress EntryBinding::NumberTable::addressOf(ExprId expr) const {
  auto place = std::lower_bound(exprs.begin(), exprs.end(), expr);
  return memory.address() +
         static_cast<uint64_t>(place - exprs.begin()) * sizeof(int64_t);
}

std::vector<ExprId>
EntryBinding::launchExprs(const CommandSpec &command) const {
  std::vector<ExprId> exprs(command.grid.begin(), command.grid.end());
  for (const ArgSpec &arg : command.args) {
    // With a table a number is an address, which no symbol changes.
    if (arg.buffer != kNone || !numbers)
      exprs.push_back(arg.value);
    if (arg.buffer == kNone)
      continue;
    const BufferSpec &buffer = module->spec().buffers[arg.buffer];
    // Reads only the fields that this kind of buffer uses: the others are not
    // verified.
    if (buffer.kind != BufferKind::Weight)
      exprs.push_back(buffer.size);
    if (buffer.kind == BufferKind::Arena)
      exprs.insert(exprs.end(), {buffer.offset, spec->arenaSize});
  }
  return exprs;
}

void EntryBinding::findDependencies(const SymbolValues &symbols) {
  for (const CommandSpec &command : spec->commands) {
    uint64_t mask = 0;
    for (ExprId expr : launchExprs(command)) {
      uint64_t read = symbols.dependencies(expr);
      mask |= read;
      if (read != 0)
        changing.push_back(expr);
    }
    masks.push_back(mask);
  }
  std::sort(changing.begin(), changing.end());
  changing.erase(std::unique(changing.begin(), changing.end()), changing.end());
}

Status EntryBinding::bindLaunches(SymbolValues &symbols) {
  launched.clear();
  for (ExprId expr : changing) {
    int64_t value = 0;
    GIST_TRY(symbols.get(expr, value));
    launched.push_back(value);
  }
  return {};
}

/// `count` bytes at `offset` of a range.
static Status subrange(const MemoryMap::Range &whole, uint64_t offset,
                       uint64_t count, MemoryMap::Range &part) {
  if (offset > whole.size || count > whole.size - offset)
    return Status::error(Code::BadFile,
                         "%" PRIu64 " bytes at offset %" PRIu64
                         " do not fit in %" PRIu64,
                         count, offset, whole.size);
  part = {whole.address + offset, count};
  return {};
}

Status EntryBinding::locate(uint32_t buffer, SymbolValues &symbols,
                            const MemoryMap &memory,
                            MemoryMap::Range &range) const {
  const BufferSpec &own = module->spec().buffers[buffer];
  if (own.kind != BufferKind::Arena) {
    range = memory.buffers[buffer];
    return {};
  }
  uint64_t offset = 0, size = 0;
  GIST_TRY(symbols.getSize(own.offset, "offset", offset).in(own.name));
  GIST_TRY(symbols.getSize(own.size, "size", size).in(own.name));
  MemoryMap::Range whole;
  if (spec->arenaSize != kNone) {
    // The arena may be larger: it is shared by entries and calls.
    whole.address = memory.arena.address;
    GIST_TRY(symbols.getSize(spec->arenaSize, "arena size", whole.size));
  }
  return subrange(whole, offset, size, range).in(own.name);
}

Status gist::bindGrid(const CommandSpec &command, SymbolValues &symbols,
                      std::array<uint32_t, 3> &grid) {
  uint64_t total = 1;
  for (size_t i = 0; i < grid.size(); ++i) {
    uint64_t size = 1;
    if (command.grid[i] != kNone)
      GIST_TRY(symbols.getSize(command.grid[i], "grid", size));
    // GPUs take 31 bits a dimension. More in all would not end in a day, and a
    // call that has begun cannot be stopped.
    constexpr uint64_t kMaxWorkgroups = uint64_t{1} << 32;
    if (size > INT32_MAX || mulOverflows(total, size, total) ||
        total > kMaxWorkgroups)
      return Status::error(
          Code::BadFile, "a grid of %" PRIu64 " workgroups is too large", size);
    grid[i] = static_cast<uint32_t>(size);
  }
  return {};
}

Status EntryBinding::bindCommand(size_t number, SymbolValues &symbols,
                                 const MemoryMap &memory) {
  const CommandSpec &command = spec->commands[number];
  BoundCommand &bound = commands.commands[number];
  GIST_TRY(bindGrid(command, symbols, bound.grid));
  uint64_t *slot = commands.args.data() + bound.firstArg;
  auto put = [&](uint64_t value) { *slot++ = value; };
  for (const ArgSpec &arg : command.args) {
    if (arg.buffer == kNone && numbers) {
      put(numbers->addressOf(arg.value));
      continue;
    }
    if (arg.buffer == kNone) {
      int64_t value = 0;
      GIST_TRY(symbols.get(arg.value, value));
      put(static_cast<uint64_t>(value));
      continue;
    }
    MemoryMap::Range range;
    GIST_TRY(locate(arg.buffer, symbols, memory, range));
    uint64_t offset = 0;
    if (arg.value != kNone)
      GIST_TRY(symbols.getSize(arg.value, "offset of an argument", offset));
    // A kernel knows how much it reads; here only its start can be checked.
    GIST_TRY(subrange(range, offset, 0, range)
                 .in(module->spec().buffers[arg.buffer].name));
    put(range.address);
  }
  return {};
}

Status EntryBinding::bindNumbers(SymbolValues &symbols) {
  for (size_t i = 0; i < numbers->exprs.size(); ++i) {
    int64_t value = 0;
    GIST_TRY(symbols.get(numbers->exprs[i], value));
    numbers->isStale |= numbers->values[i] != value;
    numbers->values[i] = value;
  }
  return {};
}

Status EntryBinding::uploadNumbers(Device &device) {
  if (!numbers || !numbers->isStale)
    return {};
  GIST_TRY(
      device.upload(numbers->memory.address(),
                    {reinterpret_cast<const uint8_t *>(numbers->values.data()),
                     numbers->values.size() * sizeof(int64_t)}));
  numbers->isStale = false;
  return {};
}

Status EntryBinding::bind(SymbolValues &symbols, const MemoryMap &memory) {
  std::span<const int64_t> values = symbols.values();
  uint64_t stale = 0;
  bool everything = boundValues.empty() || boundGeneration != memory.generation;
  for (size_t i = 0; !everything && i < values.size(); ++i)
    if (values[i] != boundValues[i])
      stale |= uint64_t{1} << i;

  // An address changed, and a recording has addresses in it.
  if (everything)
    recordings.clear();
  // Half-bound after an error: the next bind does everything.
  boundValues.clear();
  // Worked out at the first bind, when it is known whether there is a table.
  if (masks.empty())
    findDependencies(symbols);
  for (size_t i = 0; i < commands.commands.size(); ++i)
    if (everything || (masks[i] & stale))
      GIST_TRY(
          bindCommand(i, symbols, memory)
              .in("entry '" + spec->name + "' command " + std::to_string(i)));
  if (numbers)
    GIST_TRY(bindNumbers(symbols).in("entry '" + spec->name + "'"));
  GIST_TRY(bindLaunches(symbols).in("entry '" + spec->name + "'"));
  boundValues.assign(values.begin(), values.end());
  boundGeneration = memory.generation;
  return {};
}

std::unique_ptr<Recording> *EntryBinding::findRecording() {
  // Prompts of a few lengths, and a decode step, come again and again.
  constexpr size_t kMaxRecordings = 8;
  auto known = std::find_if(
      recordings.begin(), recordings.end(),
      [&](const Recorded &recorded) { return recorded.values == launched; });
  bool isKnown = known != recordings.end();
  if (!isKnown) {
    if (recordings.size() == kMaxRecordings)
      recordings.pop_back();
    // Only noted this time. A list that never comes again is not worth it.
    known = recordings.insert(recordings.end(), {launched, nullptr});
  }
  // To the front: the one that falls off the end was used longest ago.
  std::rotate(recordings.begin(), known, known + 1);
  return isKnown ? &recordings.front().recording : nullptr;
}

Status EntryBinding::submit(Device &device) {
  std::unique_ptr<Recording> *recording = findRecording();
  // Seen once before and now again: it is recorded from here on.
  if (recording && !*recording)
    GIST_TRY(device.record(commands, *recording));
  return recording ? device.replay(**recording)
                   : device.submit(commands, nullptr);
}
