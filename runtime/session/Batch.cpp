//===- Batch.cpp - Tokens of several sequences in one call ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Batch.h"
#include "runtime/session/Adapters.h"

#include <algorithm>

using namespace gist;

/// A graph takes long to make (one of thousands of launches 244 ms on an H200,
/// where a step took 10.5) and is lost when a sequence joins or leaves: it is
/// recorded once the same list has run a few times.
static constexpr unsigned kTimesBeforeRecording = 8;

Status Batch::create(const Module &module, const EntrySpec &entry,
                     const EntrySpec *sampling, uint32_t target, Device &device,
                     const DeviceCode &code, const MemoryMap &weights,
                     const BatchLimits &limits,
                     std::unique_ptr<Batch> &result) {
  std::unique_ptr<Batch> batch(new Batch(device, weights));
  GIST_TRY(BatchPlan::create(module, entry, target, batch->plan));
  batch->list.code = batch->lateList.code = &code;
  GIST_TRY(batch->reserve(limits));
  // Where the host reads logits as they are, it draws tokens itself.
  if (sampling && !device.hostPointer(batch->logitsMemory.address()))
    GIST_TRY(batch->findSampling(*sampling, limits.pieces));
  GIST_TRY(batch->reserveTable(limits.pieces));
  result = std::move(batch);
  return {};
}

template <typename Word>
Status Batch::upload(const std::vector<Word> &words, const DeviceMemory &to,
                     std::vector<Word> &uploaded) {
  if (words == uploaded)
    return {};
  GIST_TRY(device.upload(to.address(),
                         {reinterpret_cast<const uint8_t *>(words.data()),
                          words.size() * sizeof(Word)}));
  uploaded = words;
  return {};
}

Status Batch::uploadSettings(std::span<const BatchDraw> draws) {
  settings.clear();
  for (const BatchDraw &draw : draws)
    settings.insert(settings.end(), draw.settings.numbers.begin(),
                    draw.settings.numbers.end());
  // Greedy settings never change, so they are uploaded once.
  return upload(settings, settingsMemory, uploadedSettings);
}

/// Whether both lists launch the same; `after` follows from the rest.
static bool isSame(const CommandList &a, const CommandList &b) {
  return a.args == b.args &&
         std::equal(a.commands.begin(), a.commands.end(), b.commands.begin(),
                    b.commands.end(),
                    [](const BoundCommand &x, const BoundCommand &y) {
                      return x.kernel == y.kernel && x.grid == y.grid &&
                             x.byTable == y.byTable;
                    });
}

/// Devices where recordings pay read numbers from memory, so the list of a
/// decode step stays the same while the same sequences run.
Status Batch::submit() {
  if (numberExprs.empty())
    return device.submit(list, nullptr);
  constexpr size_t kMaxRecordings = 4;
  auto found = std::find_if(
      recordings.begin(), recordings.end(),
      [&](const Recorded &recorded) { return isSame(recorded.list, list); });
  if (found == recordings.end()) {
    if (recordings.size() == kMaxRecordings)
      recordings.pop_back();
    recordings.insert(recordings.begin(), Recorded{.list = list});
    return device.submit(list, nullptr);
  }
  std::rotate(recordings.begin(), found, found + 1);
  Recorded &recorded = recordings.front();
  ++recorded.times;
  if (!recorded.recording && recorded.times < kTimesBeforeRecording)
    return device.submit(list, nullptr);
  if (!recorded.recording)
    GIST_TRY(device.record(list, recorded.recording));
  return device.replay(*recorded.recording);
}

Status Batch::submitTimed(const CommandList &list,
                          const std::vector<Launch> &launches) {
  if (!profile)
    return device.submit(list, nullptr);
  std::vector<CommandTime> times;
  GIST_TRY(device.submit(list, &times));
  const std::vector<CommandSpec> &commands = plan.entry().commands;
  // Draws come last, and are of another entry.
  for (size_t i = 0; i < std::min(times.size(), launches.size()); ++i) {
    const auto &[command, scope, isShared] = launches[i];
    double flops = 0, bytes = 0;
    for (size_t at = scope; at < (isShared ? 1 + numPieces : scope + 1); ++at)
      for (auto [expr, sum] : {std::pair(commands[command].flops, &flops),
                               std::pair(commands[command].bytes, &bytes)}) {
        int64_t value = 0;
        if (expr != kNone)
          GIST_TRY(scopes[at].symbols.get(expr, value));
        *sum += static_cast<double>(value);
      }
    profile->add(plan.module().spec(), plan.entry(), command, times[i], flops,
                 bytes);
  }
  return {};
}

/// Moves the rows of later ranges behind those of the first. Rows go down, and
/// those of one copy do not overlap where they come from.
Status Batch::gather(std::span<const RowRange> wanted) {
  for (uint32_t number : plan.handedOver()) {
    const BufferSpec &buffer = plan.module().spec().buffers[number];
    uint64_t rowBytes = plan.rowBytes(number), offset = 0;
    GIST_TRY(scopes[0].symbols.getSize(buffer.offset, "offset", offset));
    DeviceAddress begin = arena.address() + offset;
    int64_t to = wanted.front().end;
    for (const RowRange &range : wanted.subspan(1)) {
      int64_t most = range.begin - to;
      for (int64_t row = range.begin; row < range.end; row += most) {
        int64_t count = std::min(most, range.end - row);
        GIST_TRY(device.copy(begin + static_cast<uint64_t>(to) * rowBytes,
                             begin + static_cast<uint64_t>(row) * rowBytes,
                             static_cast<uint64_t>(count) * rowBytes));
        to += count;
      }
    }
  }
  return {};
}

Status Batch::run(std::span<const BatchPiece> pieces,
                  std::span<const int32_t> tokens,
                  std::span<const RowRange> wanted,
                  std::span<const BatchDraw> draws) {
  GIST_TRY(checkNumbers(tokens, plan.module().spec().model));
  if (tokens.size_bytes() > tokenMemory.size())
    return Status::error(Code::BadArgument,
                         "a step is larger than the batch was made for");
  GIST_TRY(setScopes(pieces, wanted));
  if (!isRepeated(pieces, wanted, draws))
    GIST_TRY(makeLists(pieces, wanted, draws));
  GIST_TRY(bindNumbers(1 + pieces.size() + (wanted.empty() ? 0 : 1)));

  GIST_TRY(device.upload(
      tokenMemory.address(),
      {reinterpret_cast<const uint8_t *>(tokens.data()), tokens.size_bytes()}));
  GIST_TRY(upload(numbers, numberMemory, uploadedNumbers));
  GIST_TRY(upload(table, tableMemory, uploadedTable));
  GIST_TRY(uploadSettings(draws));
  launchCount += list.commands.size() + lateList.commands.size();
  if (split) {
    // A sequence ends its prompt in this step, so this list does not repeat.
    GIST_TRY(submitTimed(list, launched));
    GIST_TRY(gather(wanted));
    GIST_TRY(submitTimed(lateList, lateLaunched));
  } else if (profile) {
    GIST_TRY(submitTimed(list, launched));
  } else {
    GIST_TRY(submit());
  }

  return draws.empty() ? readLogits(wanted) : readDrawn(draws.size());
}

Status Batch::readLogits(std::span<const RowRange> wanted) {
  int64_t rows = 0;
  for (const RowRange &range : wanted)
    rows += range.end - range.begin;
  const void *pointer = device.hostPointer(logitsMemory.address());
  if (pointer || rows == 0) {
    firstLogits = static_cast<const float *>(pointer);
    return device.synchronize();
  }
  auto bytes = static_cast<uint64_t>(rows) * plan.logitsBytes();
  downloaded.resize(bytes / sizeof(float));
  GIST_TRY(device.download(logitsMemory.address(), downloaded.data(), bytes));
  firstLogits = downloaded.data();
  return {};
}

Status Batch::readDrawn(size_t count) {
  firstLogits = nullptr;
  drawnTokens.resize(count);
  return device.download(nextMemory.address(), drawnTokens.data(),
                         count * sizeof(int32_t));
}

std::span<const float> Batch::logits(int64_t number) const {
  auto vocab = static_cast<size_t>(plan.module().spec().model.vocabSize);
  return {firstLogits + static_cast<size_t>(number) * vocab, vocab};
}
