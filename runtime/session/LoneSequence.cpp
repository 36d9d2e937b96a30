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
  // Where numbers are plain arguments nothing is recorded, and little is
  // gained.
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

Status LoneSequence::prepare(int64_t before, int64_t capacity) {
  GIST_TRY(callSymbols.setTokens(symbols, 1, before));
  GIST_TRY(callSymbols.setCapacity(symbols, capacity));
  return memory.reserve(binding.entry(), symbols, map);
}

Status LoneSequence::initialize(int64_t capacity, bool &isUsable) {
  const ModuleSpec &spec = module.spec();
  const EntrySpec &entry = binding.entry();
  settingsBuffer = findTensor(spec, entry, entry.inputs, kTensorSampling);
  nextBuffer = findTensor(spec, entry, entry.outputs, kTensorNext);
  if (settingsBuffer == kNone || nextBuffer == kNone ||
      entry.inputs.size() != 2)
    return {};
  tokenBuffer = entry.inputs[entry.inputs[0] == settingsBuffer ? 1 : 0];
  // At the end of the context, where a call needs the most.
  GIST_TRY(prepare(std::max<int64_t>(capacity - 1, 0), capacity));
  isUsable = map.buffers[tokenBuffer].size == sizeof(int32_t) &&
             map.buffers[nextBuffer].size == sizeof(int32_t);
  return binding.useNumberTable(device);
}

Status LoneSequence::next(int32_t token, int64_t before,
                          const SequenceState &state,
                          const SampleSettings &settings, int32_t &drawn) {
  const std::vector<BufferSpec> &buffers = module.spec().buffers;
  GIST_TRY(prepare(before, state.capacity()));
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
  GIST_TRY(memory.upload(settings, settingsBuffer, map));
  GIST_TRY(binding.bind(symbols, map));
  GIST_TRY(binding.uploadNumbers(device));
  GIST_TRY(binding.submit(device));
  return device.download(map.buffers[nextBuffer].address, &drawn, sizeof drawn);
}
