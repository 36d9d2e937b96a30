//===- BatchMemory.cpp - What the steps of a batch take of memory ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Batch.h"
#include "runtime/support/Checked.h"

#include <algorithm>

using namespace gist;

Status Batch::setScope(size_t number, int64_t tokens, int64_t before,
                       int64_t capacity) {
  while (scopes.size() <= number)
    scopes.emplace_back(plan.module().spec());
  SymbolValues &symbols = scopes[number].symbols;
  GIST_TRY(plan.symbols().setTokens(symbols, tokens, before));
  return plan.symbols().setCapacity(symbols, capacity);
}

Status Batch::arenaBytes(int64_t tokens, int64_t before, int64_t capacity,
                         uint64_t &bytes) {
  bytes = 0;
  if (plan.entry().arenaSize == kNone)
    return {};
  GIST_TRY(setScope(0, tokens, before, capacity));
  GIST_TRY(
      scopes[0].symbols.getSize(plan.entry().arenaSize, "arena size", bytes));
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return {};
}

Status Batch::reserve(const BatchLimits &limits) {
  int64_t leastCapacity = plan.leastCapacity();
  uint64_t shared = 0, ofShort = 0, ofLong = 0;
  GIST_TRY(arenaBytes(limits.rows, 0, leastCapacity, shared));
  // At the end of the context, where a call needs the most. Sizes are
  // polynomials of the tokens: several pieces need no more for them than one of
  // all their tokens, and what does not grow with tokens once for each.
  int64_t before = std::max<int64_t>(limits.capacity - 1, 0);
  GIST_TRY(arenaBytes(1, before, limits.capacity, ofShort));
  GIST_TRY(arenaBytes(std::max<int64_t>(limits.rowsOfLong, 1), before,
                      limits.capacity, ofLong));
  uint64_t ofPieces = 0;
  if (mulOverflows(ofShort, static_cast<uint64_t>(limits.pieces), ofPieces) ||
      addOverflows(ofPieces, ofLong, ofPieces))
    ofPieces = UINT64_MAX;
  GIST_TRY(device.allocate(shared, arena).in("arena"));
  GIST_TRY(device.allocate(ofPieces, pieceArenas).in("arena"));
  GIST_TRY(device.allocate(static_cast<uint64_t>(limits.rows) *
                               plan.rowBytes(plan.tokens()),
                           tokenMemory));
  GIST_TRY(
      device
          .allocate(static_cast<uint64_t>(limits.wanted) * plan.logitsBytes(),
                    logitsMemory)
          .in("logits"));
  if (!device.numbersByAddress())
    return {};
  for (const CommandSpec &command : plan.entry().commands)
    for (const ArgSpec &arg : command.args)
      if (arg.buffer == kNone)
        numberExprs.push_back(arg.value);
  std::sort(numberExprs.begin(), numberExprs.end());
  numberExprs.erase(std::unique(numberExprs.begin(), numberExprs.end()),
                    numberExprs.end());
  // For all rows, each piece, and the wanted rows.
  uint64_t words =
      (2 + static_cast<uint64_t>(limits.pieces)) * numberExprs.size();
  return device.allocate(words * sizeof(int64_t), numberMemory);
}

/// Looks for the command of an entry that makes `next` of its logits, and
/// reserves what it needs for so many draws in a step.
Status Batch::findSampling(const EntrySpec &entry, int64_t draws) {
  const ModuleSpec &spec = plan.module().spec();
  SymbolValues symbols(spec);
  const CommandSpec &command = entry.commands.back();
  std::map<uint32_t, uint64_t> scratch;
  uint64_t bytes = 0;
  uint32_t from = kNone, by = kNone, to = kNone;
  for (const ArgSpec &arg : command.args) {
    // A command with scalar arguments is not supported here.
    if (arg.buffer == kNone || arg.value != kNone)
      return {};
    const BufferSpec &buffer = spec.buffers[arg.buffer];
    if (buffer.kind == BufferKind::Weight || buffer.kind == BufferKind::State ||
        exprSymbols(spec.exprs[buffer.size]) != 0)
      return {};
    uint64_t size = 0;
    GIST_TRY(symbols.getSize(buffer.size, "size", size).in(buffer.name));
    if (buffer.kind == BufferKind::Input &&
        isCalled(buffer, entry, kTensorSampling) &&
        size == SampleSettings::NumFields * sizeof(int64_t))
      by = arg.buffer;
    else if (buffer.kind == BufferKind::Output &&
             isCalled(buffer, entry, kTensorNext) && size == sizeof(int32_t))
      to = arg.buffer;
    else if (buffer.kind == BufferKind::Output &&
             isCalled(buffer, entry, kTensorLogits) &&
             size == plan.logitsBytes())
      from = arg.buffer;
    else if (buffer.kind == BufferKind::Arena) {
      scratch[arg.buffer] = bytes;
      bytes += (size + kAlignment - 1) / kAlignment * kAlignment;
    } else {
      return {};
    }
  }
  if (from == kNone || by == kNone || to == kNone)
    return {};
  for (ExprId size : command.grid)
    if (size != kNone && exprSymbols(spec.exprs[size]) != 0)
      return {};
  auto count = static_cast<uint64_t>(draws);
  GIST_TRY(device.allocate(count * SampleSettings::NumFields * sizeof(int64_t),
                           settingsMemory));
  GIST_TRY(device.allocate(count * sizeof(int32_t), nextMemory));
  GIST_TRY(device.allocate(count * bytes, drawMemory));
  sampleCommand = &command;
  sampleLogits = from;
  sampleSettings = by;
  sampleNext = to;
  sampleScratch = std::move(scratch);
  scratchOfDraw = bytes;
  return {};
}

Status Batch::reserveTable(int64_t pieces) {
  const std::vector<CommandSpec> &commands = plan.entry().commands;
  size_t words = 0;
  for (size_t i = 0; i < commands.size(); ++i) {
    tableOfCommand.push_back(words);
    if (plan.command(i).sharesLaunch)
      words += commands[i].args.size() * static_cast<size_t>(pieces);
  }
  tableOfCommand.push_back(words);
  if (sampleCommand && plan.isByTable(*sampleCommand))
    words += sampleCommand->args.size() * static_cast<size_t>(pieces);
  table.resize(words);
  return words == 0 ? Status()
                    : device.allocate(words * sizeof(uint64_t), tableMemory);
}

uint64_t Batch::memory() const {
  uint64_t bytes = 0;
  for (const DeviceMemory *memory :
       {&arena, &pieceArenas, &tokenMemory, &logitsMemory, &numberMemory,
        &tableMemory, &settingsMemory, &nextMemory, &drawMemory})
    bytes += memory->size();
  return bytes;
}
