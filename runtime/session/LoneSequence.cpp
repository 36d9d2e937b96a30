//===- LoneSequence.cpp - One sequence of a pool by itself ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/LoneSequence.h"

#include <algorithm>

using namespace gist;

Status LoneSequence::create(const Module &module, uint32_t target,
                            Device &device, const DeviceCode &code,
                            const MemoryMap &weights, int64_t capacity,
                            std::unique_ptr<LoneSequence> &result) {
  const EntrySpec *entry = module.findEntry(kEntryDecode, target);
  // Where numbers are arguments nothing is recorded, and little is gained.
  if (!entry || !device.numbersByAddress())
    return {};
  std::unique_ptr<LoneSequence> made(
      new LoneSequence(module, *entry, device, code, weights));
  bool isUsable = false;
  GIST_TRY(made->initialize(capacity, isUsable).in("entry 'decode'"));
  if (isUsable)
    result = std::move(made);
  return {};
}

Status LoneSequence::setSymbols(int64_t before, int64_t capacity) {
  auto set = [&](const char *name, int64_t value) {
    uint32_t symbol = module.findSymbol(name);
    return symbol == kNone ? Status() : symbols.set(symbol, value);
  };
  GIST_TRY(set(kSymbolTokens, 1));
  GIST_TRY(set(kSymbolPast, before));
  return set(kSymbolCapacity, capacity);
}

Status LoneSequence::initialize(int64_t capacity, bool &isUsable) {
  const ModuleSpec &spec = module.spec();
  const EntrySpec &entry = binding.entry();
  // At the end of the context, where a call needs the most.
  GIST_TRY(setSymbols(std::max<int64_t>(capacity - 1, 0), capacity));
  auto isCalled = [&](uint32_t buffer, const char *name) {
    return spec.buffers[buffer].name == entry.name + "." + name ||
           spec.buffers[buffer].name == name;
  };
  auto allocate = [&](uint64_t size, MemoryMap::Range &range) -> Status {
    GIST_TRY(device.allocate(size, memory.emplace_back()));
    range = {memory.back().address(), size};
    return {};
  };
  auto allocateAll = [&](const std::vector<uint32_t> &buffers) -> Status {
    for (uint32_t i : buffers) {
      uint64_t size = 0;
      GIST_TRY(symbols.getSize(spec.buffers[i].size, "size", size));
      GIST_TRY(allocate(size, map.buffers[i]));
      if (size == sizeof(int32_t) && isCalled(i, kTensorNext))
        nextBuffer = i;
      else if (size == sizeof SampleSettings().numbers &&
               isCalled(i, kTensorSampling))
        settingsBuffer = i;
      else if (spec.buffers[i].kind == BufferKind::Input)
        tokenBuffer = size == sizeof(int32_t) ? i : kNone;
    }
    return {};
  };
  GIST_TRY(allocateAll(entry.inputs));
  GIST_TRY(allocateAll(entry.outputs));
  isUsable = entry.inputs.size() == 2 && tokenBuffer != kNone &&
             settingsBuffer != kNone && nextBuffer != kNone;
  if (entry.arenaSize != kNone) {
    uint64_t size = 0;
    GIST_TRY(symbols.getSize(entry.arenaSize, "arena size", size));
    GIST_TRY(allocate(size, map.arena));
  }
  return binding.useNumberTable(device);
}

Status LoneSequence::next(int32_t token, int64_t before,
                          const SequenceState &state,
                          const SampleSettings &settings, int32_t &drawn) {
  const std::vector<BufferSpec> &buffers = module.spec().buffers;
  GIST_TRY(setSymbols(before, state.capacity()));
  for (size_t i = 0; i < buffers.size(); ++i) {
    MemoryMap::Range range = state.ranges()[i];
    if (buffers[i].kind != BufferKind::State ||
        range.address == map.buffers[i].address)
      continue;
    map.buffers[i] = range;
    ++map.generation; // Another sequence.
  }
  GIST_TRY(
      device.upload(map.buffers[tokenBuffer].address,
                    {reinterpret_cast<const uint8_t *>(&token), sizeof token}));
  if (!isUploaded || !(uploaded == settings)) {
    GIST_TRY(device.upload(
        map.buffers[settingsBuffer].address,
        {reinterpret_cast<const uint8_t *>(settings.numbers.data()),
         sizeof settings.numbers}));
    uploaded = settings;
    isUploaded = true;
  }
  GIST_TRY(binding.bind(symbols, map));
  GIST_TRY(binding.uploadNumbers(device));
  GIST_TRY(binding.submit(device));
  return device.download(map.buffers[nextBuffer].address, &drawn, sizeof drawn);
}
