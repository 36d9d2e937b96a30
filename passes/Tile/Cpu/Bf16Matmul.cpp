//===- Bf16Matmul.cpp - Float products by tiles of AMX --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// y = x W^T for many rows of x. The tile unit multiplies A, rows of numbers,
// with B, where the two numbers 2k and 2k + 1 of a column lie side by side.
// Rows of the weight are what A wants, so they are A: for f16 they are only
// narrowed, not turned. Rows of x are turned into B once for all columns of the
// workgroup. Sums come out as W x^T, and are turned when they are added to the
// result.
//
// Numbers that bf16 cannot hold are sums of two (#gist.cpu_bf16_product). For
// f16 that is exact: 11 bits are 8 and 3.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/Bf16Matmul.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace gist;
using Values = TileBuilder::Values;

/// Rows of a tile, columns of its sums and lanes of a vector.
static constexpr int64_t kTile = CpuBf16ProductAttr::kLanes;
/// Numbers of bf16 in a row of a tile.
static constexpr int64_t kDeep = 32;
/// Tiles of sums along rows and along columns that are kept at once: with two
/// operands each they are all eight registers.
static constexpr int64_t kSide = 2;
/// Steps of 32 between two times that sums are stored.
static constexpr int64_t kMostSteps = 12;

namespace {
class Bf16Product {
public:
  Bf16Product(TileBuilder &b, Value x, Value w, CpuBf16ProductAttr tile)
      : b(b), x(x), w(w), tile(tile), f32(b.getF32Type()),
        bf16(b.getBF16Type()), i32(b.getI32Type()),
        depth(cast<RankedTensorType>(w.getType()).getDimSize(1)),
        steps(tile.getDepth() / kDeep), rowParts(tile.getParts()[0]),
        columnParts(tile.getParts()[1]) {}

  Value emit(Value result);

private:
  /// Two vectors of f32 that are 32 numbers of a row, or their rest.
  using Numbers = std::array<Value, 2>;

  void emitBuffers();
  void emitRows(Value first, Value number, Value step);
  void emitColumns(Value first, Value column);
  Numbers read(Value tensor, Value row, Value column);
  Value emitSquare(Value column, Value pair, Value result);
  Values emitStep(Value pair, Value step, Values sums);
  Value emitTurned(Value column, Value number, int64_t ofRows, Value result);

  Value narrow(const Numbers &numbers);
  Numbers subtract(const Numbers &numbers, Value near);
  Value load(Value buffer, ValueRange indices) {
    return vector::LoadOp::create(b, b.vectorOf(kTile, f32), buffer, indices);
  }
  void store(Value vector, Value buffer, ValueRange indices) {
    vector::StoreOp::create(b, vector, buffer, indices);
  }
  Value createBuffer(ArrayRef<int64_t> shape, Type element) {
    return memref::AllocOp::create(b, MemRefType::get(shape, element));
  }
  void repeat(Value count, function_ref<void(Value)> body) {
    b.loop(b.index(0), count, 1, {}, [&](Value i, ValueRange) {
      body(i);
      return Values{};
    });
  }

  TileBuilder &b;
  Value x, w;
  CpuBf16ProductAttr tile;
  Type f32, bf16, i32;
  int64_t depth, steps, rowParts, columnParts;

  /// bf16 [part][tile][step][16 pairs][16 rows, 2]; bf16 [part][tile][step][16
  /// columns][32].
  Value rows, columns;
  /// f32 [tile of columns][tile of rows][16 columns][16 rows]; f32 [16 rows][32
  /// columns].
  Value sums, turned;
};
} // namespace

void Bf16Product::emitBuffers() {
  int64_t tiles = tile.getRows() / kTile;
  rows = createBuffer({rowParts, tiles, steps, kTile, kDeep}, bf16);
  columns = createBuffer({columnParts, kSide, steps, kTile, kDeep}, bf16);
  sums = createBuffer({kSide, kSide, kTile, kTile}, f32);
  turned = createBuffer({kTile, kSide * kTile}, f32);
}

int64_t gist::getBf16Scratch(CpuBf16ProductAttr tile) {
  constexpr int64_t kBytes = 2;
  ArrayRef<int64_t> parts = tile.getParts();
  return tile.getDepth() * kBytes *
         (parts[0] * tile.getRows() + parts[1] * kSide * kTile);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Bf16Product::Numbers Bf16Product::read(Value tensor, Value row, Value column) {
  return {b.readF32(tensor, {row, column}, kTile),
          b.readF32(tensor, {row, b.add(column, kTile)}, kTile)};
}

/// 32 numbers of bf16, rounded to the nearest: one instruction.
Value Bf16Product::narrow(const Numbers &numbers) {
  return LLVM::CallIntrinsicOp::create(
             b, b.vectorOf(kDeep, bf16),
             b.getStringAttr("llvm.x86.avx512bf16.cvtne2ps2bf16.512"),
             ValueRange{numbers[1], numbers[0]})
      .getResult(0);
}

/// What is left of numbers when `near` is taken away.
Bf16Product::Numbers Bf16Product::subtract(const Numbers &numbers, Value near) {
  Numbers result;
  for (int64_t half = 0; half < 2; ++half) {
    Value part = arith::ExtFOp::create(b, b.vectorOf(kTile, f32),
                                       b.slice(near, half * kTile, kTile));
    result[half] = b.sub(numbers[half], part);
  }
  return result;
}

/// Tile `number` of the rows, 32 numbers of each, turned. The last row is
/// repeated to fill the tile; its sums are not written.
void Bf16Product::emitRows(Value first, Value number, Value step) {
  Value last = b.add(b.size(x, 0), -1);
  Value column = b.add(first, b.mul(step, kDeep));
  for (int64_t part = 0; part < rowParts; ++part) {
    Values pairs;
    for (int64_t i = 0; i < kTile; ++i) {
      Value row =
          arith::MinSIOp::create(b, b.add(b.mul(number, kTile), i), last);
      Numbers numbers = read(x, row, column);
      Value near = narrow(numbers);
      if (part == 1)
        near = narrow(subtract(numbers, near));
      pairs.push_back(b.bitcast(near, i32));
    }
    for (auto [i, pair] : llvm::enumerate(b.transpose(pairs)))
      store(b.bitcast(pair, bf16), rows,
            {b.index(part), number, step, b.index(i), b.index(0)});
  }
}

/// 32 columns from `column` on, which are rows of the weight.
void Bf16Product::emitColumns(Value first, Value column) {
  repeat(b.index(steps), [&](Value step) {
    Value at = b.add(first, b.mul(step, kDeep));
    for (int64_t side = 0; side < kSide; ++side)
      repeat(b.index(kTile), [&](Value i) {
        Value row = b.add(b.add(column, side * kTile), i);
        Numbers numbers = read(w, row, at);
        for (int64_t part = 0; part < columnParts; ++part) {
          Value near = narrow(numbers);
          store(near, columns,
                {b.index(part), b.index(side), step, i, b.index(0)});
          if (part + 1 < columnParts)
            numbers = subtract(numbers, near);
        }
      });
  });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Adds 32 numbers of the reduction to the four tiles of sums.
Values Bf16Product::emitStep(Value pair, Value step, Values total) {
  auto operand = amx::TileType::get({kTile, kDeep}, bf16);
  Value zero = b.index(0);
  auto loadTile = [&](Value buffer, int64_t part, Value number) -> Value {
    return amx::TileLoadOp::create(
        b, operand, buffer,
        ValueRange{b.index(part), number, step, zero, zero});
  };
  auto loadRows = [&](int64_t part) {
    Values result;
    for (int64_t i = 0; i < kSide; ++i)
      result.push_back(loadTile(rows, part, b.add(b.mul(pair, kSide), i)));
    return result;
  };
  auto loadColumns = [&](int64_t part) {
    Values result;
    for (int64_t i = 0; i < kSide; ++i)
      result.push_back(loadTile(columns, part, b.index(i)));
    return result;
  };
  auto multiply = [&](const Values &left, const Values &right) {
    for (int64_t i = 0; i < kSide; ++i)
      for (int64_t j = 0; j < kSide; ++j) {
        Value &sum = total[i * kSide + j];
        sum = amx::TileMulFOp::create(b, sum.getType(), left[i], right[j], sum);
      }
  };
  // Each operand is loaded once, and at most four are live at a time. The
  // product of the two remainders is left out.
  Values left = loadColumns(0);
  if (rowParts > 1)
    multiply(left, loadRows(1));
  Values right = loadRows(0);
  multiply(left, right);
  if (columnParts > 1)
    multiply(loadColumns(1), right);
  return total;
}

/// Adds the sums of one tile of rows with 32 columns to the result.
Value Bf16Product::emitTurned(Value column, Value number, int64_t ofRows,
                              Value result) {
  Value zero = b.index(0);
  for (int64_t side = 0; side < kSide; ++side) {
    Values square;
    for (int64_t i = 0; i < kTile; ++i)
      square.push_back(
          load(sums, {b.index(side), b.index(ofRows), b.index(i), zero}));
    for (auto [i, row] : llvm::enumerate(b.transpose(square)))
      store(row, turned, {b.index(i), b.index(side * kTile)});
  }
  // Rows that pad the tile are not written.
  Value firstRow = b.mul(number, kTile);
  Value count = arith::MinSIOp::create(
      b, b.index(kTile), arith::SubIOp::create(b, b.size(x, 0), firstRow));
  return b.loop(zero, count, 1, result, [&](Value i, ValueRange carried) {
    Value result = carried[0];
    for (int64_t side = 0; side < kSide; ++side) {
      Values at = {b.add(firstRow, i), b.add(column, side * kTile)};
      Value old = b.read(result, at, b.vectorOf(kTile, f32));
      Value sum = load(turned, {i, b.index(side * kTile)});
      result = b.write(b.add(old, sum), result, at);
    }
    return Values{result};
  })[0];
}

/// 32 rows with 32 columns. A loop cannot carry tiles, so that sums rest in
/// memory between its rounds, and a round has many steps.
Value Bf16Product::emitSquare(Value column, Value pair, Value result) {
  auto type = amx::TileType::get({kTile, kTile}, f32);
  Value zero = b.index(0);
  auto getPlace = [&](int64_t i) {
    return Values{b.index(i / kSide), b.index(i % kSide), zero, zero};
  };
  constexpr int64_t kTiles = kSide * kSide;
  for (int64_t i = 0; i < kTiles; ++i)
    amx::TileStoreOp::create(b, sums, getPlace(i),
                             amx::TileZeroOp::create(b, type));
  int64_t unrolled = std::min(kMostSteps, steps);
  while (steps % unrolled)
    --unrolled;
  b.loop(zero, b.index(steps), unrolled, {}, [&](Value step, ValueRange) {
    Values total;
    for (int64_t i = 0; i < kTiles; ++i)
      total.push_back(amx::TileLoadOp::create(b, type, sums, getPlace(i)));
    for (int64_t i = 0; i < unrolled; ++i)
      total = emitStep(pair, b.add(step, i), total);
    for (int64_t i = 0; i < kTiles; ++i)
      amx::TileStoreOp::create(b, sums, getPlace(i), total[i]);
    return Values{};
  });
  for (int64_t i = 0; i < kSide; ++i)
    result = emitTurned(column, b.add(b.mul(pair, kSide), i), i, result);
  return result;
}

Value Bf16Product::emit(Value result) {
  constexpr int64_t kSquare = kSide * kTile;
  Value zero = b.index(0);
  Value pairs = b.ceilDiv(b.size(x, 0), kSquare);
  emitBuffers();
  return b.loop(zero, b.index(depth), tile.getDepth(), result,
                [&](Value first, ValueRange outer) {
                  repeat(b.mul(pairs, kSide), [&](Value number) {
                    repeat(b.index(steps),
                           [&](Value step) { emitRows(first, number, step); });
                  });
                  return b.loop(zero, b.size(w, 0), kSquare, outer,
                                [&](Value column, ValueRange carried) {
                                  emitColumns(first, column);
                                  return b.loop(
                                      zero, pairs, 1, carried,
                                      [&](Value pair, ValueRange inner) {
                                        return Values{
                                            emitSquare(column, pair, inner[0])};
                                      });
                                });
                })[0];
}

Value gist::emitBf16Matmul(TileBuilder &b, Value x, Value w,
                           CpuBf16ProductAttr tile, Value result) {
  return Bf16Product(b, x, w, tile).emit(result);
}
