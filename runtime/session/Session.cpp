//===- Session.cpp - One run of a model: its memory and its commands ------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Session.h"

#include "runtime/session/Batch.h"
#include "runtime/session/ModuleCode.h"
#include "runtime/session/RankedLists.h"
#include "runtime/support/OutOfMemory.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <set>

using namespace gist;

Session::Session(std::shared_ptr<const Module> module, Device &device,
                 const SessionOptions &options)
    : source(std::move(module)), device(device), options(options),
      symbols(source->spec()), callSymbols(*source),
      callMemory(source->spec(), device) {}

Status Session::create(std::shared_ptr<const Module> module, Device &device,
                       const SessionOptions &options,
                       std::unique_ptr<Session> &result) try {
  std::unique_ptr<Session> session(
      new Session(std::move(module), device, options));
  GIST_TRY(session->initialize());
  result = std::move(session);
  return {};
}
GIST_CATCH_OUT_OF_MEMORY

Status Session::initialize() {
  const ModuleSpec &spec = source->spec();
  if (options.context < 0 || options.chunk < 0)
    return Status::error(Code::BadArgument,
                         "context and chunk sizes cannot be negative");
  GIST_TRY(checkRanks());
  GIST_TRY(chooseTarget(device, spec, targetId, source->ranks(),
                        options.ranks ? options.ranks->rank() : 0));
  if (callSymbols.capacity != kNone) {
    const SymbolSpec &bounds = spec.symbols[callSymbols.capacity];
    if (options.context != 0 &&
        (options.context < bounds.min || options.context > bounds.max))
      return Status::error(Code::BadArgument,
                           "a context of %" PRId64
                           " tokens is outside the range %" PRId64
                           " to %" PRId64 " that the module was compiled for",
                           options.context, bounds.min, bounds.max);
    if (options.context != 0)
      GIST_TRY(callSymbols.setCapacity(symbols, options.context).in("context"));
    context = symbols.values()[callSymbols.capacity];
  } else {
    // Without state nothing outlives a call, so the context is one call.
    uint32_t tokens = callSymbols.tokens;
    context = tokens == kNone ? 0 : spec.symbols[tokens].max;
  }
  // Code first: a driver that refuses it should do so before gigabytes of
  // weights are loaded.
  GIST_TRY(loadModuleCode(*source, targetId, options.trust, device, code));
  GIST_TRY(allocateBuffers());
  for (const EntrySpec &entry : spec.entries)
    if (entry.target == kNone || entry.target == targetId) {
      // Entries for other targets would name kernels that this code does not
      // have.
      entries.emplace_back(*source, entry, *code);
      if (device.numbersByAddress())
        GIST_TRY(entries.back().useNumberTable(device));
    }
  if (source->ranks().count > 1) {
    rankedLists =
        std::make_unique<RankedLists>(*source, device, *options.ranks);
    GIST_TRY(rankedLists->joinCards());
  }
  return choosePrefill();
}

Status Session::findEntry(std::string_view name, EntryBinding *&result) {
  const EntrySpec *wanted = source->findEntry(name, targetId);
  for (EntryBinding &binding : entries)
    if (&binding.entry() == wanted) {
      result = &binding;
      return {};
    }
  std::string known;
  for (const EntryBinding &binding : entries)
    known += (known.empty() ? "" : ", ") + binding.entry().name;
  return Status::error(Code::NotFound,
                       "the module has no entry '%.*s'; it has: %s",
                       static_cast<int>(name.size()), name.data(),
                       known.empty() ? "none" : known.c_str());
}

bool Session::hasEntry(std::string_view name) const {
  return source->findEntry(name, targetId) != nullptr;
}

int64_t Session::maxTokens(std::string_view name) const {
  const EntrySpec *entry = source->findEntry(name, targetId);
  uint32_t tokens = callSymbols.tokens;
  int64_t limit =
      tokens == kNone ? INT64_MAX : source->spec().symbols[tokens].max;
  if (entry && entry->maxTokens != 0)
    limit = std::min(limit, entry->maxTokens);
  return limit;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

Status Session::setTokens(const EntrySpec &entry, int64_t tokens,
                          int64_t before) {
  if (entry.maxTokens != 0 && tokens > entry.maxTokens)
    return Status::error(Code::BadArgument,
                         "entry '%s' takes at most %" PRId64 " tokens; %" PRId64
                         " were given",
                         entry.name.c_str(), entry.maxTokens, tokens);
  return callSymbols.setTokens(symbols, tokens, before);
}

/// What a command without a cost reads and writes at least: rows of this call,
/// each once. 0 for one that reads state, of which it may read any part.
Status Session::bytesOfRows(EntryBinding &binding, const CommandSpec &command,
                            int64_t &bytes) {
  bytes = 0;
  std::set<uint32_t> seen;
  for (const ArgSpec &arg : command.args) {
    if (arg.buffer == kNone || !seen.insert(arg.buffer).second)
      continue;
    switch (source->spec().buffers[arg.buffer].kind) {
    case BufferKind::Weight:
      continue;
    case BufferKind::State:
      bytes = 0;
      return {};
    default:
      break;
    }
    MemoryMap::Range range;
    GIST_TRY(binding.locate(arg.buffer, symbols, map, range));
    bytes += static_cast<int64_t>(range.size);
  }
  return {};
}

/// Binds and runs an entry whose memory is there and whose inputs are filled.
Status Session::execute(EntryBinding &binding) {
  GIST_TRY(binding.bind(symbols, map));
  GIST_TRY(binding.uploadNumbers(device));

  std::vector<CommandTime> times;
  std::vector<CommandTime> *wanted = options.profile ? &times : nullptr;
  if (rankedLists)
    GIST_TRY(rankedLists->run(binding, symbols, map, wanted));
  // A recording does not say when its commands ran.
  else if (wanted)
    GIST_TRY(device.submit(binding.list(), wanted));
  else
    GIST_TRY(binding.submit(device));
  if (wanted)
    GIST_TRY(addProfile(binding, times));
  return options.statistics ? readStatistics(binding) : Status();
}

Status Session::addProfile(EntryBinding &binding,
                           const std::vector<CommandTime> &times) {
  const EntrySpec &entry = binding.entry();
  for (size_t i = 0; i < times.size(); ++i) {
    const CommandSpec &command = entry.commands[i];
    int64_t flops = 0, bytes = 0;
    if (command.flops != kNone)
      GIST_TRY(symbols.get(command.flops, flops));
    if (command.bytes != kNone)
      GIST_TRY(symbols.get(command.bytes, bytes));
    else
      GIST_TRY(bytesOfRows(binding, command, bytes));
    options.profile->add(source->spec(), entry, i, times[i],
                         static_cast<double>(flops),
                         static_cast<double>(bytes));
  }
  return {};
}

template <typename T>
static std::vector<double> toDoubles(const std::vector<uint8_t> &bytes) {
  std::vector<T> typed(bytes.size() / sizeof(T));
  std::memcpy(typed.data(), bytes.data(), typed.size() * sizeof(T));
  return {typed.begin(), typed.end()};
}

Status Session::readStatistics(EntryBinding &binding) {
  lastValues.clear();
  for (const StatisticSpec &statistic : binding.entry().statistics) {
    MemoryMap::Range range;
    GIST_TRY(binding.locate(statistic.buffer, symbols, map, range));
    std::vector<uint8_t> bytes(range.size);
    GIST_TRY(device.download(range.address, bytes.data(), range.size));
    StatisticValue value{statistic.name, statistic.layer, {}};
    ElementType type = source->spec().buffers[statistic.buffer].type;
    if (type == ElementType::F32)
      value.values = toDoubles<float>(bytes);
    else if (type == ElementType::I32)
      value.values = toDoubles<int32_t>(bytes);
    else
      value.values = toDoubles<int64_t>(bytes);
    lastValues.push_back(std::move(value));
  }
  return {};
}

Status
Session::call(std::string_view name,
              const std::map<std::string, int64_t> &given,
              const std::map<std::string, Bytes> &inputs,
              std::map<std::string, std::vector<uint8_t>> &outputs,
              const std::function<bool(const std::string &)> &isWanted) try {
  GIST_TRY(refuseRanks("calling an entry by its name"));
  EntryBinding *binding = nullptr;
  GIST_TRY(findEntry(name, binding));
  const EntrySpec &entry = binding->entry();
  const ModuleSpec &spec = source->spec();
  lastLogits = {};
  for (const auto &[symbolName, value] : given) {
    uint32_t symbol = source->findSymbol(symbolName);
    if (symbol == kNone)
      return Status::error(Code::NotFound, "the module has no symbol '%s'",
                           symbolName.c_str());
    if (symbol == callSymbols.capacity && value != context)
      return Status::error(
          Code::BadArgument,
          "the capacity cannot be set: it is chosen when a session is made");
    GIST_TRY(symbols.set(symbol, value));
  }
  auto valueOf = [&](uint32_t symbol) {
    return symbol == kNone ? 0 : symbols.values()[symbol];
  };
  if (callSymbols.tokens != kNone)
    GIST_TRY(setTokens(entry, valueOf(callSymbols.tokens),
                       valueOf(callSymbols.past)));
  GIST_TRY(callMemory.reserve(entry, symbols, map));
  for (uint32_t i : entry.inputs) {
    auto at = inputs.find(spec.buffers[i].name);
    if (at == inputs.end())
      return Status::error(Code::BadArgument, "input '%s' is missing",
                           spec.buffers[i].name.c_str());
    uint64_t size = 0;
    GIST_TRY(contentSize(i, size));
    if (at->second.size != size)
      return Status::error(Code::BadArgument,
                           "input '%s' has %" PRIu64
                           " bytes, but the entry takes %" PRIu64,
                           at->first.c_str(), at->second.size, size);
    GIST_TRY(device.upload(map.buffers[i].address, at->second));
    callMemory.forget(i);
  }
  GIST_TRY(execute(*binding));
  // Moved at the end, so that `outputs` is left as it was on error.
  std::map<std::string, std::vector<uint8_t>> results;
  for (uint32_t i : entry.outputs) {
    if (isWanted && !isWanted(spec.buffers[i].name))
      continue;
    uint64_t size = 0;
    GIST_TRY(contentSize(i, size));
    std::vector<uint8_t> &bytes = results[spec.buffers[i].name];
    bytes.resize(size);
    GIST_TRY(device.download(map.buffers[i].address, bytes.data(), size));
  }
  outputs = std::move(results);
  return {};
}
GIST_CATCH_OUT_OF_MEMORY

Status Session::measure(std::string_view name, unsigned samples, unsigned batch,
                        std::vector<double> &microseconds) try {
  GIST_TRY(refuseRanks("timing an entry alone"));
  EntryBinding *binding = nullptr;
  GIST_TRY(findEntry(name, binding));
  CommandList list = binding->list();
  // Runs wait for one another; only the first run can use the entry's own
  // `after`, whose numbers count commands from zero.
  std::vector<BoundCommand> once = list.commands;
  for (BoundCommand &command : once)
    command.after = nullptr;
  for (unsigned i = 1; i < batch; ++i)
    list.commands.insert(list.commands.end(), once.begin(), once.end());
  std::unique_ptr<Recording> recording;
  GIST_TRY(device.record(list, recording));
  // The first replay warms up caches and clocks and is not counted.
  GIST_TRY(device.replay(*recording));
  GIST_TRY(device.synchronize());
  using Clock = std::chrono::steady_clock;
  for (unsigned i = 0; i < samples; ++i) {
    Clock::time_point begin = Clock::now();
    GIST_TRY(device.replay(*recording));
    GIST_TRY(device.synchronize());
    std::chrono::duration<double, std::micro> taken = Clock::now() - begin;
    microseconds.push_back(taken.count() / batch);
  }
  return {};
}
GIST_CATCH_OUT_OF_MEMORY
