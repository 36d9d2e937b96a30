//===- Staging.cpp - Loads of the operands of a product -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Matmul/Staging.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "passes/Tile/Gpu/Core/Registers.h"
#include "passes/Tile/Gpu/Elements/Dequantize.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace gist;

//===----------------------------------------------------------------------===//
// Operand
//===----------------------------------------------------------------------===//

Operand::Operand(ElementEmitter &emitter, Value tensor, int64_t perRow)
    : b(emitter.getBuilder()), emitter(emitter), tensor(tensor),
      rows(b.mul(emitter.size(tensor, 0), perRow)),
      depth(cast<RankedTensorType>(tensor.getType()).getDimSize(1) / perRow),
      perRow(perRow), memory(emitter.asMemory(tensor)) {
  if (memory && !memory->isContiguous())
    memory.reset();
  auto dequantize = tensor.getDefiningOp<DequantizeOp>();
  if (memory || !dequantize)
    return;
  memory = emitter.asMemory(dequantize.getBlocks());
  if (memory)
    blocks = dequantize;
  assert((!blocks || perRow == 1) && "blocks are of one row");
}

Operand::Values Operand::getIndices(Value row, Value k) const {
  if (perRow == 1)
    return {row, k};
  return {b.div(row, perRow), b.add(b.mul(b.rem(row, perRow), depth), k)};
}

bool Operand::isCopyable(Type element) const {
  // Rows must begin where 16 bytes do.
  return memory && !blocks && depth % getPiece() == 0 &&
         getElementTypeOrSelf(tensor) == element &&
         (element.getIntOrFloatBitWidth() == 16 || isBytes()) &&
         memory->strides[0] % getPiece() == 0;
}

/// k, clamped so that `width` numbers from there on are in bounds.
Value Operand::clamp(Value k, int64_t width, bool checked) {
  return checked ? b.min(k, b.index(depth - width)) : k;
}

Value Operand::dequantizePiece(Value k,
                               function_ref<Value(Value, int64_t)> readBytes) {
  int64_t run = getBlockRun(blocks.getFormat());
  int64_t values = getBlockLayout(blocks.getFormat()).values;
  Value first = values == getPiece() ? b.index(0) : b.rem(k, values);
  Values runs;
  for (int64_t i = 0; i < getPiece(); i += run)
    runs.push_back((keepsScales ? dequantizeAhead : dequantize)(
        b, blocks.getFormat(), b.add(first, i), run, readBytes));
  return b.concat(runs);
}

Operand::Values Operand::fetch(Value row, Value k, bool checked) {
  Values fetched;
  if (blocks) {
    // What is computed here is dropped: only the order of the loads counts.
    k = clamp(k, getPiece(), checked);
    Value block = b.div(k, getBlockLayout(blocks.getFormat()).values);
    dequantizePiece(k, [&](Value offset, int64_t count) {
      SmallVector<Value> place = memory->at({row, block, offset});
      fetched.push_back(count == 1 ? b.read(memory->buffer, place)
                                   : b.read(memory->buffer, place, count));
      return fetched.back();
    });
    return fetched;
  }
  // A read of this width never crosses the end of a row: it is in bounds as a
  // whole or not at all, which is what finish() checks.
  int64_t width = std::gcd(getPiece(), depth);
  for (int64_t i = 0; i < getPiece(); i += width) {
    Value at = clamp(b.add(k, i), width, checked);
    Values indices = getIndices(row, at);
    fetched.push_back(memory && width > 1
                          ? b.read(memory->buffer, memory->at(indices), width)
                      : width > 1 ? emitter.elements(tensor, indices, width)
                                  : emitter.element(tensor, indices));
  }
  return fetched;
}

Value Operand::finish(Value k, ValueRange fetched, bool checked, Type element) {
  auto orZero = [&](Value numbers, int64_t offset) {
    if (!isBytes())
      numbers = b.convert(numbers, element);
    if (!checked)
      return numbers;
    return b.select(b.isLess(b.add(k, offset), depth), numbers,
                    b.constant(numbers.getType(), 0));
  };
  if (blocks) {
    // The same code again, this time on the bytes that fetch() has read, which
    // come in the order in which it asked for them.
    size_t number = 0;
    Value numbers =
        dequantizePiece(clamp(k, getPiece(), checked),
                        [&](Value, int64_t) { return fetched[number++]; });
    return orZero(numbers, 0);
  }
  int64_t width = getPiece() / static_cast<int64_t>(fetched.size());
  Values parts;
  for (auto [i, part] : llvm::enumerate(fetched))
    parts.push_back(orZero(part, static_cast<int64_t>(i) * width));
  return parts.size() == 1 ? parts.front() : b.concat(parts);
}

//===----------------------------------------------------------------------===//
// TileLoader
//===----------------------------------------------------------------------===//

TileLoader::TileLoader(GpuBuilder &b, Operand &operand, const SharedTile &tile,
                       Value first)
    : TileLoader(
          b, operand, tile,
          [&](Value place) {
            return b.min(b.add(first, place), b.sub(operand.getRows(), 1));
          },
          nullptr) {
  // Rows past the end are not read: copies of one row by all workgroups at once
  // would wait for each other at the second level cache.
  std::optional<int64_t> rows = getConstantIntValue(operand.getRows());
  if (async && !(rows && *rows % tile.getRows() == 0))
    for (Piece &piece : pieces)
      piece.there = b.isLess(b.add(first, piece.place), operand.getRows());
}

TileLoader::TileLoader(GpuBuilder &b, Operand &operand, const SharedTile &tile,
                       RowMap getRow, RowMap isThere)
    : b(b), operand(operand), tile(tile),
      async(b.getGpu().kind == GpuKind::Nvidia &&
            operand.isCopyable(tile.getElement())),
      checked(operand.getDepth() % tile.getColumns() != 0) {
  int64_t width = operand.getPiece();
  int64_t columns = tile.getColumns() / width;
  int64_t count = tile.getRows() * columns;
  for (int64_t begin = 0; begin < count; begin += b.getThreads()) {
    Value number = b.add(b.thread(), begin);
    Piece piece;
    // The last round may have fewer pieces than threads. The others address the
    // last piece, so that they may fetch, but do not store.
    if (begin + b.getThreads() > count) {
      piece.inside = b.isLess(number, count);
      number = b.min(number, b.index(count - 1));
    }
    piece.place = b.div(number, columns);
    piece.column = b.mul(b.rem(number, columns), width);
    piece.row = getRow(piece.place);
    if (isThere)
      piece.there = isThere(piece.place);
    pieces.push_back(piece);
  }
}

/// Bytes as words, which registers hold: bytes that live on in another block
/// would take a register each.
static Value packValue(GpuBuilder &b, Value value, bool keepsScales) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type || type.getElementTypeBitWidth() != 8)
    return value;
  int64_t bytes = type.getNumElements();
  if (keepsScales && bytes == 2) {
    // Half of a word. The other half is undefined: clearing it would wait for
    // the load.
    Value half =
        vector::BitCastOp::create(b, b.vectorOf(1, b.getI16Type()), value);
    Value pair = b.shuffle(half, half, {0, vector::ShuffleOp::kPoisonIndex});
    Value word =
        vector::BitCastOp::create(b, b.vectorOf(1, b.getI32Type()), pair);
    return b.extract(word, 0);
  }
  Type word = bytes % 4 == 0 ? b.getI32Type() : b.getI16Type();
  int64_t words = bytes * 8 / word.getIntOrFloatBitWidth();
  return vector::BitCastOp::create(b, b.vectorOf(words, word), value);
}

static Value unpackValue(GpuBuilder &b, Value value, Type type) {
  if (value.getType() == type)
    return value;
  auto words = dyn_cast<VectorType>(value.getType());
  if (!words) {
    // LLVM would convert a scale where it is loaded, and wait for it there.
    value = keepWhole(b, value);
    Value half = arith::TruncIOp::create(b, b.getI16Type(), value);
    Value single =
        vector::BroadcastOp::create(b, b.vectorOf(1, b.getI16Type()), half);
    return vector::BitCastOp::create(b, cast<VectorType>(type), single);
  }
  if (words.getElementType().isInteger(32) && words.getNumElements() > 1 &&
      llvm::isPowerOf2_64(words.getNumElements()))
    value = keepWhole(b, value);
  return vector::BitCastOp::create(b, cast<VectorType>(type), value);
}

TileLoader::Values TileLoader::fetchPiece(const Piece &piece, Value k) {
  Values fetched = operand.fetch(piece.row, b.add(k, piece.column), checked);
  // All pieces have the same types, so the last ones stand for all in store().
  types.clear();
  for (Value &value : fetched) {
    types.push_back(value.getType());
    value = packValue(b, value, operand.hasKeptScales());
  }
  return fetched;
}

void TileLoader::storePiece(const Piece &piece, Value k, ValueRange fetched,
                            Value stage) {
  Values values;
  for (auto [value, type] : llvm::zip_equal(fetched, types))
    values.push_back(unpackValue(b, value, type));
  Value numbers = operand.finish(b.add(k, piece.column), values, checked,
                                 tile.getElement());
  if (piece.there)
    numbers = b.select(piece.there, numbers, b.constant(numbers.getType(), 0));
  auto write = [&] {
    int64_t chunk = tile.getChunk();
    for (int64_t j = 0; j < operand.getPiece(); j += chunk)
      tile.store(b, b.slice(numbers, j, chunk), stage, piece.place,
                 b.add(piece.column, j));
  };
  if (piece.inside)
    b.ifThen(piece.inside, write);
  else
    write();
}

TileLoader::Values TileLoader::fetch(Value k) {
  Values fetched;
  for (const Piece &piece : pieces)
    llvm::append_range(fetched, fetchPiece(piece, k));
  return fetched;
}

void TileLoader::store(Value k, ValueRange fetched, Value stage) {
  for (const Piece &piece : pieces) {
    storePiece(piece, k, fetched.take_front(types.size()), stage);
    fetched = fetched.drop_front(types.size());
  }
}

void TileLoader::copy(Value k, Value stage) {
  int64_t width = operand.getPiece();
  for (const Piece &piece : pieces) {
    Value column = b.add(k, piece.column);
    // Past the end nothing is read and the chunk is filled with zeros.
    Value count = b.select(b.isLess(column, operand.getDepth()), b.index(width),
                           b.index(0));
    if (piece.there)
      count = b.select(piece.there, count, b.index(0));
    // The address stays inside of the row, even where no byte is read from it.
    Value at = b.min(column, b.index(operand.getDepth() - width));
    auto [buffer, place] = operand.getPlace(piece.row, at);
    auto write = [&, &buffer = buffer, &place = place] {
      nvgpu::DeviceAsyncCopyOp::create(
          b, nvgpu::DeviceAsyncTokenType::get(b.getContext()), tile.getBuffer(),
          ValueRange{stage, piece.place,
                     tile.getPlace(b, piece.place, piece.column)},
          buffer, place, b.getIndexAttr(width), count, b.getUnitAttr());
    };
    if (piece.inside)
      b.ifThen(piece.inside, write);
    else
      write();
  }
}

void gist::keepOrder(GpuBuilder &b) {
  if (b.getGpu().kind == GpuKind::Amd)
    amdgpu::SchedBarrierOp::create(b, amdgpu::sched_barrier_opt_enum::none);
}

/// What the scheduler of gfx942 calls instructions.
/// These are bits of the mask of llvm.amdgcn.sched.group.barrier: VALU, MFMA,
/// VMEM reads, DS reads and DS writes.
enum : uint32_t {
  kVector = 0x2,
  kMatrix = 0x8,
  kLoad = 0x20,
  kRead = 0x100,
  kWrite = 0x200
};

static void addGroup(GpuBuilder &b, uint32_t kind, uint32_t size) {
  ROCDL::SchedGroupBarrier::create(b, kind, size, /*groupId=*/0);
}

void gist::interleaveConversions(GpuBuilder &b, int64_t numMatrix) {
  if (b.getGpu().kind != GpuKind::Amd)
    return;
  // About as many as are issued while a matrix instruction runs.
  constexpr uint32_t kVectorsAtOnce = 6;
  for (int64_t i = 0; i < numMatrix; ++i) {
    addGroup(b, kMatrix, 1);
    addGroup(b, kVector, kVectorsAtOnce);
  }
  keepOrder(b);
}

void gist::interleaveLoads(GpuBuilder &b, int64_t numMatrix, int64_t numReads,
                           int64_t numLoads) {
  if (b.getGpu().kind != GpuKind::Amd)
    return;
  // Reads are ahead of what needs them, and done when loads begin.
  constexpr int64_t kReadsAtOnce = 2;
  addGroup(b, kRead, kReadsAtOnce);
  int64_t reads = kReadsAtOnce, loads = 0;
  for (int64_t i = 0; i < numMatrix; ++i) {
    addGroup(b, kMatrix, 1);
    if (reads < numReads) {
      addGroup(b, kRead, kReadsAtOnce);
      reads += kReadsAtOnce;
    } else if (loads < numLoads) {
      addGroup(b, kLoad, 1);
      ++loads;
    }
    // What was loaded before is stored last: it has the longest time to arrive.
    if (i >= numMatrix - numLoads)
      addGroup(b, kWrite, 1);
  }
  keepOrder(b);
}

void gist::interleaveWeights(GpuBuilder &b, int64_t numScores, int64_t numOut,
                             int64_t numReads, int64_t numFirst) {
  if (b.getGpu().kind != GpuKind::Amd)
    return;
  // Reads are ahead of what needs them, and no further than this: what is read
  // takes registers.
  constexpr int64_t kReadsAhead = 8;
  constexpr uint32_t kVectorsBesideScores = 3, kVectorsBesideOut = 6;
  int64_t numMatrix = numScores + numOut, perRead = numMatrix / numReads;
  addGroup(b, kRead, kReadsAhead + numFirst);
  int64_t reads = kReadsAhead;
  for (int64_t i = 0; i < numMatrix; ++i) {
    addGroup(b, kMatrix, 1);
    if (i % perRead == 0 && reads < numReads) {
      addGroup(b, kRead, 1);
      ++reads;
    }
    addGroup(b, kVector,
             i < numScores ? kVectorsBesideScores : kVectorsBesideOut);
  }
  keepOrder(b);
}

void gist::closeCopies(GpuBuilder &b) {
  // Not nvgpu.device_async_create_group: without operands, the parser takes
  // what follows it for one.
  NVVM::CpAsyncCommitGroupOp::create(b);
}

void gist::waitForCopies(GpuBuilder &b, int64_t pending) {
  NVVM::CpAsyncWaitGroupOp::create(b, b.getI32IntegerAttr(pending));
}

void gist::prefetchLine(GpuBuilder &b, Value buffer, ValueRange indices) {
  auto type = cast<MemRefType>(buffer.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  assert(b.getGpu().kind == GpuKind::Nvidia && offset == 0 &&
         "what chooses tiles knows that");
  Value place = b.index(0);
  for (auto [index, stride] : llvm::zip_equal(indices, strides))
    place = b.add(place, b.mul(index, stride));
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  Value address = b.add(base, b.mul(place, type.getElementTypeBitWidth() / 8));
  constexpr unsigned kGlobalSpace = 1;
  Value pointer = LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), kGlobalSpace),
      arith::IndexCastOp::create(b, b.getI64Type(), address).getResult());
  NVVM::PrefetchOp::create(b,
                           NVVM::PrefetchCacheLevelAttr::get(
                               b.getContext(), NVVM::PrefetchCacheLevel::L2),
                           /*evictPriority=*/nullptr, pointer,
                           /*predicate=*/Value(), /*tensormap=*/nullptr,
                           /*uniform=*/nullptr, /*in_param_space=*/nullptr);
}
