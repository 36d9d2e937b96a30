//===- QuantizedMatmul.cpp - 8-bit products as loops over vectors ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile of gist.quantized_matmul on packed weights. For each block of 32 along
// K, integers are accumulated in registers, then scaled into f32 accumulators:
//
//   acc[r, c] += (values[r] . u[c]) * scales[r] * d[c]
//              + (sum of values[r]) * scales[r] * (m[c] - zero * d[c])
//
// where only packings with minima or a zero point have the second line. Three
// ways: pairs of rows and columns, or tiles of 16 (AmxMatmul.cpp), where an
// instruction multiplies those and there are many rows; else a column per lane,
// rows `registers` at a time and then the rest at once. Weights are unpacked
// once for these rows.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistCpuTileAttrs.h"
#include "mlir/Dialect/ArmNeon/ArmNeonDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Tile/Cpu/AmxMatmul.h"
#include "passes/Tile/Cpu/BufferBuilder.h"
#include "passes/Tile/Cpu/LowerTiles.h"
#include "passes/Tile/Cpu/PackedWeights.h"

#include <limits>

using namespace mlir;
using namespace gist;
using Values = TileBuilder::Values;

static constexpr int64_t kBlock = PackingAttr::kBlock;
namespace {

/// One product, and what its loops share.
class Product {
public:
  Product(TileBuilder &b, QuantizedMatmulOp op, CpuProductAttr tile,
          int64_t prefetch)
      : b(b), packing(op.getPackedAttr()), tile(tile), values(op.getValues()),
        scales(op.getScales()), weight(op.getWeight()),
        packedWeights(b, op, tile.getInstruction()),
        valueBits(getFormatInfo(op.getFormat()).valueBits()), i8(b.getI8Type()),
        i32(b.getI32Type()), f32(b.getF32Type()),
        blocks(op.getScales().getType().getDimSize(1)),
        groups(kBlock / packing.getGroup()), columns(packing.getColumns()),
        rowsOfTile(tile.getRegisters()[0]),
        columnsOfTile(std::min(columns, tile.getRegisters()[1])),
        prefetch(prefetch),
        isPadded(op.getType().isDynamicDim(1) ||
                 op.getType().getDimSize(1) % columns != 0) {}

  Value emit(Value result);

private:
  bool hasOffset() const { return packedWeights.hasOffset(); }

  /// Rows in the order smmla reads them, tile after tile: bytes [tile][block]
  /// [step][row pair][16], f32 scales [tile][block][row pair][4] and, where
  /// there are offsets, the scaled sums of each group, [tile][block][group]
  /// [row pair][4].
  struct PackedRows {
    Value bytes, scales, sums;
  };
  /// One group of columns, ready to be multiplied with many rows: bytes
  /// [block][step][column pair][16], f32 scales and offsets [block][group]
  /// [column pair][4].
  struct Columns {
    Value bytes, scales, offsets;
  };
  Value emitAllPairs(Value result);
  PackedRows emitPackedRows(Value tiles, int64_t maxTiles);
  Values emitPackedPair(Value tile, int64_t pair, Value block, Values carried);
  Columns emitColumns(Value group);
  Value emitPairs(const PackedRows &packed, const Columns &weights, Value group,
                  int64_t firstPair, Value tile, Value result);
  /// Row `row` of a tile; the last tile repeats the last row, also in what it
  /// writes.
  Value getRow(Value tile, int64_t row);

  Value emitAllRows(Value result);
  Values getRows(Value first, int64_t count);
  Value emitRows(const Values &rows, Value result);
  Value emitSums(const Values &rows);
  Value emitSumsByLanes(const Values &rows);
  Value emitLanes(Value sums, Value group, int64_t firstColumn, int64_t width,
                  const Values &rows, Value result);
  Values emitDots(ArrayRef<Value> rows, int64_t width, Value block,
                  int64_t part, ArrayRef<Value> u, ArrayRef<Value> starts);
  void addGroup(MutableArrayRef<Value> total, ArrayRef<Value> rows,
                int64_t width, Value block, int64_t part, ArrayRef<Value> u,
                const ColumnScales &scale, ArrayRef<Value> sums);
  void emitPrefetch(Value group, Value block);

  Value readSum(Value row, Value block, int64_t group);
  /// Where sums of `rows` rows go, [row][block, group].
  Value createSums(int64_t rows) {
    return b.empty({rows, blocks * groups}, packing.getZero() ? i32 : f32);
  }
  Value readRow(Value row, Value block, int64_t step, int64_t lanes);
  Value dotFour(Value sum, Value u, Value x);
  Value createPairs(Value u, Value x);
  Value addPairs(Value a, Value c);
  Value dotPairs(ArrayRef<Value> u, ArrayRef<Value> x);
  Values dotGroup(Value row, Value block, int64_t firstStep, ArrayRef<Value> u);
  Value joinLanes(Values products);
  Value toFloat(Value integers);

  TileBuilder &b;
  PackingAttr packing;
  CpuProductAttr tile;
  Value values, scales, weight;
  Value weightBuffer; ///< only where it is fetched ahead
  PackedWeights packedWeights;
  int64_t valueBits;
  Type i8, i32, f32;
  int64_t blocks, groups, columns, rowsOfTile, columnsOfTile;
  int64_t prefetch; ///< blocks; 0: none
  bool isPadded;
};

} // namespace

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The values of one step of a row, repeated to fill `lanes` bytes.
Value Product::readRow(Value row, Value block, int64_t step, int64_t lanes) {
  int64_t depth = packing.getDepth();
  Value column = b.add(b.mul(block, kBlock), step * depth);
  Value bytes = b.read(values, {row, column}, b.vectorOf(depth, i8));
  Type word = b.getIntegerType(8 * depth);
  Value scalar = vector::ExtractOp::create(b, b.bitcast(bytes, word), 0);
  return b.bitcast(b.broadcast(scalar, lanes / depth), i8);
}

/// What the values of a row in a group of a block add to every column, see
/// readRowSums.
Value Product::readSum(Value row, Value block, int64_t group) {
  int64_t length = packing.getGroup();
  Value column = b.add(b.mul(block, kBlock), group * length);
  Value bytes = b.read(values, {row, column}, b.vectorOf(length, i8));
  Value wide = arith::ExtSIOp::create(b, b.vectorOf(length, i32), bytes);
  Value sum = vector::ReductionOp::create(b, vector::CombiningKind::ADD, wide);
  if (int64_t zero = packing.getZero())
    return arith::MulIOp::create(b, sum,
                                 arith::ConstantIntOp::create(b, i32, -zero));
  Value scale = b.readScalar(scales, {row, block});
  return b.mul(arith::SIToFPOp::create(b, f32, sum), scale);
}

Value Product::toFloat(Value integers) {
  auto type = cast<VectorType>(integers.getType());
  return arith::SIToFPOp::create(b, type.clone(f32), integers);
}

//===----------------------------------------------------------------------===//
// Pairs: smmla multiplies two rows with two columns
//===----------------------------------------------------------------------===//

Value Product::getRow(Value tile, int64_t row) {
  Value number = b.add(b.mul(tile, rowsOfTile), row);
  return arith::MinSIOp::create(b, number, b.add(b.size(values, 0), -1));
}

/// Packs one block of the rows 2 * pair and 2 * pair + 1 of a tile.
Values Product::emitPackedPair(Value tile, int64_t pair, Value block,
                               Values carried) {
  int64_t rowPairs = rowsOfTile / 2;
  Value even = getRow(tile, 2 * pair), odd = getRow(tile, 2 * pair + 1);
  Values steps;
  for (int64_t at = 0; at < kBlock; at += 16) {
    Value column = b.add(b.mul(block, kBlock), at);
    auto readWords = [&](Value row) {
      return b.bitcast(b.read(values, {row, column}, b.vectorOf(16, i8)),
                       b.getI64Type());
    };
    Value e = readWords(even), o = readWords(odd);
    // smmla reads eight bytes of each of two rows, one row after the other.
    steps.push_back(b.bitcast(b.shuffle(e, o, {0, 2}), i8));
    steps.push_back(b.bitcast(b.shuffle(e, o, {1, 3}), i8));
  }
  for (auto [step, bytes] : llvm::enumerate(steps))
    carried[0] = b.write(bytes, carried[0],
                         {tile, block, b.index((step * rowPairs + pair) * 16)});

  Value scale = b.shuffle(b.broadcast(b.readScalar(scales, {even, block}), 2),
                          b.broadcast(b.readScalar(scales, {odd, block}), 2),
                          {0, 1, 2, 3});
  carried[1] = b.write(scale, carried[1], {tile, block, b.index(pair * 4)});
  if (!hasOffset())
    return carried;
  // A product with ones puts the sums where those with columns go.
  int64_t stepsPerGroup = packing.getGroup() / 8;
  Value ones = b.splat(16, i8, 1);
  for (int64_t g = 0; g < groups; ++g) {
    Value sum = b.splat(4, i32, 0);
    for (int64_t i = 0; i < stepsPerGroup; ++i)
      sum = arm_neon::SmmlaOp::create(b, sum.getType(), sum,
                                      steps[g * stepsPerGroup + i], ones);
    carried[2] = b.write(b.mul(toFloat(sum), scale), carried[2],
                         {tile, block, b.index((g * rowPairs + pair) * 4)});
  }
  return carried;
}

Product::PackedRows Product::emitPackedRows(Value tiles, int64_t maxTiles) {
  Values inits = {b.empty({maxTiles, blocks, rowsOfTile * kBlock}, i8),
                  b.empty({maxTiles, blocks, rowsOfTile * 2}, f32)};
  if (hasOffset())
    inits.push_back(b.empty({maxTiles, blocks, groups * rowsOfTile * 2}, f32));
  Values packed =
      b.loop(b.index(0), tiles, 1, inits, [&](Value tile, ValueRange carried) {
        return b.loop(b.index(0), b.index(blocks), 1, carried,
                      [&](Value block, ValueRange inner) {
                        Values result(inner);
                        for (int64_t pair = 0; pair < rowsOfTile / 2; ++pair)
                          result = emitPackedPair(tile, pair, block, result);
                        return result;
                      });
      });
  return {packed[0], packed[1], hasOffset() ? packed[2] : Value()};
}

Product::Columns Product::emitColumns(Value group) {
  int64_t columnPairs = columns / 2;
  Values inits = {b.empty({blocks, columns * kBlock}, i8),
                  b.empty({blocks, groups * columns * 2}, f32)};
  if (hasOffset())
    inits.push_back(b.empty({blocks, groups * columns * 2}, f32));
  Values made = b.loop(
      b.index(0), b.index(blocks), 1, inits,
      [&](Value block, ValueRange carried) {
        Values result(carried);
        for (auto [i, bytes] :
             llvm::enumerate(packedWeights.readSteps(group, block, 16)))
          result[0] = b.write(bytes, result[0], {block, b.index(i * 16)});
        for (int64_t part = 0; part < groups; ++part) {
          ColumnScales scale = packedWeights.readScales(group, block, part);
          for (int64_t j = 0; j < columnPairs; ++j) {
            // Lanes of a result are (row, column) 00, 01, 10, 11: columns
            // alternate. Scales of rows, above, come twice each for the same
            // reason.
            SmallVector<int64_t> twice = {2 * j, 2 * j + 1, 2 * j, 2 * j + 1};
            Value at = b.index((part * columnPairs + j) * 4);
            result[1] = b.write(b.shuffle(scale.scale, scale.scale, twice),
                                result[1], {block, at});
            if (scale.offset)
              result[2] = b.write(b.shuffle(scale.offset, scale.offset, twice),
                                  result[2], {block, at});
          }
        }
        return result;
      });
  return {made[0], made[1], hasOffset() ? made[2] : Value()};
}

/// One tile of rows with the columns of a group from pair `firstPair` on, as
/// many as there are registers for.
Value Product::emitPairs(const PackedRows &packed, const Columns &weights,
                         Value group, int64_t firstPair, Value tile,
                         Value result) {
  int64_t rowPairs = rowsOfTile / 2, columnPairs = columnsOfTile / 2;
  int64_t stepsPerGroup = packing.getGroup() / 8;
  VectorType bytes = b.vectorOf(16, i8), numbers = b.vectorOf(4, f32);
  // Where the numbers of a column pair are among all of a step or group.
  auto getPlace = [&](int64_t of, int64_t pair) {
    return of * (columns / 2) + firstPair + pair;
  };
  Values inits(rowPairs * columnPairs, b.splat(4, f32, 0));
  Values sums = b.loop(
      b.index(0), b.index(blocks), 1, inits,
      [&](Value block, ValueRange carried) {
        Values total(carried);
        for (int64_t part = 0; part < groups; ++part) {
          Values products(total.size(), b.splat(4, i32, 0));
          for (int64_t step = part * stepsPerGroup;
               step < (part + 1) * stepsPerGroup; ++step) {
            Values u;
            for (int64_t j = 0; j < columnPairs; ++j)
              u.push_back(b.read(weights.bytes,
                                 {block, b.index(getPlace(step, j) * 16)},
                                 bytes));
            for (int64_t i = 0; i < rowPairs; ++i) {
              Value x = b.read(
                  packed.bytes,
                  {tile, block, b.index((step * rowPairs + i) * 16)}, bytes);
              for (int64_t j = 0; j < columnPairs; ++j) {
                Value &sum = products[i * columnPairs + j];
                sum = arm_neon::SmmlaOp::create(b, sum.getType(), sum, x, u[j]);
              }
            }
          }
          for (int64_t j = 0; j < columnPairs; ++j) {
            Value at = b.index(getPlace(part, j) * 4);
            Value d = b.read(weights.scales, {block, at}, numbers);
            Value m = weights.offsets
                          ? b.read(weights.offsets, {block, at}, numbers)
                          : Value();
            for (int64_t i = 0; i < rowPairs; ++i) {
              Value &sum = total[i * columnPairs + j];
              Value x =
                  b.read(packed.scales, {tile, block, b.index(i * 4)}, numbers);
              sum = b.fma(toFloat(products[i * columnPairs + j]), b.mul(x, d),
                          sum);
              if (m)
                sum = b.fma(
                    b.read(packed.sums,
                           {tile, block, b.index((part * rowPairs + i) * 4)},
                           numbers),
                    m, sum);
            }
          }
        }
        return total;
      });

  // From 2 x 2 squares to rows.
  Value column = b.add(b.mul(group, columns), 2 * firstPair);
  for (int64_t i = 0; i < rowPairs; ++i)
    for (int64_t half = 0; half < 2; ++half) {
      int64_t lane = 2 * half;
      for (int64_t j = 0; j < columnPairs; j += 2) {
        Value row =
            b.shuffle(sums[i * columnPairs + j], sums[i * columnPairs + j + 1],
                      {lane, lane + 1, lane + 4, lane + 5});
        result = b.write(row, result,
                         {getRow(tile, 2 * i + half), b.add(column, 2 * j)},
                         !isPadded);
      }
    }
  return result;
}

/// All rows are packed once, each group of columns once, and every tile of rows
/// meets every group while both are in the first cache.
Value Product::emitAllPairs(Value result) {
  Value zero = b.index(0);
  Value tiles = b.ceilDiv(b.size(values, 0), rowsOfTile);
  int64_t maxTiles = llvm::divideCeil(tile.getRows(), rowsOfTile);
  PackedRows packed = emitPackedRows(tiles, maxTiles);
  return b.loop(zero, b.size(weight, 0), 1, result,
                [&](Value group, ValueRange carried) {
                  Columns weights = emitColumns(group);
                  return b.loop(zero, tiles, 1, carried,
                                [&](Value number, ValueRange inner) {
                                  Value result = inner[0];
                                  for (int64_t pair = 0; pair < columns / 2;
                                       pair += columnsOfTile / 2)
                                    result = emitPairs(packed, weights, group,
                                                       pair, number, result);
                                  return Values{result};
                                });
                })[0];
}

//===----------------------------------------------------------------------===//
// Lanes: a lane of 32 bits adds four products of bytes of one column
//===----------------------------------------------------------------------===//

/// sum[i] += u[4i .. 4i+3] . x[4i .. 4i+3]
Value Product::dotFour(Value sum, Value u, Value x) {
  int64_t lanes = cast<VectorType>(sum.getType()).getNumElements();
  switch (tile.getInstruction()) {
  case Instruction::Smmla:
  case Instruction::Sdot:
    return arm_neon::SdotOp::create(b, sum.getType(), sum, u, x);
  case Instruction::Vpdpbusd:
    return createVpdpbusd(b, sum, u, x);
  default:
    break;
  }
  VectorType wide = b.vectorOf(4 * lanes, i32);
  Value a = packing.getIsSigned()
                ? arith::ExtSIOp::create(b, wide, u).getResult()
                : arith::ExtUIOp::create(b, wide, u).getResult();
  Value products =
      arith::MulIOp::create(b, a, arith::ExtSIOp::create(b, wide, x));
  for (int64_t part = 0; part < 4; ++part) {
    SmallVector<int64_t> every;
    for (int64_t lane = 0; lane < lanes; ++lane)
      every.push_back(4 * lane + part);
    sum = arith::AddIOp::create(b, sum, b.shuffle(products, products, every));
  }
  return sum;
}

/// Bytes without a sign times bytes with one, pairs added in 16 bits (AVX2).
Value Product::createPairs(Value u, Value x) {
  int64_t bytes = cast<VectorType>(u.getType()).getNumElements();
  StringRef name = bytes == 64 ? "llvm.x86.avx512.pmaddubs.w.512"
                               : "llvm.x86.avx2.pmadd.ub.sw";
  return LLVM::CallIntrinsicOp::create(b, b.vectorOf(bytes / 2, b.getI16Type()),
                                       b.getStringAttr(name), ValueRange{u, x})
      .getResult(0);
}

/// Products of 16 bits, pairs added in 32.
Value Product::addPairs(Value a, Value c) {
  int64_t words = cast<VectorType>(a.getType()).getNumElements();
  StringRef name =
      words == 32 ? "llvm.x86.avx512.pmaddw.d.512" : "llvm.x86.avx2.pmadd.wd";
  return LLVM::CallIntrinsicOp::create(b, b.vectorOf(words / 2, i32),
                                       b.getStringAttr(name), ValueRange{a, c})
      .getResult(0);
}

/// The same as dotFour for all steps of a group. Sums of weights of six bits
/// and less have 16 bits for as many steps as fit; bytes are widened first, and
/// a column has two lanes until the end.
Value Product::dotPairs(ArrayRef<Value> u, ArrayRef<Value> x) {
  int64_t bytes = cast<VectorType>(u[0].getType()).getNumElements();
  VectorType words = b.vectorOf(bytes / 2, b.getI16Type());
  if (valueBits < 8) {
    // The largest sum of a pair; vpmaddubsw saturates beyond 16 bits.
    int64_t ofPair = 2 * 128 * ((1 << valueBits) - 1);
    size_t together = std::numeric_limits<int16_t>::max() / ofPair;
    Value ones = b.splat(bytes / 2, b.getI16Type(), 1), total;
    auto add = [&](Value a, Value c) {
      return a ? arith::AddIOp::create(b, a, c).getResult() : c;
    };
    for (size_t first = 0; first < u.size(); first += together) {
      Value sum;
      for (size_t i = first; i < std::min(first + together, u.size()); ++i)
        sum = add(sum, createPairs(u[i], x[i]));
      total = add(total, addPairs(sum, ones));
    }
    return total;
  }
  Values halves(2, b.splat(bytes / 4, i32, 0));
  for (auto [a, c] : llvm::zip_equal(u, x))
    for (int64_t half = 0; half < 2; ++half) {
      auto cut = [&](Value whole) {
        return b.slice(whole, half * bytes / 2, bytes / 2);
      };
      halves[half] = arith::AddIOp::create(
          b, halves[half],
          addPairs(arith::ExtUIOp::create(b, words, cut(a)),
                   arith::ExtSIOp::create(b, words, cut(c))));
    }
  SmallVector<int64_t> even, odd;
  for (int64_t i = 0; i < bytes / 4; ++i) {
    even.push_back(2 * i);
    odd.push_back(2 * i + 1);
  }
  return arith::AddIOp::create(b, b.shuffle(halves[0], halves[1], even),
                               b.shuffle(halves[0], halves[1], odd));
}

Values Product::dotGroup(Value row, Value block, int64_t firstStep,
                         ArrayRef<Value> u) {
  int64_t bytes = cast<VectorType>(u[0].getType()).getNumElements();
  int64_t steps = packing.getGroup() / packing.getDepth();
  int64_t vectors = u.size() / steps;
  Values x, products;
  for (int64_t step = 0; step < steps; ++step)
    x.push_back(readRow(row, block, firstStep + step, bytes));
  for (int64_t i = 0; i < vectors; ++i) {
    Values column;
    for (size_t step = 0; step < x.size(); ++step)
      column.push_back(u[step * vectors + i]);
    products.push_back(dotPairs(column, x));
  }
  return products;
}

/// One i32 per column from the lanes of a step's vectors.
Value Product::joinLanes(Values products) {
  while (products.size() > 1) {
    Values joined;
    for (size_t i = 0; i < products.size(); i += 2) {
      int64_t lanes = cast<VectorType>(products[i].getType()).getNumElements();
      joined.push_back(
          b.shuffle(products[i], products[i + 1],
                    llvm::to_vector(llvm::seq<int64_t>(0, 2 * lanes))));
    }
    products = std::move(joined);
  }
  // With a depth of eight a column has two neighbouring lanes.
  Value lanes = products[0];
  for (int64_t depth = packing.getDepth(); depth > 4; depth /= 2) {
    int64_t count = cast<VectorType>(lanes.getType()).getNumElements() / 2;
    SmallVector<int64_t> even, odd;
    for (int64_t i = 0; i < count; ++i) {
      even.push_back(2 * i);
      odd.push_back(2 * i + 1);
    }
    lanes = arith::AddIOp::create(b, b.shuffle(lanes, lanes, even),
                                  b.shuffle(lanes, lanes, odd));
  }
  return lanes;
}

/// The sums of rows as emitSums gives them, a vector of groups at a time; the
/// last one overlaps the one before.
Value Product::emitSumsByLanes(const Values &rows) {
  int64_t lanes = tile.getLanes(), length = lanes / groups;
  Value ones = b.splat(4 * lanes, i8, 1);
  auto addFours = [&](Value bytes) {
    return tile.getInstruction() == Instruction::Vpmaddubsw
               ? addPairs(createPairs(ones, bytes),
                          b.splat(2 * lanes, b.getI16Type(), 1))
               : createVpdpbusd(b, b.splat(lanes, i32, 0), ones, bytes);
  };
  return b.loop(
      b.index(0), b.index(llvm::divideCeil(blocks, length)), 1,
      createSums(rows.size()), [&](Value part, ValueRange carried) {
        Value sums = carried[0];
        Value block = arith::MinSIOp::create(b, b.mul(part, length),
                                             b.index(blocks - length));
        for (auto [i, row] : llvm::enumerate(rows)) {
          Value scale = b.read(scales, {row, block}, b.vectorOf(length, f32));
          Value sum = readRowSums(b, packing, values, row, block, scale, lanes,
                                  addFours);
          sums =
              b.write(sum, sums,
                      {b.index(static_cast<int64_t>(i)), b.mul(block, groups)});
        }
        return Values{sums};
      })[0];
}

/// What rows add to every column of a group, [row][block, group].
Value Product::emitSums(const Values &rows) {
  Instruction instruction = tile.getInstruction();
  if ((instruction == Instruction::Vpdpbusd ||
       instruction == Instruction::Vpmaddubsw) &&
      tile.getLanes() >= 8 && blocks * groups >= tile.getLanes())
    return emitSumsByLanes(rows);
  return b.loop(b.index(0), b.index(blocks), 1, createSums(rows.size()),
                [&](Value block, ValueRange carried) {
                  Value sums = carried[0];
                  for (auto [i, row] : llvm::enumerate(rows))
                    for (int64_t g = 0; g < groups; ++g)
                      sums = b.writeScalar(readSum(row, block, g), sums,
                                           {b.index(static_cast<int64_t>(i)),
                                            b.add(b.mul(block, groups), g)});
                  return Values{sums};
                })[0];
}

/// Asks for the bytes that are `prefetch` blocks further on. Past the last
/// block of these columns, those are of the next ones; past the last of all,
/// the CPU ignores it.
void Product::emitPrefetch(Value group, Value block) {
  constexpr int64_t kLine = 64, kMostLocal = 3;
  int64_t bytes = packing.getBlockBytes();
  Value later = b.add(block, prefetch);
  for (int64_t at = 0; at < bytes; at += kLine)
    memref::PrefetchOp::create(
        b, weightBuffer, packedWeights.getPlace(group, later, at),
        /*isWrite=*/false, kMostLocal, /*isDataCache=*/true);
}

/// The integers of some rows in a group of a block, a lane for each of `width`
/// columns, from the steps `u` of the block and what each row starts with. Rows
/// take turns, so that their sums do not wait for one another.
Values Product::emitDots(ArrayRef<Value> rows, int64_t width, Value block,
                         int64_t part, ArrayRef<Value> u,
                         ArrayRef<Value> starts) {
  int64_t bytes = cast<VectorType>(u[0].getType()).getNumElements();
  int64_t vectors = width * packing.getDepth() / bytes;
  int64_t steps = packing.getGroup() / packing.getDepth(), first = part * steps;
  SmallVector<Values> products;
  for (auto [row, start] : llvm::zip_equal(rows, starts)) {
    if (tile.getInstruction() == Instruction::Vpmaddubsw) {
      products.push_back(dotGroup(row, block, first,
                                  u.slice(first * vectors, steps * vectors)));
      continue;
    }
    products.emplace_back(vectors, b.splat(bytes / 4, i32, 0));
    if (start)
      products.back()[0] = start;
  }
  if (tile.getInstruction() != Instruction::Vpmaddubsw)
    for (int64_t step = first; step < first + steps; ++step)
      for (auto [row, sums] : llvm::zip_equal(rows, products)) {
        Value x = readRow(row, block, step, bytes);
        for (int64_t i = 0; i < vectors; ++i)
          sums[i] = dotFour(sums[i], u[step * vectors + i], x);
      }
  return llvm::map_to_vector(products,
                             [&](Values &sums) { return joinLanes(sums); });
}

/// Adds group `part` of a block to the sums of some rows. `sums` is what each
/// row adds to every column, if anything.
void Product::addGroup(MutableArrayRef<Value> total, ArrayRef<Value> rows,
                       int64_t width, Value block, int64_t part,
                       ArrayRef<Value> u, const ColumnScales &scale,
                       ArrayRef<Value> sums) {
  // Where a column has one lane, integers begin with what the zero point takes
  // away.
  bool isLane = tile.getInstruction() == Instruction::Vpdpbusd &&
                cast<VectorType>(u[0].getType()).getNumElements() == 4 * width;
  bool hasZero = packing.getZero() != 0;
  Values starts(rows.size());
  if (hasZero && isLane)
    starts = Values(sums);
  Values dots = emitDots(rows, width, block, part, u, starts);
  for (auto [i, row] : llvm::enumerate(rows)) {
    if (hasZero && !isLane)
      dots[i] = arith::AddIOp::create(b, dots[i], sums[i]);
    Value d = b.mul(scale.scale,
                    b.broadcast(b.readScalar(scales, {row, block}), width));
    total[i] = b.fma(toFloat(dots[i]), d, total[i]);
    if (packing.getHasMin())
      total[i] = b.fma(sums[i], scale.offset, total[i]);
  }
}

/// `width` columns of a group, from `firstColumn` on.
Value Product::emitLanes(Value sums, Value group, int64_t firstColumn,
                         int64_t width, const Values &rows, Value result) {
  int64_t depth = packing.getDepth();
  int64_t bytes = std::min(width * depth, 4 * tile.getLanes());
  auto cut = [&](Value ofColumns) {
    return ofColumns && width < columns ? b.slice(ofColumns, firstColumn, width)
                                        : ofColumns;
  };
  // A chain of sums alone would wait for itself.
  size_t together = tile.getInstruction() == Instruction::Vpdpbusd ? 4 : 1;
  Values inits(rows.size(), b.splat(width, f32, 0));
  Values total = b.loop(
      b.index(0), b.index(blocks), 1, inits,
      [&](Value block, ValueRange carried) {
        Values total(carried);
        if (weightBuffer)
          emitPrefetch(group, block);
        // Those of other columns are not used, and thus not read.
        Values u;
        for (auto [i, step] :
             llvm::enumerate(packedWeights.readSteps(group, block, bytes)))
          if (int64_t column = i * bytes / depth % columns;
              column >= firstColumn && column < firstColumn + width)
            u.push_back(step);
        for (int64_t part = 0; part < groups; ++part) {
          ColumnScales scale = packedWeights.readScales(group, block, part);
          scale.scale = cut(scale.scale), scale.offset = cut(scale.offset);
          Value number = b.add(b.mul(block, groups), part);
          for (size_t first = 0; first < rows.size(); first += together) {
            auto some = ArrayRef(rows).slice(first).take_front(together);
            Values ofRows(some.size());
            for (size_t i = 0; sums && i < some.size(); ++i)
              ofRows[i] = b.broadcast(
                  b.readScalar(
                      sums, {b.index(static_cast<int64_t>(first + i)), number}),
                  width);
            addGroup(MutableArrayRef(total).slice(first, some.size()), some,
                     width, block, part, u, scale, ofRows);
          }
        }
        return total;
      });
  Value column = b.add(b.mul(group, columns), firstColumn);
  for (auto [row, sum] : llvm::zip_equal(rows, total))
    result = b.write(sum, result, {row, column}, !isPadded);
  return result;
}

/// These rows, all columns. One row takes all columns of a group at once,
/// because that reads memory in order; several take as many as there are
/// registers for.
Value Product::emitRows(const Values &rows, Value result) {
  Value sums = hasOffset() ? emitSums(rows) : Value();
  int64_t width =
      rows.size() > 1 && columns % columnsOfTile == 0 ? columnsOfTile : columns;
  return b.loop(b.index(0), b.size(weight, 0), 1, result,
                [&](Value group, ValueRange carried) {
                  Value result = carried[0];
                  for (int64_t at = 0; at < columns; at += width)
                    result = emitLanes(sums, group, at, width, rows, result);
                  return Values{result};
                })[0];
}

/// `count` rows from `first` on; those past the last row are the last row.
Values Product::getRows(Value first, int64_t count) {
  Value last = b.add(b.size(values, 0), -1);
  Values rows = {first};
  while (static_cast<int64_t>(rows.size()) < count)
    rows.push_back(arith::MinSIOp::create(
        b, b.add(first, static_cast<int64_t>(rows.size())), last));
  return rows;
}

/// As many rows as registers have room for at once, then the rest: the least of
/// a half, a quarter and so on that is enough. More than a half counts as all.
Value Product::emitAllRows(Value result) {
  Value rows = b.size(values, 0);
  if (isConstantIntValue(rows, 1))
    return emitRows({b.index(0)}, result);
  Value whole = b.roundDown(b.add(rows, (rowsOfTile - 1) / 2), rowsOfTile);
  result =
      b.loop(b.index(0), whole, rowsOfTile, result,
             [&](Value first, ValueRange carried) {
               return Values{emitRows(getRows(first, rowsOfTile), carried[0])};
             })[0];
  Value rest = b.sub(rows, whole);
  for (int64_t count = rowsOfTile / 2; count > 0; count /= 2) {
    Value isRight = arith::AndIOp::create(
        b, b.compare(arith::CmpIPredicate::sgt, rest, b.index(count / 2)),
        b.compare(arith::CmpIPredicate::sle, rest, b.index(count)));
    result =
        b.loop(b.index(0), b.select(isRight, b.index(1), b.index(0)), 1, result,
               [&](Value, ValueRange carried) {
                 return Values{emitRows(getRows(whole, count), carried[0])};
               })[0];
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The whole tile
//===----------------------------------------------------------------------===//

Value Product::emit(Value result) {
  if (prefetch > 0)
    weightBuffer = BufferBuilder(b.getLoc(), b).toBuffer(weight);
  // One row alone would fill half of each pair, and packing would not pay. Both
  // ways add the same numbers in the same order.
  Value rows = b.size(values, 0);
  if (tile.getInstruction() == Instruction::Smmla && rowsOfTile > 1 &&
      !isConstantIntValue(rows, 1))
    return b.choose(
        b.compare(arith::CmpIPredicate::eq, rows, b.index(1)), result,
        [&](Value result) { return emitRows({b.index(0)}, result); },
        [&](Value result) { return emitAllPairs(result); });
  return emitAllRows(result);
}

LogicalResult gist::lowerQuantizedMatmul(RewriterBase &rewriter,
                                         QuantizedMatmulOp op) {
  if (!op.getPackedAttr())
    return rewriter.notifyMatchFailure(op, "the weight is not packed");
  auto tile = dyn_cast_or_null<CpuProductAttr>(getKernelTile(op));
  if (!tile)
    return rewriter.notifyMatchFailure(op,
                                       "its kernel is not cut as a product");
  TileBuilder builder(op.getLoc(), rewriter);
  ReifiedRankedShapedTypeDims shapes;
  if (failed(op.reifyResultShapes(builder, shapes)))
    return failure();
  auto ahead = op->getParentOfType<func::FuncOp>()->getAttrOfType<IntegerAttr>(
      kPrefetchAttr);
  auto emit = [&](TileBuilder &b, Value result) {
    return tile.getInstruction() == Instruction::Tdpbsud
               ? emitAmxMatmul(b, op, tile, result)
               : Product(b, op, tile, ahead ? ahead.getInt() : 0).emit(result);
  };
  if (op.getGuard()) {
    rewriter.replaceOp(op,
                       emitGuarded(builder, op.getGuard(), shapes[0], emit));
    return success();
  }
  Value empty =
      tensor::EmptyOp::create(builder, shapes[0], builder.getF32Type());
  rewriter.replaceOp(op, emit(builder, empty));
  return success();
}
