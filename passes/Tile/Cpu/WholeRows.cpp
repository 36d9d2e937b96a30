//===- WholeRows.cpp - Float products of many rows in integers ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// y = x W^T in f32, where W is in blocks of small integers and x becomes whole
// numbers of three bytes (WholeNumbers.h). smmla multiplies eight numbers of
// two rows with eight of two columns, 32 products at once, where a multiply-add
// of floats has four: three times as many bytes are still far fewer
// instructions.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/WholeRows.h"
#include "mlir/Dialect/ArmNeon/ArmNeonDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Tile/Cpu/WholeNumbers.h"

using namespace mlir;
using namespace gist;
using Values = TileBuilder::Values;

static constexpr int64_t kLength = StoredBlocks::kLength;
static constexpr int64_t kParts = WholeBlock::kParts;
/// smmla: bytes of an operand, and numbers of each row or column in it.
static constexpr int64_t kBytes = 16, kStep = 8;
static constexpr int64_t kSteps = kLength / kStep;
static constexpr int64_t kLanes = 4;
/// Blocks that are whole numbers at once, at most: scratch is on the stack, and
/// not every host has a large one.
static constexpr int64_t kMostBlocks = 9;

/// Blocks of a part of the reduction. Parts are about equal.
static int64_t getPart(int64_t blocks) {
  return llvm::divideCeil(blocks, llvm::divideCeil(blocks, kMostBlocks));
}

int64_t gist::getWholeRowsScratch(int64_t rows, int64_t columns) {
  // Scales, and sums or minima, are two floats for each block of each; rows
  // have a factor, too.
  constexpr int64_t kFloat = sizeof(float);
  return kMostBlocks * (rows * (kParts * kLength + 5 * kFloat) +
                        columns * (kLength + 4 * kFloat));
}

namespace {
class WholeRows {
public:
  WholeRows(TileBuilder &b, Value x, Value w, CpuProductAttr tile)
      : b(b), x(x), w(w), weight(*StoredBlocks::find(w)),
        blocks(cast<RankedTensorType>(w.getType()).getDimSize(1) / kLength),
        part(getPart(blocks)), rowPairs(tile.getRegisters()[0] / 2),
        columnPairs(tile.getRegisters()[1] / 2),
        maxTiles(llvm::divideCeil(tile.getRows(), 2 * rowPairs)),
        isNarrow(weight.getMiddle().has_value()),
        middle(weight.getMiddle().value_or(0)) {}

  Value emit(Value result);

private:
  void emitRows(Value tiles);
  void overRows(Value tiles,
                function_ref<void(Value tile, Value block, Value pair)> body);
  void emitColumns(Value column);
  Value emitSquare(Value tile, Value column, Value result);
  Values emitBlock(Value tile, Value block, Values sums);
  /// Adds the products of one part of the rows' bytes.
  void multiply(Value tile, Value block, int64_t part, Values &sums);

  /// A row of a pair of a tile; the last tile repeats the last row, also in
  /// what it writes.
  Value getRow(Value tile, Value pair, int64_t odd) {
    Value number = b.add(b.add(b.mul(tile, 2 * rowPairs), b.mul(pair, 2)), odd);
    return arith::MinSIOp::create(b, number, b.add(b.size(x, 0), -1));
  }
  Value allocate(ArrayRef<int64_t> shape, Type element) {
    return memref::AllocOp::create(b, MemRefType::get(shape, element));
  }
  Value load(Value buffer, ValueRange at, VectorType type) {
    return vector::LoadOp::create(b, type, buffer, at);
  }
  Value toFloats(Value integers) {
    return arith::SIToFPOp::create(b, b.vectorOf(kLanes, b.getF32Type()),
                                   integers);
  }
  /// Eight bytes of each of two halves of blocks: two operands.
  Values zip(Value even, Value odd) {
    Value e = b.bitcast(even, b.getI64Type()),
          o = b.bitcast(odd, b.getI64Type());
    return {b.bitcast(b.shuffle(e, o, {0, 2}), b.getI8Type()),
            b.bitcast(b.shuffle(e, o, {1, 3}), b.getI8Type())};
  }
  /// The sum of four lanes, in each of them.
  Value sumLanes(Value four) {
    four = arith::AddFOp::create(b, four, b.shuffle(four, four, {2, 3, 0, 1}));
    four = arith::AddFOp::create(b, four, b.shuffle(four, four, {1, 0, 3, 2}));
    return four;
  }
  /// Two numbers as the lanes of a product need them, which are (row, column)
  /// 00, 01, 10, 11.
  Value ofRows(Value even, Value odd) {
    return b.shuffle(b.broadcast(even, 2), b.broadcast(odd, 2), {0, 1, 2, 3});
  }
  Value ofColumns(Value even, Value odd) {
    return b.shuffle(b.broadcast(even, 2), b.broadcast(odd, 2), {0, 2, 0, 2});
  }

  TileBuilder &b;
  Value x, w;
  StoredBlocks weight;
  int64_t blocks, part, rowPairs, columnPairs, maxTiles;
  bool isNarrow;  ///< bytes of the weight become numbers from -8 to 7
  int64_t middle; ///< what is taken away for that
  bool hasMinimum = false;
  Value first, count; ///< blocks of the part
  Value rowBytes;     ///< i8 [tile][block][part][step][row pair][16]
  Value rowScales;    ///< f32 [tile][block][row pair][4]
  Value rowTotals;    ///< the same; sums of x
  Value factors;      ///< f32 [tile][block][row]
  Value columnBytes;  ///< i8 [block][step][column pair][16]
  Value scales;       ///< f32 [block][column pair][4]
  Value minima;       ///< the same
};
} // namespace

/// Calls `body` for each block of each pair of rows.
void WholeRows::overRows(
    Value tiles, function_ref<void(Value tile, Value block, Value pair)> body) {
  b.loop(b.index(0), tiles, 1, {}, [&](Value tile, ValueRange) {
    b.loop(b.index(0), count, 1, {}, [&](Value block, ValueRange) {
      b.loop(b.index(0), b.index(rowPairs), 1, {}, [&](Value pair, ValueRange) {
        body(tile, block, pair);
        return Values{};
      });
      return Values{};
    });
    return Values{};
  });
}

/// Turns all rows into whole numbers, once for all columns.
void WholeRows::emitRows(Value tiles) {
  overRows(tiles, [&](Value tile, Value block, Value pair) {
    auto read = [&](int64_t odd) {
      return WholeBlock::read(b, x, getRow(tile, pair, odd),
                              b.add(first, block));
    };
    WholeBlock even = read(0), odd = read(1);
    Values at = {tile, block, b.mul(pair, kLanes)};
    vector::StoreOp::create(b, ofRows(even.scale, odd.scale), rowScales, at);
    vector::StoreOp::create(
        b, b.shuffle(sumLanes(even.total), sumLanes(odd.total), {0, 1, 4, 5}),
        rowTotals, at);
    memref::StoreOp::create(b, even.factor, factors,
                            ValueRange{tile, block, b.mul(pair, 2)});
    memref::StoreOp::create(b, odd.factor, factors,
                            ValueRange{tile, block, b.add(b.mul(pair, 2), 1)});
  });
  overRows(tiles, [&](Value tile, Value block, Value pair) {
    auto read = [&](int64_t odd) {
      Value factor = memref::LoadOp::create(
          b, factors, ValueRange{tile, block, b.add(b.mul(pair, 2), odd)});
      return WholeBlock::readParts(b, x, getRow(tile, pair, odd),
                                   b.add(first, block), factor);
    };
    WholeBlock::Halves evens = read(0), odds = read(1);
    for (int64_t part = 0; part < kParts; ++part)
      for (int64_t half = 0; half < 2; ++half)
        for (auto [i, operand] :
             llvm::enumerate(zip(evens[half][part], odds[half][part]))) {
          int64_t step = 2 * half + static_cast<int64_t>(i);
          Value at = b.add(b.mul(pair, kBytes),
                           (part * kSteps + step) * rowPairs * kBytes);
          vector::StoreOp::create(b, operand, rowBytes,
                                  ValueRange{tile, block, at});
        }
  });
}

/// Makes the columns from `column` on ready, once for all rows.
void WholeRows::emitColumns(Value column) {
  auto ofPair = [&](Value block, Value pair) {
    Value even = b.add(column, b.mul(pair, 2)), odd = b.add(even, 1);
    Value number = b.add(first, block);
    auto readBytes = [&](Value column) {
      std::array<Value, 2> bytes = weight.readBytes(b, column, number);
      if (middle != 0)
        for (Value &half : bytes)
          half = arith::SubIOp::create(b, half,
                                       b.splat(kBytes, b.getI8Type(), middle));
      return bytes;
    };
    std::array<Value, 2> evens = readBytes(even), odds = readBytes(odd);
    for (int64_t half = 0; half < 2; ++half)
      for (auto [i, operand] : llvm::enumerate(zip(evens[half], odds[half]))) {
        int64_t step = 2 * half + static_cast<int64_t>(i);
        Value at = b.add(b.mul(pair, kBytes), step * columnPairs * kBytes);
        vector::StoreOp::create(b, operand, columnBytes, ValueRange{block, at});
      }
    Values at = {block, b.mul(pair, kLanes)};
    Value scale = ofColumns(weight.readScale(b, even, number),
                            weight.readScale(b, odd, number));
    vector::StoreOp::create(b, scale, scales, at);
    Value least = weight.readMinimum(b, even, number);
    if (least)
      least = ofColumns(least, weight.readMinimum(b, odd, number));
    else if (middle != 0)
      least = b.splat(kLanes, b.getF32Type(), 0);
    hasMinimum = static_cast<bool>(least);
    if (middle != 0)
      least = b.fma(
          scale, b.splat(kLanes, b.getF32Type(), static_cast<double>(middle)),
          least);
    if (hasMinimum)
      vector::StoreOp::create(b, least, minima, at);
  };
  b.loop(b.index(0), count, 1, {}, [&](Value block, ValueRange) {
    b.loop(b.index(0), b.index(columnPairs), 1, {},
           [&](Value pair, ValueRange) {
             ofPair(block, pair);
             return Values{};
           });
    return Values{};
  });
}

void WholeRows::multiply(Value tile, Value block, int64_t part, Values &sums) {
  VectorType bytes = b.vectorOf(kBytes, b.getI8Type());
  for (int64_t step = 0; step < kSteps; ++step) {
    Values columns;
    for (int64_t j = 0; j < columnPairs; ++j)
      columns.push_back(
          load(columnBytes, {block, b.index((step * columnPairs + j) * kBytes)},
               bytes));
    for (int64_t i = 0; i < rowPairs; ++i) {
      int64_t place = ((part * kSteps + step) * rowPairs + i) * kBytes;
      Value rows = load(rowBytes, {tile, block, b.index(place)}, bytes);
      for (int64_t j = 0; j < columnPairs; ++j) {
        Value &sum = sums[i * columnPairs + j];
        sum =
            arm_neon::SmmlaOp::create(b, sum.getType(), sum, rows, columns[j]);
      }
    }
  }
}

/// `sums` with the products of a block.
Values WholeRows::emitBlock(Value tile, Value block, Values sums) {
  VectorType floats = b.vectorOf(kLanes, b.getF32Type());
  auto splat = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(b.vectorOf(kLanes, b.getI32Type()),
                                  b.getI32IntegerAttr(value)));
  };
  auto shift = [&](Values &of) {
    for (Value &sum : of)
      sum = arith::ShLIOp::create(b, sum, splat(8));
  };
  Values high(sums.size(), splat(0)), low = high;
  multiply(tile, block, 0, high);
  shift(high);
  multiply(tile, block, 1, high);
  // 32 products are at most 32 * 8 * 126 * 2^16, which is less than 2^31. With
  // weights of 8 bits the third part does not fit.
  if (isNarrow)
    shift(high);
  multiply(tile, block, 2, isNarrow ? high : low);
  for (int64_t j = 0; j < columnPairs; ++j) {
    Values column = {block, b.index(j * kLanes)};
    Value scale = load(scales, column, floats);
    Value least = hasMinimum ? load(minima, column, floats) : Value();
    for (int64_t i = 0; i < rowPairs; ++i) {
      int64_t number = i * columnPairs + j;
      Value product = toFloats(high[number]);
      if (!isNarrow)
        product = b.fma(product, b.splat(kLanes, b.getF32Type(), 256),
                        toFloats(low[number]));
      Values row = {tile, block, b.index(i * kLanes)};
      Value &sum = sums[number];
      sum = b.fma(product,
                  arith::MulFOp::create(b, load(rowScales, row, floats), scale),
                  sum);
      if (least)
        sum = b.fma(load(rowTotals, row, floats), least, sum);
    }
  }
  return sums;
}

/// The results of a tile of rows with the columns that are ready.
Value WholeRows::emitSquare(Value tile, Value column, Value result) {
  Values zeros(rowPairs * columnPairs, b.splat(kLanes, b.getF32Type(), 0));
  Values sums =
      b.loop(b.index(0), count, 1, zeros, [&](Value block, ValueRange carried) {
        return emitBlock(tile, block, Values(carried));
      });
  // From 2 x 2 squares to rows. All is read before anything is written: the
  // last row may be there several times.
  SmallVector<std::pair<Value, Values>> rows;
  for (int64_t i = 0; i < rowPairs; ++i)
    for (int64_t half = 0; half < 2; ++half)
      for (int64_t j = 0; j < columnPairs; j += 2) {
        int64_t lane = 2 * half;
        Values at = {getRow(tile, b.index(i), half), b.add(column, 2 * j)};
        Value row =
            b.shuffle(sums[i * columnPairs + j], sums[i * columnPairs + j + 1],
                      {lane, lane + 1, lane + 4, lane + 5});
        rows.push_back(
            {arith::AddFOp::create(b, row, b.readF32(result, at, kLanes)), at});
      }
  for (auto &[row, at] : rows)
    result = b.write(row, result, at);
  return result;
}

Value WholeRows::emit(Value result) {
  Type i8 = b.getI8Type(), f32 = b.getF32Type();
  rowBytes =
      allocate({maxTiles, part, kParts * kSteps * rowPairs * kBytes}, i8);
  rowScales = allocate({maxTiles, part, rowPairs * kLanes}, f32);
  factors = allocate({maxTiles, part, rowPairs * 2}, f32);
  rowTotals = allocate({maxTiles, part, rowPairs * kLanes}, f32);
  columnBytes = allocate({part, kSteps * columnPairs * kBytes}, i8);
  scales = allocate({part, columnPairs * kLanes}, f32);
  minima = allocate({part, columnPairs * kLanes}, f32);
  Value tiles = b.ceilDiv(b.size(x, 0), 2 * rowPairs);
  auto overTiles = [&](Value column, ValueRange carried) {
    emitColumns(column);
    return b.loop(b.index(0), tiles, 1, carried,
                  [&](Value tile, ValueRange inner) {
                    return Values{emitSquare(tile, column, inner[0])};
                  });
  };
  return b.loop(b.index(0), b.index(blocks), part, result,
                [&](Value start, ValueRange carried) {
                  first = start;
                  Value end = arith::MinSIOp::create(b, b.add(start, part),
                                                     b.index(blocks));
                  count = arith::SubIOp::create(b, end, start);
                  emitRows(tiles);
                  return b.loop(b.index(0), b.size(w, 0), 2 * columnPairs,
                                carried, overTiles);
                })[0];
}

Value gist::emitWholeRows(TileBuilder &b, Value x, Value w, CpuProductAttr tile,
                          Value result) {
  return WholeRows(b, x, w, tile).emit(result);
}
