//===- SequenceState.cpp - What a model remembers of one sequence ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/SequenceState.h"

#include "runtime/session/StateStore.h"
#include "runtime/support/Checked.h"

#include <algorithm>
#include <numeric>

using namespace gist;

Status StateLayout::create(const Module &module, const EntrySpec &entry,
                           StateLayout &layout) {
  const ModuleSpec &spec = module.spec();
  std::set<uint32_t> used;
  for (const CommandSpec &command : entry.commands)
    for (const ArgSpec &arg : command.args)
      if (arg.buffer != kNone &&
          spec.buffers[arg.buffer].kind == BufferKind::State)
        used.insert(arg.buffer);
  StateLayout result;
  GIST_TRY(result.initialize(module, used));
  layout = std::move(result);
  return {};
}

Status StateLayout::create(const Module &module, StateLayout &layout) {
  std::set<uint32_t> used;
  for (uint32_t i = 0; i < module.spec().buffers.size(); ++i)
    if (module.spec().buffers[i].kind == BufferKind::State)
      used.insert(i);
  StateLayout result;
  GIST_TRY(result.initialize(module, used));
  layout = std::move(result);
  return {};
}

Status StateLayout::initialize(const Module &source,
                               const std::set<uint32_t> &used) {
  module = &source;
  const ModuleSpec &spec = source.spec();
  symbolC = source.findSymbol(kSymbolCapacity);
  // State lives longer than a call: its size must not depend on one.
  uint64_t allowed = symbolC == kNone ? 0 : uint64_t{1} << symbolC;
  for (uint32_t i : used) {
    const BufferSpec &buffer = spec.buffers[i];
    if (exprSymbols(spec.exprs[buffer.size]) & ~allowed)
      return Status::error(Code::BadFile,
                           "state '%s' has a size that changes with a call",
                           buffer.name.c_str());
    buffers.push_back(i);
    // Rows by position: nothing has to be cleared, because no kernel reads past
    // the last token. One dimension is the positions: the symbol, or its
    // maximum where the cache has a fixed size.
    Rows rows{.buffer = i, .rowBytes = elementSize(buffer.type)};
    bool hasCapacity = false, isKnown = !buffer.zeroOnReset;
    for (ExprId id : buffer.shape) {
      const Expr &size = spec.exprs[id];
      bool isConstant =
          size.steps.size() == 1 && size.steps[0].op == ExprOp::Const;
      bool isSymbol = symbolC != kNone && size == Expr::symbol(symbolC);
      bool isMost = isConstant && symbolC != kNone &&
                    size.steps[0].value == spec.symbols[symbolC].max;
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
    rows.isKnown = isKnown && hasCapacity;
    byPosition &= rows.isKnown;
    packs &= rows.isKnown || exprSymbols(spec.exprs[buffer.size]) == 0;
    this->rows.push_back(rows);
  }
  return {};
}

Status StateLayout::places(int64_t capacity, uint64_t alignment,
                           std::vector<MemoryMap::Range> &places,
                           uint64_t &size) const {
  SymbolValues symbols(module->spec());
  if (symbolC != kNone)
    GIST_TRY(symbols.set(symbolC, capacity));
  places.assign(module->spec().buffers.size(), {});
  size = 0;
  for (uint32_t i : buffers) {
    const BufferSpec &buffer = module->spec().buffers[i];
    uint64_t bytes = 0, end = 0;
    GIST_TRY(symbols.getSize(buffer.size, "size", bytes).in(buffer.name));
    places[i] = {size, bytes};
    if (addOverflows(size, bytes, end) || addOverflows(end, alignment - 1, end))
      return Status::error(Code::BadFile, "state '%s' is too large",
                           buffer.name.c_str());
    size = end / alignment * alignment;
  }
  return {};
}

Status StateLayout::bytes(int64_t capacity, uint64_t &bytes) const {
  std::vector<MemoryMap::Range> places;
  return this->places(capacity, 1, places, bytes);
}

int64_t StateLayout::tokensOfPages(uint64_t page) const {
  uint64_t tokens = 1;
  for (const Rows &rows : this->rows) {
    if (!rows.isKnown || rows.rowBytes == 0 ||
        (rows.positions != 0 && rows.positions * rows.rowBytes % page != 0))
      return 0;
    // Divisors of a page, which is a power of two.
    tokens = std::max(tokens, page / std::gcd(page, rows.rowBytes));
  }
  return static_cast<int64_t>(tokens);
}

Status SequenceState::create(const StateLayout &layout, Device &device,
                             int64_t capacity,
                             std::unique_ptr<SequenceState> &result) {
  std::unique_ptr<SequenceState> state(new SequenceState(layout, device));
  const ModuleSpec &spec = layout.module->spec();
  state->tokens = capacity;
  uint64_t whole = 0;
  GIST_TRY(layout.places(capacity, 1, state->places, whole));
  for (uint32_t i : layout.buffers) {
    const BufferSpec &buffer = spec.buffers[i];
    uint64_t bytes = state->places[i].size;
    DeviceMemory memory;
    GIST_TRY(device.allocate(bytes, memory).in(buffer.name));
    const StateLayout::Rows &rows = layout.rows[state->memory.size()];
    uint64_t ofRows = 0;
    if (rows.isKnown &&
        (mulOverflows(rows.blocks, rows.rowBytes, ofRows) ||
         mulOverflows(ofRows,
                      rows.positions != 0 ? rows.positions
                                          : static_cast<uint64_t>(capacity),
                      ofRows) ||
         ofRows > bytes))
      return Status::error(Code::BadFile,
                           "state '%s' has a shape of more than its bytes",
                           buffer.name.c_str());
    state->places[i].address = memory.address();
    state->size += bytes;
    state->memory.push_back(std::move(memory));
  }
  result = std::move(state);
  return {};
}

int64_t SequenceState::shownTokens() const {
  return shown.empty() ? 0 : shown.back()->end;
}

SequenceState::~SequenceState() {
  if (store)
    store->freeMappings(mappings);
}

Status StateLayout::findPieces(const std::vector<MemoryMap::Range> &places,
                               int64_t capacity, int64_t begin, int64_t end,
                               std::vector<MemoryMap::Range> &pieces) const {
  if (begin < 0 || end < begin || end > capacity)
    return Status::error(Code::BadArgument,
                         "a sequence cannot take over tokens that it or the "
                         "other has no room for");
  auto first = static_cast<uint64_t>(begin);
  auto count = static_cast<uint64_t>(end - begin);
  for (const Rows &rows : this->rows) {
    if (!rows.isKnown) {
      pieces.push_back(places[rows.buffer]);
      continue;
    }
    uint64_t positions =
        rows.positions != 0 ? rows.positions : static_cast<uint64_t>(capacity);
    for (uint64_t block = 0; block < rows.blocks; ++block)
      pieces.push_back({places[rows.buffer].address +
                            (block * positions + first) * rows.rowBytes,
                        count * rows.rowBytes});
  }
  return {};
}

Status SequenceState::copyTokens(const SequenceState &from, int64_t begin,
                                 int64_t end) {
  std::vector<MemoryMap::Range> to, source;
  GIST_TRY(findPieces(begin, end, to));
  GIST_TRY(from.findPieces(begin, end, source));
  for (size_t i = 0; i < to.size(); ++i)
    GIST_TRY(device.copy(to[i].address, source[i].address, to[i].size));
  return {};
}

/// Bytes of all pieces together.
static uint64_t sizeOf(const std::vector<MemoryMap::Range> &pieces) {
  uint64_t bytes = 0;
  for (const MemoryMap::Range &piece : pieces)
    bytes += piece.size;
  return bytes;
}

Status SequenceState::packedBytes(int64_t begin, int64_t end,
                                  uint64_t &bytes) const {
  std::vector<MemoryMap::Range> pieces;
  GIST_TRY(findPieces(begin, end, pieces));
  bytes = sizeOf(pieces);
  return {};
}

Status SequenceState::pack(int64_t begin, int64_t end,
                           DeviceMemory &packed) const {
  std::vector<MemoryMap::Range> pieces;
  GIST_TRY(findPieces(begin, end, pieces));
  DeviceMemory memory;
  GIST_TRY(device.allocate(sizeOf(pieces), memory));
  DeviceAddress to = memory.address();
  for (const MemoryMap::Range &piece : pieces) {
    GIST_TRY(device.copy(to, piece.address, piece.size));
    to += piece.size;
  }
  packed = std::move(memory);
  return {};
}

Status SequenceState::unpack(int64_t begin, int64_t end,
                             const DeviceMemory &packed) {
  std::vector<MemoryMap::Range> pieces;
  GIST_TRY(findPieces(begin, end, pieces));
  if (sizeOf(pieces) != packed.size())
    return Status::error(Code::BadArgument,
                         "a state of %" PRIu64
                         " bytes was packed, but the sequence has %" PRIu64,
                         packed.size(), sizeOf(pieces));
  DeviceAddress from = packed.address();
  for (const MemoryMap::Range &piece : pieces) {
    GIST_TRY(device.copy(piece.address, from, piece.size));
    from += piece.size;
  }
  return {};
}
