//===- EntryCall.cpp - What a call of an entry needs ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/EntryCall.h"

#include "runtime/support/Checked.h"

#include <cinttypes>

using namespace gist;

//===----------------------------------------------------------------------===//
// Symbols and names
//===----------------------------------------------------------------------===//

CallSymbols::CallSymbols(const Module &module)
    : tokens(module.findSymbol(kSymbolTokens)),
      past(module.findSymbol(kSymbolPast)),
      capacity(module.findSymbol(kSymbolCapacity)) {}

Status CallSymbols::setTokens(SymbolValues &values, int64_t count,
                              int64_t before) const {
  if (tokens != kNone)
    GIST_TRY(values.set(tokens, count));
  return past == kNone ? Status() : values.set(past, before);
}

Status CallSymbols::setCapacity(SymbolValues &values, int64_t count) const {
  return capacity == kNone ? Status() : values.set(capacity, count);
}

bool gist::isCalled(const BufferSpec &buffer, const EntrySpec &entry,
                    std::string_view name) {
  return buffer.name == name ||
         buffer.name == entry.name + "." + std::string(name);
}

uint32_t gist::findTensor(const ModuleSpec &spec, const EntrySpec &entry,
                          const std::vector<uint32_t> &buffers,
                          std::string_view name) {
  for (uint32_t i : buffers)
    if (isCalled(spec.buffers[i], entry, name))
      return i;
  return kNone;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Status CallMemory::bytesOf(const EntrySpec &entry, SymbolValues &symbols,
                           uint64_t &bytes) const {
  bytes = 0;
  if (entry.arenaSize != kNone)
    GIST_TRY(symbols.getSize(entry.arenaSize, "arena size", bytes));
  for (const std::vector<uint32_t> *numbers : {&entry.inputs, &entry.outputs})
    for (uint32_t i : *numbers) {
      const BufferSpec &buffer = spec.buffers[i];
      uint64_t size = 0;
      GIST_TRY(symbols.getSize(buffer.size, "size", size).in(buffer.name));
      if (addOverflows(bytes, size, bytes))
        bytes = UINT64_MAX;
    }
  return {};
}

Status CallMemory::ensure(uint64_t size, DeviceMemory &memory, MemoryMap &map) {
  if (memory.size() >= size && memory.address() != 0)
    return {};
  // Work that still uses the old memory must be over before it goes.
  GIST_TRY(device.synchronize());
  memory.reset();
  GIST_TRY(device.allocate(size, memory));
  ++map.generation;
  return {};
}

Status CallMemory::reserve(const EntrySpec &entry, SymbolValues &symbols,
                           MemoryMap &map) {
  if (entry.arenaSize != kNone) {
    uint64_t size = 0;
    GIST_TRY(symbols.getSize(entry.arenaSize, "arena size", size));
    GIST_TRY(ensure(size, arena, map).in("arena"));
    map.arena = {arena.address(), arena.size()};
  }
  for (const std::vector<uint32_t> *numbers : {&entry.inputs, &entry.outputs})
    for (uint32_t i : *numbers) {
      const BufferSpec &buffer = spec.buffers[i];
      uint64_t size = 0;
      GIST_TRY(symbols.getSize(buffer.size, "size", size).in(buffer.name));
      GIST_TRY(ensure(size, buffers[i], map).in(buffer.name));
      // What this call may touch, even where the memory is larger.
      map.buffers[i] = {buffers[i].address(), size};
    }
  return {};
}

Status CallMemory::upload(const SampleSettings &settings, uint32_t buffer,
                          const MemoryMap &map) {
  auto at = held.find(buffer);
  // Greedy settings never change, so they are uploaded once.
  if (at != held.end() && at->second == settings)
    return {};
  const BufferSpec &input = spec.buffers[buffer];
  MemoryMap::Range range = map.buffers[buffer];
  if (input.type != ElementType::I64 || range.size != sizeof settings.numbers)
    return Status::error(Code::BadFile,
                         "input '%s' has %" PRIu64
                         " bytes of %s; expected %zu of i64",
                         input.name.c_str(), range.size, toString(input.type),
                         sizeof settings.numbers);
  GIST_TRY(device.upload(range.address, {reinterpret_cast<const uint8_t *>(
                                             settings.numbers.data()),
                                         sizeof settings.numbers}));
  held[buffer] = settings;
  return {};
}

uint64_t CallMemory::tensorBytes() const {
  uint64_t bytes = 0;
  for (const DeviceMemory &memory : buffers)
    bytes += memory.size();
  return bytes;
}
