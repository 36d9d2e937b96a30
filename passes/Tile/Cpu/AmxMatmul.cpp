//===- AmxMatmul.cpp - 8-bit products by tiles of AMX ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What QuantizedMatmul.cpp computes, in the same order and so with the same
// bits. A workgroup copies its rows once into tiles, block by block, and
// unpacks 16 columns at a time; every tile of rows then meets them. The tile
// unit multiplies a whole block and stores integers, which vectors of 16 lanes
// scale and add, four operations for each row: that takes longer than the
// product. Neighbouring blocks have their integers in different places, so that
// a tile need not wait for the vectors before it; storing a block ahead of the
// vectors gained nothing more.
//
// The integers go through memory, and tensors cannot say where tiles are: the
// scratch is buffers from the start.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/AmxMatmul.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Tile/Cpu/PackedWeights.h"

using namespace mlir;
using namespace gist;
using Values = TileBuilder::Values;

static constexpr int64_t kBlock = PackingAttr::kBlock;
/// Columns of a tile, which are the lanes of a vector.
static constexpr int64_t kLanes = 16;
/// Bytes along the reduction that a lane of 32 bits has.
static constexpr int64_t kDeep = 4;
/// Bytes of a vector, and of a row of a tile of weights.
static constexpr int64_t kBytes = kLanes * kDeep;
/// Blocks that have a place for integers each.
static constexpr int64_t kSlots = 2;

namespace {
class AmxProduct {
public:
  AmxProduct(TileBuilder &b, QuantizedMatmulOp op, CpuProductAttr tile);

  Value emit(Value result);

private:
  void emitBuffers(int64_t maxTiles);
  void emitRow(Value tile, Value row);
  void emitRowNumbers(Value tile, Value row, Value source, Value block);
  void emitColumns(Value columns);
  void emitDots(Value tile, Value block, int64_t slot);
  Values emitScaled(Value tile, Value block, int64_t slot, Values total);
  Values emitBlocks(Value tile, Value first, int64_t count, Values total);
  Value emitTile(Value columns, Value tile, Value result);

  /// Row `row` of a tile; the last tile repeats the last row, also in what it
  /// writes.
  Value getRow(Value tile, Value row);
  Value atMost(Value x, Value limit) {
    return arith::MinSIOp::create(b, x, limit);
  }
  Value createBuffer(ArrayRef<int64_t> shape, Type element) {
    return memref::AllocOp::create(b, MemRefType::get(shape, element));
  }
  Value load(Value buffer, ValueRange indices, int64_t lanes) {
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    return vector::LoadOp::create(b, b.vectorOf(lanes, element), buffer,
                                  indices);
  }
  void store(Value vector, Value buffer, ValueRange indices) {
    vector::StoreOp::create(b, vector, buffer, indices);
  }
  Value broadcastFrom(Value buffer, ValueRange indices) {
    return b.broadcast(memref::LoadOp::create(b, buffer, indices), kLanes);
  }
  Value toFloat(Value integers) {
    auto type = cast<VectorType>(integers.getType());
    return arith::SIToFPOp::create(b, type.clone(f32), integers);
  }
  void repeat(int64_t count, function_ref<void(Value)> body) {
    b.loop(b.index(0), b.index(count), 1, {}, [&](Value i, ValueRange) {
      body(i);
      return Values{};
    });
  }

  TileBuilder &b;
  PackingAttr packing;
  PackedWeights weights;
  CpuProductAttr tile;
  Value values, scales, weight;
  Type i8, i32, f32;
  int64_t blocks, group, groups, rows;
  bool isPadded;

  /// i8 [tile][block][row][32]; f32 [tile][row][block] and, where there are
  /// offsets, what readRowSums gives, [tile][row][block, group].
  Value rowBytes, rowScales, rowSums;
  /// i8 [block][step][64]; f32 [block][group][16] each, offsets only of minima.
  Value columnBytes, columnScales, columnOffsets;
  /// i32 [slot][group][row][16].
  Value dots;
};
} // namespace

AmxProduct::AmxProduct(TileBuilder &b, QuantizedMatmulOp op,
                       CpuProductAttr tile)
    : b(b), packing(op.getPackedAttr()), weights(b, op, tile.getInstruction()),
      tile(tile), values(op.getValues()), scales(op.getScales()),
      weight(op.getWeight()), i8(b.getI8Type()), i32(b.getI32Type()),
      f32(b.getF32Type()), blocks(op.getScales().getType().getDimSize(1)),
      group(packing.getGroup()), groups(kBlock / group),
      rows(tile.getRegisters()[0]),
      isPadded(op.getType().isDynamicDim(1) ||
               op.getType().getDimSize(1) % kLanes != 0) {}

void AmxProduct::emitBuffers(int64_t maxTiles) {
  rowBytes = createBuffer({maxTiles, blocks, rows, kBlock}, i8);
  rowScales = createBuffer({maxTiles, rows, blocks}, f32);
  columnBytes = createBuffer({blocks, kBlock / kDeep, kBytes}, i8);
  columnScales = createBuffer({blocks, groups, kLanes}, f32);
  dots = createBuffer({kSlots, groups, rows, kLanes}, i32);
  if (!weights.hasOffset())
    return;
  rowSums = createBuffer({maxTiles, rows, blocks * groups},
                         packing.getZero() ? i32 : f32);
  if (packing.getHasMin())
    columnOffsets = createBuffer({blocks, groups, kLanes}, f32);
}

bool gist::isPackedForAmx(PackingAttr packing) {
  return packing.getColumns() == kLanes && packing.getDepth() == kDeep &&
         !packing.getIsSigned();
}

/// Bytes of what emitBuffers() allocates, with offsets and without `dots`,
/// which are small. Scales and sums are f32, hence the 4.
int64_t gist::getAmxScratch(PackingAttr packing, int64_t depth, int64_t rows) {
  int64_t groups = depth / packing.getGroup();
  int64_t ofRow = depth + 4 * depth / kBlock + 4 * groups;
  int64_t ofColumn = depth + 2 * 4 * groups;
  return rows * ofRow + kLanes * ofColumn;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

Value AmxProduct::getRow(Value tile, Value row) {
  Value number = b.add(b.mul(tile, rows), row);
  return atMost(number, b.add(b.size(values, 0), -1));
}

/// Scales and scaled sums of a row, as many as a vector has, from `block` on.
void AmxProduct::emitRowNumbers(Value tile, Value row, Value source,
                                Value block) {
  int64_t lanes = std::min(blocks, kLanes / groups);
  Value scale = b.read(scales, {source, block}, b.vectorOf(lanes, f32));
  store(scale, rowScales, {tile, row, block});
  if (!weights.hasOffset())
    return;
  if (lanes * groups == kLanes) {
    auto addFours = [&](Value bytes) {
      return createVpdpbusd(b, b.splat(kLanes, i32, 0), b.splat(kBytes, i8, 1),
                            bytes);
    };
    store(
        readRowSums(b, packing, values, source, block, scale, kLanes, addFours),
        rowSums, {tile, row, b.mul(block, groups)});
    return;
  }
  // A short row is not worth a vector.
  for (int64_t i = 0; i < lanes * groups; ++i) {
    Value bytes =
        b.read(values, {source, b.index(i * group)}, b.vectorOf(group, i8));
    Value sum = vector::ReductionOp::create(
        b, vector::CombiningKind::ADD,
        arith::ExtSIOp::create(b, b.vectorOf(group, i32), bytes));
    if (int64_t zero = packing.getZero())
      sum = arith::MulIOp::create(b, sum,
                                  arith::ConstantIntOp::create(b, i32, -zero));
    else
      sum = b.mul(arith::SIToFPOp::create(b, f32, sum),
                  vector::ExtractOp::create(b, scale, i / groups));
    memref::StoreOp::create(b, sum, rowSums, ValueRange{tile, row, b.index(i)});
  }
}

void AmxProduct::emitRow(Value tile, Value row) {
  Value source = getRow(tile, row);
  repeat(blocks, [&](Value block) {
    Value bytes =
        b.read(values, {source, b.mul(block, kBlock)}, b.vectorOf(kBlock, i8));
    store(bytes, rowBytes, {tile, block, row, b.index(0)});
  });
  int64_t lanes = std::min(blocks, kLanes / groups);
  repeat(llvm::divideCeil(blocks, lanes), [&](Value part) {
    // The last vector overlaps the one before.
    Value block = atMost(b.mul(part, lanes), b.index(blocks - lanes));
    emitRowNumbers(tile, row, source, block);
  });
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

void AmxProduct::emitColumns(Value columns) {
  repeat(blocks, [&](Value block) {
    Values steps = weights.readSteps(columns, block, kBytes);
    for (auto [i, step] : llvm::enumerate(steps))
      store(step, columnBytes, {block, b.index(i), b.index(0)});
    for (int64_t part = 0; part < groups; ++part) {
      ColumnScales scale = weights.readScales(columns, block, part);
      Values to = {block, b.index(part), b.index(0)};
      store(scale.scale, columnScales, to);
      if (columnOffsets)
        store(scale.offset, columnOffsets, to);
    }
  });
}

//===----------------------------------------------------------------------===//
// A tile
//===----------------------------------------------------------------------===//

/// The integers of one block.
void AmxProduct::emitDots(Value tile, Value block, int64_t slot) {
  // Each group starts from zeros: it has scales of its own, so that integers of
  // two groups cannot be added. Rows have signs and weights have none.
  auto sums = amx::TileType::get({rows, kLanes}, i32);
  auto ofRows = amx::TileType::get({rows, group}, i8);
  auto ofColumns = amx::TileType::get({group / kDeep, kBytes}, i8);
  Value zero = b.index(0);
  for (int64_t part = 0; part < groups; ++part) {
    Value x = amx::TileLoadOp::create(
        b, ofRows, rowBytes,
        ValueRange{tile, block, zero, b.index(part * group)});
    Value u = amx::TileLoadOp::create(
        b, ofColumns, columnBytes,
        ValueRange{block, b.index(part * group / kDeep), zero});
    Value sum =
        amx::TileMulIOp::create(b, sums, x, u, amx::TileZeroOp::create(b, sums),
                                /*isZextLhs=*/false, /*isZextRhs=*/true);
    amx::TileStoreOp::create(
        b, dots, ValueRange{b.index(slot), b.index(part), zero, zero}, sum);
  }
}

/// Adds the integers of one block to `total`, which has a vector for each row.
Values AmxProduct::emitScaled(Value tile, Value block, int64_t slot,
                              Values total) {
  Value zero = b.index(0);
  for (int64_t part = 0; part < groups; ++part) {
    Values at = {block, b.index(part), zero};
    Value d = load(columnScales, at, kLanes);
    Value m = columnOffsets ? load(columnOffsets, at, kLanes) : Value();
    Value number = b.add(b.mul(block, groups), part);
    for (int64_t i = 0; i < rows; ++i) {
      Value row = b.index(i);
      Value sum = load(dots, {b.index(slot), b.index(part), row, zero}, kLanes);
      if (packing.getZero())
        sum = arith::AddIOp::create(
            b, sum, broadcastFrom(rowSums, {tile, row, number}));
      Value scale = b.mul(d, broadcastFrom(rowScales, {tile, row, block}));
      total[i] = b.fma(toFloat(sum), scale, total[i]);
      if (m)
        total[i] =
            b.fma(broadcastFrom(rowSums, {tile, row, number}), m, total[i]);
    }
  }
  return total;
}

Values AmxProduct::emitBlocks(Value tile, Value first, int64_t count,
                              Values total) {
  for (int64_t i = 0; i < count; ++i) {
    Value block = b.add(first, i);
    emitDots(tile, block, i);
    total = emitScaled(tile, block, i, total);
  }
  return total;
}

Value AmxProduct::emitTile(Value columns, Value tile, Value result) {
  Values inits(rows, b.splat(kLanes, f32, 0));
  int64_t whole = blocks / kSlots * kSlots;
  Values total =
      b.loop(b.index(0), b.index(whole), kSlots, inits,
             [&](Value block, ValueRange carried) {
               return emitBlocks(tile, block, kSlots, Values(carried));
             });
  // The rest is less than kSlots, so that every block has a place here too.
  total = emitBlocks(tile, b.index(whole), blocks - whole, total);
  Value column = b.mul(columns, kLanes);
  for (int64_t i = 0; i < rows; ++i)
    result = b.write(total[i], result, {getRow(tile, b.index(i)), column},
                     !isPadded);
  return result;
}

Value AmxProduct::emit(Value result) {
  Value zero = b.index(0);
  Value tiles = b.ceilDiv(b.size(values, 0), rows);
  emitBuffers(llvm::divideCeil(tile.getRows(), rows));
  b.loop(zero, tiles, 1, {}, [&](Value number, ValueRange) {
    repeat(rows, [&](Value row) { emitRow(number, row); });
    return Values{};
  });
  return b.loop(zero, b.size(weight, 0), 1, result,
                [&](Value columns, ValueRange carried) {
                  emitColumns(columns);
                  return b.loop(zero, tiles, 1, carried,
                                [&](Value number, ValueRange inner) {
                                  return Values{
                                      emitTile(columns, number, inner[0])};
                                });
                })[0];
}

Value gist::emitAmxMatmul(TileBuilder &b, QuantizedMatmulOp op,
                          CpuProductAttr tile, Value result) {
  return AmxProduct(b, op, tile).emit(result);
}
