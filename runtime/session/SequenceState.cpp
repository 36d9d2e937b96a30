//===- SequenceState.cpp - What a model remembers of one sequence ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/SequenceState.h"
#include "runtime/support/Checked.h"

#include <set>

using namespace gist;

Status StateLayout::create(const Module &module, const EntrySpec &entry,
                           StateLayout &layout) {
  StateLayout result;
  result.module = &module;
  const ModuleSpec &spec = module.spec();
  result.symbolC = module.findSymbol(kSymbolCapacity);
  // State lives longer than a call: its size must not depend on one.
  uint64_t allowed =
      result.symbolC == kNone ? 0 : uint64_t{1} << result.symbolC;
  std::set<uint32_t> used;
  for (const CommandSpec &command : entry.commands)
    for (const ArgSpec &arg : command.args)
      if (arg.buffer != kNone &&
          spec.buffers[arg.buffer].kind == BufferKind::State)
        used.insert(arg.buffer);
  for (uint32_t i : used) {
    const BufferSpec &buffer = spec.buffers[i];
    if (exprSymbols(spec.exprs[buffer.size]) & ~allowed)
      return Status::error(Code::BadFile,
                           "state '%s' has a size that changes with a call",
                           buffer.name.c_str());
    result.buffers.push_back(i);
    // Rows by position: nothing has to be cleared, because no kernel reads past
    // the last token. One dimension is the positions: the symbol, or its
    // maximum where the cache has a fixed size.
    Rows rows{.buffer = i, .rowBytes = elementSize(buffer.type)};
    bool hasCapacity = false, isKnown = !buffer.zeroOnReset;
    for (ExprId id : buffer.shape) {
      const Expr &size = spec.exprs[id];
      bool isConstant =
          size.steps.size() == 1 && size.steps[0].op == ExprOp::Const;
      bool isSymbol =
          result.symbolC != kNone && size == Expr::symbol(result.symbolC);
      bool isMost = isConstant && result.symbolC != kNone &&
                    size.steps[0].value == spec.symbols[result.symbolC].max;
      if (isSymbol || isMost) {
        // With two such dimensions it is ambiguous which one is the positions.
        isKnown &= !hasCapacity;
        hasCapacity = true;
        if (isMost)
          rows.positions = static_cast<uint64_t>(size.steps[0].value);
      } else if (isConstant && size.steps[0].value >= 0) {
        uint64_t &factor = hasCapacity ? rows.rowBytes : rows.blocks;
        isKnown &= !mulOverflows(
            factor, static_cast<uint64_t>(size.steps[0].value), factor);
      } else {
        isKnown = false;
      }
    }
    result.byPosition &= isKnown && hasCapacity;
    result.rows.push_back(rows);
  }
  layout = std::move(result);
  return {};
}

Status StateLayout::bytes(int64_t capacity, uint64_t &bytes) const {
  SymbolValues symbols(module->spec());
  if (symbolC != kNone)
    GIST_TRY(symbols.set(symbolC, capacity));
  bytes = 0;
  for (uint32_t i : buffers) {
    const BufferSpec &buffer = module->spec().buffers[i];
    uint64_t size = 0;
    GIST_TRY(symbols.getSize(buffer.size, "size", size).in(buffer.name));
    if (addOverflows(bytes, size, bytes))
      bytes = UINT64_MAX;
  }
  return {};
}

Status SequenceState::create(const StateLayout &layout, Device &device,
                             int64_t capacity,
                             std::unique_ptr<SequenceState> &result) {
  std::unique_ptr<SequenceState> state(new SequenceState(layout, device));
  const ModuleSpec &spec = layout.module->spec();
  SymbolValues symbols(spec);
  if (layout.symbolC != kNone)
    GIST_TRY(symbols.set(layout.symbolC, capacity));
  state->tokens = capacity;
  state->places.resize(spec.buffers.size());
  for (uint32_t i : layout.buffers) {
    const BufferSpec &buffer = spec.buffers[i];
    uint64_t bytes = 0;
    GIST_TRY(symbols.getSize(buffer.size, "size", bytes).in(buffer.name));
    DeviceMemory memory;
    GIST_TRY(device.allocate(bytes, memory).in(buffer.name));
    const StateLayout::Rows &rows = layout.rows[state->memory.size()];
    uint64_t ofRows = 0;
    if (layout.byPosition &&
        (mulOverflows(rows.blocks, rows.rowBytes, ofRows) ||
         mulOverflows(ofRows,
                      rows.positions != 0 ? rows.positions
                                          : static_cast<uint64_t>(capacity),
                      ofRows) ||
         ofRows > bytes))
      return Status::error(Code::BadFile,
                           "state '%s' has a shape of more than its bytes",
                           buffer.name.c_str());
    state->places[i] = {memory.address(), bytes};
    state->size += bytes;
    state->memory.push_back(std::move(memory));
  }
  result = std::move(state);
  return {};
}

Status SequenceState::copyTokens(const SequenceState &from, int64_t begin,
                                 int64_t end) {
  auto first = static_cast<uint64_t>(begin);
  auto count = static_cast<uint64_t>(end - begin);
  if (begin < 0 || end < begin || end > tokens || end > from.tokens)
    return Status::error(Code::BadArgument,
                         "a sequence cannot take over tokens that it or the "
                         "other has no room for");
  for (const StateLayout::Rows &rows : layout.rows) {
    auto strideOf = [&](int64_t capacity) {
      return rows.rowBytes * (rows.positions != 0
                                  ? rows.positions
                                  : static_cast<uint64_t>(capacity));
    };
    uint64_t stride = strideOf(tokens), fromStride = strideOf(from.tokens);
    for (uint64_t block = 0; block < rows.blocks; ++block)
      GIST_TRY(device.copy(places[rows.buffer].address + block * stride +
                               first * rows.rowBytes,
                           from.places[rows.buffer].address +
                               block * fromStride + first * rows.rowBytes,
                           count * rows.rowBytes));
  }
  return {};
}
