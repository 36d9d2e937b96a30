//===- RankedLists.cpp - Commands between what ranks do together ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/RankedLists.h"

#include <cinttypes>

using namespace gist;

/// Every so many calls ranks compare what they have computed together.
static constexpr uint64_t kCallsPerCheck = 64;

std::vector<RankedLists::Piece> &
RankedLists::findPieces(const EntryBinding &binding) {
  const EntrySpec &entry = binding.entry();
  auto [at, isNew] = pieces.try_emplace(&entry);
  std::vector<Piece> &all = at->second;
  if (!isNew)
    return all;
  all.emplace_back();
  for (size_t i = 0; i < entry.commands.size(); ++i) {
    const CommandSpec &command = entry.commands[i];
    if (module.ranks().find(command.kernel)) {
      all.back().end = i;
      all.push_back({.begin = i + 1, .end = i + 1, .after = {}, .list = {}});
      continue;
    }
    Piece &piece = all.back();
    piece.end = i + 1;
    // What was before the piece is over.
    std::vector<uint32_t> &after = piece.after.emplace_back();
    for (uint32_t earlier : command.after)
      if (earlier >= piece.begin)
        after.push_back(static_cast<uint32_t>(earlier - piece.begin));
  }
  return all;
}

Status RankedLists::runPiece(Piece &piece, const CommandList &bound,
                             std::vector<CommandTime> *times) {
  if (piece.begin == piece.end)
    return {};
  CommandList &list = piece.list;
  list.code = bound.code;
  list.commands.assign(
      bound.commands.begin() + static_cast<ptrdiff_t>(piece.begin),
      bound.commands.begin() + static_cast<ptrdiff_t>(piece.end));
  uint32_t first = list.commands.front().firstArg;
  const BoundCommand &last = list.commands.back();
  list.args.assign(bound.args.begin() + first,
                   bound.args.begin() + last.firstArg + last.argCount);
  for (size_t i = 0; i < list.commands.size(); ++i) {
    list.commands[i].firstArg -= first;
    // Null stays: it waits for all before it, and so for the piece's own.
    if (list.commands[i].after)
      list.commands[i].after = &piece.after[i];
  }
  if (!times)
    return device.submit(list, nullptr);
  std::vector<CommandTime> own;
  GIST_TRY(device.submit(list, &own));
  times->insert(times->end(), own.begin(), own.end());
  return {};
}

Status RankedLists::compute(const CollectiveSpec &what,
                            std::span<const float> part,
                            std::span<float> result) {
  const char *name = module.spec().kernels[what.kernel].name.c_str();
  if (what.kind == Collective::AllReduce) {
    if (part.size() != result.size())
      return Status::error(Code::BadFile,
                           "'%s' adds %zu numbers into a place for %zu", name,
                           part.size(), result.size());
    GIST_TRY(allReduce(ranks, part, result, scratch));
  } else if (what.kind == Collective::HandOn) {
    if (part.size() != result.size())
      return Status::error(Code::BadFile,
                           "'%s' hands on %zu numbers into a place for %zu",
                           name, part.size(), result.size());
    // Ranks have different results, so there is nothing to compare.
    return handOn(ranks, what.from, what.to, part, result);
  } else {
    uint64_t width = 0;
    for (int64_t columns : what.columns)
      width += static_cast<uint64_t>(columns);
    auto own = static_cast<uint64_t>(what.columns[ranks.rank()]);
    uint64_t rows = part.size() / own;
    if (rows == 0 || part.size() % own != 0 || result.size() / width != rows ||
        result.size() % width != 0)
      return Status::error(Code::BadFile,
                           "'%s' gathers %zu numbers of %" PRIu64
                           " columns into a place for %zu",
                           name, part.size(), own, result.size());
    GIST_TRY(allGather(ranks, part, what.columns, result, scratch));
  }
  if (calls % kCallsPerCheck == 0)
    hash.update({reinterpret_cast<const uint8_t *>(result.data()),
                 result.size_bytes()});
  return {};
}

Status RankedLists::joinCards() {
  std::string kind = device.info().kind;
  if (kind == "cpu")
    return {};
  void *stream = nullptr;
  GIST_TRY(device.nativeStream(stream));
  Status status = CardRanks::open(kind, ranks, cards);
  return status.code == Code::NotFound ? Status() : status;
}

Status RankedLists::runCollective(const EntryBinding &binding,
                                  const CommandSpec &command,
                                  SymbolValues &symbols,
                                  const MemoryMap &memory) {
  const CollectiveSpec &what = *module.ranks().find(command.kernel);
  // verifyRanks knows that the first two arguments are buffers of f32.
  MemoryMap::Range part, result;
  GIST_TRY(binding.locate(command.args[0].buffer, symbols, memory, part));
  GIST_TRY(binding.locate(command.args[1].buffer, symbols, memory, result));
  // Several rows of columns would have to be moved apart again, which the host
  // does; only scoring a text has them.
  bool isSum = what.kind == Collective::AllReduce;
  uint64_t width = 0;
  for (int64_t columns : what.columns)
    width += static_cast<uint64_t>(columns);
  bool isRow = what.kind == Collective::AllGather &&
               result.size == width * sizeof(float) &&
               part.size == sizeof(float) * static_cast<uint64_t>(
                                                what.columns[ranks.rank()]);
  if (cards && (isSum ? part.size == result.size : isRow)) {
    void *stream = nullptr;
    GIST_TRY(device.nativeStream(stream));
    return isSum ? cards->allReduce(part.address, result.address,
                                    part.size / sizeof(float), stream)
                 : cards->allGather(part.address, what.columns, result.address,
                                    stream);
  }
  const void *read = device.hostPointer(part.address);
  // On a device whose memory the host can read, it can write it too.
  auto *written = const_cast<void *>(device.hostPointer(result.address));
  if (read && written) {
    GIST_TRY(device.synchronize());
    return compute(
        what, {static_cast<const float *>(read), part.size / sizeof(float)},
        {static_cast<float *>(written), result.size / sizeof(float)});
  }
  sent.resize(part.size / sizeof(float));
  GIST_TRY(device.download(part.address, sent.data(), part.size));
  // The download has waited for the upload of the collective before.
  received.resize(result.size / sizeof(float));
  GIST_TRY(compute(what, sent, received));
  return device.upload(
      result.address,
      {reinterpret_cast<const uint8_t *>(received.data()), result.size});
}

Status RankedLists::run(const EntryBinding &binding, SymbolValues &symbols,
                        const MemoryMap &memory,
                        std::vector<CommandTime> *times) {
  WorkWatch::Scope scope = watch();
  const CommandList &bound = binding.list();
  const EntrySpec &entry = binding.entry();
  hash = Hasher();
  for (Piece &piece : findPieces(binding)) {
    GIST_TRY(runPiece(piece, bound, times));
    if (piece.end == entry.commands.size())
      break;
    using Clock = std::chrono::steady_clock;
    auto now = [] {
      return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
    };
    int64_t begin = times ? now() : 0;
    GIST_TRY(
        runCollective(binding, entry.commands[piece.end], symbols, memory));
    if (times)
      times->push_back({begin, now()});
  }
  // While the work is watched; the caller reads the result anyway.
  GIST_TRY(device.synchronize());
  return calls++ % kCallsPerCheck == 0 ? compareHashes(ranks, hash.finish())
                                       : Status();
}
