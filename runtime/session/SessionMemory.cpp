//===- SessionMemory.cpp - Where the buffers of a session are -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Adapters.h"
#include "runtime/session/PrefillCalls.h"
#include "runtime/session/SequenceState.h"
#include "runtime/session/Session.h"
#include "runtime/session/WeightMemory.h"
#include "runtime/support/Checked.h"
#include "runtime/support/OutOfMemory.h"

#include <algorithm>
#include <cinttypes>

using namespace gist;

Status Session::allocateBuffers() {
  const ModuleSpec &spec = source->spec();
  state.resize(spec.buffers.size());
  ownWeights.resize(spec.weights.size());
  GIST_TRY(loadWeights(*source, device, targetId, weights, map));
  std::vector<bool> used = usedBuffers(spec, targetId);
  // State lives longer than a call: its size must not depend on one.
  uint64_t perCall = 0;
  for (uint32_t symbol : {callSymbols.tokens, callSymbols.past})
    if (symbol != kNone)
      perCall |= uint64_t{1} << symbol;
  for (size_t i = 0; i < spec.buffers.size(); ++i) {
    const BufferSpec &buffer = spec.buffers[i];
    // Arena, inputs and outputs are allocated by the first call.
    // State of other ranks is theirs.
    if (buffer.kind != BufferKind::State || !used[i])
      continue;
    if (symbols.dependencies(buffer.size) & perCall)
      return Status::error(Code::BadFile,
                           "state '%s' has a size that changes with a call",
                           buffer.name.c_str());
    uint64_t size = 0;
    GIST_TRY(symbols.getSize(buffer.size, "size", size).in(buffer.name));
    GIST_TRY(device.allocate(size, state[i]).in(buffer.name));
    map.buffers[i] = {state[i].address(), state[i].size()};
  }
  return {};
}

Status Session::setWeight(std::string_view name, Bytes content) try {
  GIST_TRY(refuseRanks("changing a weight"));
  const ModuleSpec &spec = source->spec();
  bool isKnown = false;
  for (size_t i = 0; i < spec.buffers.size(); ++i) {
    const BufferSpec &buffer = spec.buffers[i];
    if (buffer.kind != BufferKind::Weight || map.buffers[i].address == 0 ||
        spec.weights[buffer.base].name != name)
      continue;
    isKnown = true;
    DeviceMemory &memory = weights[buffer.base];
    if (content.size != memory.size())
      return Status::error(Code::BadArgument,
                           "weight '%s' has %" PRIu64 " bytes, but %" PRIu64
                           " were given",
                           buffer.name.c_str(), memory.size(), content.size);
    if (!ownWeights[buffer.base]) {
      // The present memory may be the mapped file, or shared with other
      // sessions.
      GIST_TRY(device.synchronize());
      DeviceMemory own;
      GIST_TRY(device.allocate(content.size, own).in(buffer.name));
      memory.reset();
      memory = std::move(own);
      ownWeights[buffer.base] = true;
      ++map.generation;
    }
    map.buffers[i] = {memory.address(), memory.size()};
    GIST_TRY(device.upload(memory.address(), content).in(buffer.name));
  }
  if (!isKnown)
    return Status::error(Code::NotFound, "the module has no weight '%.*s'",
                         static_cast<int>(name.size()), name.data());
  return {};
}
GIST_CATCH_OUT_OF_MEMORY

Status Session::bytesOfCall(const EntrySpec &entry, int64_t tokens,
                            uint64_t &bytes) {
  // At the end of the context, where a call needs the most.
  GIST_TRY(setTokens(entry, tokens, std::max<int64_t>(context - tokens, 0)));
  return callMemory.bytesOf(entry, symbols, bytes);
}

/// Before the first call, when weights and state are where they will be.
Status Session::choosePrefill() {
  GIST_TRY(PromptBulk::create(source->spec().model, bulk));
  const EntrySpec *entry = source->findEntry(kEntryPrefill, targetId);
  if (!entry || options.chunk != 0 || source->spec().model.prefillChunk != 0)
    return {};
  int64_t most =
      std::min({device.tokensPerCall(), maxTokens(kEntryPrefill), context});
  if (most <= kLeastPrefillTokens) {
    prefillTokens = std::max<int64_t>(most, 1);
    return {};
  }
  // bytesOfCall sets symbols, which have to be as they were afterwards.
  std::vector<int64_t> before(symbols.values().begin(), symbols.values().end());
  GIST_TRY(choosePrefillTokens(
      most, device.info().memoryFree,
      [&](int64_t tokens, uint64_t &bytes) {
        return bytesOfCall(*entry, tokens, bytes);
      },
      prefillTokens));
  for (uint32_t symbol : {callSymbols.tokens, callSymbols.past})
    if (symbol != kNone)
      GIST_TRY(symbols.set(symbol, before[symbol]));
  return {};
}

MemoryUse Session::memoryUse() const {
  MemoryUse use;
  use.arena = callMemory.arenaBytes();
  use.io = callMemory.tensorBytes();
  for (const DeviceMemory &memory : weights)
    use.weights += memory.size();
  for (const DeviceMemory &memory : state)
    use.state += memory.size();
  return use;
}

Status Session::reset() {
  GIST_TRY(announceReset());
  past = 0;
  lastLogits = {};
  const std::vector<BufferSpec> &buffers = source->spec().buffers;
  for (size_t i = 0; i < buffers.size(); ++i)
    // Rows by position need no clearing: nothing reads beyond `past`.
    if (buffers[i].kind == BufferKind::State && buffers[i].zeroOnReset &&
        state[i].address() != 0)
      GIST_TRY(device.clear(state[i].address(), state[i].size()));
  return {};
}

Status Session::checkRewinds() const {
  // State that is cleared on reset is more than rows by position: counts and
  // clusters, which do not say what they were before a token.
  for (const BufferSpec &buffer : source->spec().buffers)
    if (buffer.kind == BufferKind::State && buffer.zeroOnReset)
      return Status::error(Code::Unsupported,
                           "state '%s' cannot go back to an earlier token",
                           buffer.name.c_str());
  return {};
}

int64_t Session::leastRewind() const {
  if (checkRewinds().ok())
    return 0;
  int64_t block = source->spec().model.prefillChunk;
  return block == 0 || past % block == 0 ? past : past / block * block + 1;
}

Status Session::rewind(int64_t position) {
  if (position == 0)
    return reset();
  if (position < 0 || position > past)
    return Status::error(Code::BadArgument,
                         "cannot go back to token %" PRId64
                         ": the session has %" PRId64,
                         position, past);
  if (position == past)
    return {};
  if (position < leastRewind())
    GIST_TRY(checkRewinds());
  past = position;
  lastLogits = {};
  return {};
}

Status Session::setAdapter(std::string_view name) {
  int32_t number = 0;
  GIST_TRY(findAdapter(source->spec().model, name, number));
  GIST_TRY(reset());
  adapter = number;
  return {};
}

Status Session::findState(int64_t rows,
                          std::vector<MemoryMap::Range> &pieces) const {
  GIST_TRY(refuseRanks("taking a state out of its session"));
  StateLayout layout;
  GIST_TRY(StateLayout::create(*source, layout));
  return layout.findPieces(map.buffers, context, 0, rows, pieces);
}

Status Session::takeState(Session &other) try {
  GIST_TRY(refuseRanks("taking over a state"));
  if (other.source != source || other.context != context)
    return Status::error(Code::BadArgument,
                         "a session takes state only from a session of the "
                         "same module and capacity");
  GIST_TRY(reset());
  GIST_TRY(other.device.synchronize());
  const std::vector<BufferSpec> &buffers = source->spec().buffers;
  std::vector<uint8_t> content;
  // All of it: entries that were called by name leave rows behind those that
  // the session has read.
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].kind != BufferKind::State)
      continue;
    // Through the host: the two devices may have no direct connection.
    content.resize(state[i].size());
    GIST_TRY(other.device.download(other.state[i].address(), content.data(),
                                   content.size()));
    GIST_TRY(device.upload(state[i].address(), {content.data(), content.size()})
                 .in(buffers[i].name));
    GIST_TRY(device.synchronize()); // It is copied when `content` changes.
  }
  past = other.past;
  adapter = other.adapter;
  return {};
}
GIST_CATCH_OUT_OF_MEMORY

/// Bytes of a buffer that mean something: its shape, or all of it.
Status Session::contentSize(uint32_t number, uint64_t &bytes) {
  const BufferSpec &buffer = source->spec().buffers[number];
  GIST_TRY(symbols.getSize(buffer.size, "size", bytes).in(buffer.name));
  if (buffer.shape.empty())
    return {};
  uint64_t whole = bytes;
  bytes = elementSize(buffer.type);
  for (ExprId dim : buffer.shape) {
    uint64_t size = 0;
    GIST_TRY(symbols.getSize(dim, "dimension", size).in(buffer.name));
    if (mulOverflows(bytes, size, bytes))
      bytes = UINT64_MAX;
  }
  if (bytes > whole)
    return Status::error(Code::BadFile,
                         "%s: the shape has %" PRIu64
                         " bytes, but the buffer has %" PRIu64,
                         buffer.name.c_str(), bytes, whole);
  return {};
}
