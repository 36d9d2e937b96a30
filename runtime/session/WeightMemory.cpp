//===- WeightMemory.cpp - The weights of a module on a device -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/WeightMemory.h"

#include "runtime/module/RandomWeights.h"

using namespace gist;

/// Buffers that the entries for this target touch.
std::vector<bool> gist::usedBuffers(const ModuleSpec &spec, uint32_t target) {
  std::vector<bool> used(spec.buffers.size());
  for (const EntrySpec &entry : spec.entries) {
    if (entry.target != kNone && entry.target != target)
      continue;
    for (const CommandSpec &command : entry.commands)
      for (const ArgSpec &arg : command.args)
        if (arg.buffer != kNone)
          used[arg.buffer] = true;
  }
  return used;
}

static Status loadWeight(const Module &module, Device &device, uint32_t number,
                         DeviceMemory &memory) {
  const WeightSpec &weight = module.spec().weights[number];
  if (!weight.random)
    return device.share(module.weight(number), memory);
  GIST_TRY(device.allocate(weight.size, memory));
  return makeRandomWeight(weight, [&](uint64_t offset, Bytes piece) -> Status {
    GIST_TRY(device.upload(memory.address() + offset, piece));
    return device.synchronize(); // It is copied when `piece` is made anew.
  });
}

Status gist::loadWeights(const Module &module, Device &device, uint32_t target,
                         std::vector<DeviceMemory> &weights, MemoryMap &map) {
  const ModuleSpec &spec = module.spec();
  weights.resize(spec.weights.size());
  map.buffers.resize(spec.buffers.size());
  std::vector<bool> used = usedBuffers(spec, target);
  for (size_t i = 0; i < spec.buffers.size(); ++i) {
    const BufferSpec &buffer = spec.buffers[i];
    if (buffer.kind != BufferKind::Weight || !used[i])
      continue; // packed for another target
    // One weight may have several buffers, and is loaded once.
    DeviceMemory &memory = weights[buffer.base];
    if (memory.address() == 0)
      GIST_TRY(loadWeight(module, device, buffer.base, memory).in(buffer.name));
    map.buffers[i] = {memory.address(), memory.size()};
  }
  return {};
}
