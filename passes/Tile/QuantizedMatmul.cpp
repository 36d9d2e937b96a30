//===- QuantizedMatmul.cpp - 8-bit products as loops over vectors ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile of gist.quantized_matmul on packed weights. Rows are taken `registers`
// at a time, the rest one by one. For each block of 32 along K, integers are
// accumulated in registers, then scaled into f32 accumulators:
//
//   acc[r, c] += (values[r] . u[c]) * scales[r] * d[c]
//              + (sum of values[r]) * scales[r] * (m[c] - zero * d[c])
//
// where the second line is there for packings with minima or a zero point.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/ArmNeon/ArmNeonDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/Tile/Kernels.h"
#include "passes/Tile/TileBuilder.h"

using namespace mlir;
using namespace gist;
using Values = TileBuilder::Values;

static constexpr int64_t kBlock = PackingAttr::kBlock;
/// 1.5 * 2^23: an f32 whose low bits count in ones. An integer accumulated on
/// top of these bits is a float after one subtraction, which more units can do
/// than conversions. Sums of a block stay below 2^20, so none overflows.
static constexpr double kFloatBias = 12582912.0;
static constexpr int64_t kFloatBiasBits = 0x4B400000;

namespace {

/// The columns of one group of a block: d, and m - zero * d, one per lane.
struct ColumnScales {
  Value scale;
  Value offset; ///< null where there is none
};

/// One product, and what its loops share.
class Product {
public:
  Product(TileBuilder &b, QuantizedMatmulOp op, TileAttr tile)
      : b(b), packing(op.getPackedAttr()), tile(tile), values(op.getValues()),
        scales(op.getScales()), weight(op.getWeight()), i8(b.getI8Type()),
        i32(b.getI32Type()), f32(b.getF32Type()),
        blocks(op.getScales().getType().getDimSize(1)),
        groups(kBlock / packing.getGroup()), columns(packing.getColumns()),
        isPadded(op.getType().isDynamicDim(1) ||
                 op.getType().getDimSize(1) % columns != 0) {}

  Value emit(Value result);

private:
  bool hasOffset() const { return packing.getHasMin() || packing.getZero(); }
  Value emitRows(Value first, int64_t rows, Value result);
  Values emitPackedRows(Value first, int64_t rows);
  Value emitPairs(Values packed, Value group, Value first, int64_t rows,
                  Value result);
  Value emitSums(Value first, int64_t rows);
  Value emitLanes(Value sums, Value group, Value first, int64_t rows,
                  Value result);

  Value readSum(Value row, Value block, int64_t group);
  ColumnScales readColumnScales(Value group, Value block, int64_t part);
  Value readColumnNumbers(Value group, Value block, int64_t byte);
  Values readSteps(Value group, Value block, int64_t lanes);
  Value readRow(Value row, Value block, int64_t step, int64_t lanes);
  Value dotFour(Value sum, Value u, Value x);
  Value joinLanes(Values products);
  Value toFloat(Value biased);

  TileBuilder &b;
  PackingAttr packing;
  TileAttr tile;
  Value values, scales, weight;
  Type i8, i32, f32;
  int64_t blocks, groups, columns;
  bool isPadded;
};

} // namespace

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// One f32 per column, stored at `byte` of a block.
Value Product::readColumnNumbers(Value group, Value block, int64_t byte) {
  int64_t width = packing.getScaleBits() / 8;
  Value bytes = b.read(weight, {group, block, b.index(byte)},
                       b.vectorOf(columns * width, i8));
  if (width == 4)
    return b.bitcast(bytes, f32);
  return arith::ExtFOp::create(b, b.vectorOf(columns, f32),
                               b.bitcast(bytes, b.getF16Type()));
}

ColumnScales Product::readColumnScales(Value group, Value block, int64_t part) {
  int64_t byte = part * columns * packing.getScaleBits() / 8;
  ColumnScales result{readColumnNumbers(group, block, byte), {}};
  if (packing.getHasMin())
    result.offset =
        readColumnNumbers(group, block, packing.getMinOffset() + byte);
  if (int64_t zero = packing.getZero()) {
    Value factor = b.splat(columns, f32, -static_cast<double>(zero));
    result.offset = result.offset
                        ? b.fma(result.scale, factor, result.offset)
                        : arith::MulFOp::create(b, result.scale, factor);
  }
  // Signed halves of bytes are used where they are, as 16 times their value.
  if (packing.getBits() == 4 && packing.getIsSigned())
    result.scale =
        arith::MulFOp::create(b, result.scale, b.splat(columns, f32, 1.0 / 16));
  return result;
}

/// The integers of a block as 8 bits, in vectors of `lanes` bytes; those of a
/// step of `depth` are next to one another.
Values Product::readSteps(Value group, Value block, int64_t lanes) {
  int64_t stepBytes = columns * packing.getDepth();
  int64_t vectors = stepBytes / lanes;
  int64_t bytes = columns * kBlock * packing.getBits() / 8;
  VectorType type = b.vectorOf(lanes, i8);
  Values loaded;
  for (int64_t at = 0; at < bytes; at += lanes)
    loaded.push_back(b.read(
        weight, {group, block, b.index(packing.getValueOffset() + at)}, type));
  if (packing.getBits() == 8)
    return loaded;

  Value four = b.splat(lanes, i8, 4);
  Value low = b.splat(lanes, i8, 15), high = b.splat(lanes, i8, -16);
  Values steps;
  for (size_t first = 0; first < loaded.size(); first += vectors) {
    for (int64_t i = 0; i < vectors; ++i) {
      Value x = loaded[first + i];
      steps.push_back(packing.getIsSigned()
                          ? arith::ShLIOp::create(b, x, four).getResult()
                          : arith::AndIOp::create(b, x, low).getResult());
    }
    for (int64_t i = 0; i < vectors; ++i) {
      Value x = loaded[first + i];
      steps.push_back(packing.getIsSigned()
                          ? arith::AndIOp::create(b, x, high).getResult()
                          : arith::ShRUIOp::create(b, x, four).getResult());
    }
  }
  return steps;
}

/// The values of one step of a row, repeated to fill `lanes` bytes.
Value Product::readRow(Value row, Value block, int64_t step, int64_t lanes) {
  int64_t depth = packing.getDepth();
  Value column = b.add(b.mul(block, kBlock), step * depth);
  Value bytes = b.read(values, {row, column}, b.vectorOf(depth, i8));
  Type word = b.getIntegerType(8 * depth);
  Value scalar = vector::ExtractOp::create(b, b.bitcast(bytes, word), 0);
  return b.bitcast(b.broadcast(scalar, lanes / depth), i8);
}

/// The sum of a row's values in a group of a block, times their scale.
Value Product::readSum(Value row, Value block, int64_t group) {
  int64_t length = packing.getGroup();
  Value column = b.add(b.mul(block, kBlock), group * length);
  Value bytes = b.read(values, {row, column}, b.vectorOf(length, i8));
  Value wide = arith::ExtSIOp::create(b, b.vectorOf(length, i32), bytes);
  Value sum = vector::ReductionOp::create(b, vector::CombiningKind::ADD, wide);
  Value scale = b.readScalar(scales, {row, block});
  return arith::MulFOp::create(b, arith::SIToFPOp::create(b, f32, sum), scale);
}

Value Product::toFloat(Value biased) {
  int64_t lanes = cast<VectorType>(biased.getType()).getNumElements();
  return arith::SubFOp::create(b, b.bitcast(biased, f32),
                               b.splat(lanes, f32, kFloatBias));
}

//===----------------------------------------------------------------------===//
// Pairs: smmla multiplies two rows with two columns
//===----------------------------------------------------------------------===//

/// The rows [first, first + rows) in the order smmla reads them. Three tensors:
/// bytes [block][step][row pair][16], f32 scales [block][row pair][4] and,
/// where there are offsets, the sums in the order of the scales, per group.
Values Product::emitPackedRows(Value first, int64_t rows) {
  bool hasSums = hasOffset();
  Values inits = {b.empty({blocks, rows * kBlock}, i8),
                  b.empty({blocks, rows * 2}, f32)};
  if (hasSums)
    inits.push_back(b.empty({blocks, groups * rows * 2}, f32));
  return b.loop(
      b.index(0), b.index(blocks), 1, inits,
      [&](Value block, ValueRange carried) {
        Values result(carried);
        for (int64_t pair = 0; pair < rows / 2; ++pair) {
          Value even = b.add(first, 2 * pair), odd = b.add(first, 2 * pair + 1);
          for (int64_t half = 0; half < 2; ++half) {
            Value column = b.add(b.mul(block, kBlock), half * 16);
            Type i64 = b.getI64Type();
            Value e = b.bitcast(
                b.read(values, {even, column}, b.vectorOf(16, i8)), i64);
            Value o = b.bitcast(
                b.read(values, {odd, column}, b.vectorOf(16, i8)), i64);
            for (int64_t step = 0; step < 2; ++step) {
              Value both = b.bitcast(b.shuffle(e, o, {step, step + 2}), i8);
              int64_t at = ((2 * half + step) * (rows / 2) + pair) * 16;
              result[0] = b.write(both, result[0], {block, b.index(at)});
            }
          }
          auto spread = [&](Value a, Value c) -> Value {
            return b.shuffle(b.broadcast(a, 2), b.broadcast(c, 2),
                             {0, 1, 2, 3});
          };
          Value both = spread(b.readScalar(scales, {even, block}),
                              b.readScalar(scales, {odd, block}));
          result[1] = b.write(both, result[1], {block, b.index(pair * 4)});
          for (int64_t g = 0; hasSums && g < groups; ++g)
            result[2] = b.write(
                spread(readSum(even, block, g), readSum(odd, block, g)),
                result[2], {block, b.index((g * (rows / 2) + pair) * 4)});
        }
        return result;
      });
}

Value Product::emitPairs(Values packed, Value group, Value first, int64_t rows,
                         Value result) {
  int64_t rowPairs = rows / 2, columnPairs = columns / 2;
  int64_t stepsPerGroup = packing.getGroup() / 8;
  Values inits(rowPairs * columnPairs, b.splat(4, f32, 0));
  Values sums = b.loop(
      b.index(0), b.index(blocks), 1, inits,
      [&](Value block, ValueRange carried) {
        Values total(carried);
        Values u = readSteps(group, block, 16);
        for (int64_t part = 0; part < groups; ++part) {
          Values products(total.size(), b.splat(4, i32, kFloatBiasBits));
          for (int64_t step = part * stepsPerGroup;
               step < (part + 1) * stepsPerGroup; ++step)
            for (int64_t i = 0; i < rowPairs; ++i) {
              int64_t at = (step * rowPairs + i) * 16;
              Value x =
                  b.read(packed[0], {block, b.index(at)}, b.vectorOf(16, i8));
              for (int64_t j = 0; j < columnPairs; ++j) {
                Value &sum = products[i * columnPairs + j];
                sum = arm_neon::SmmlaOp::create(b, sum.getType(), sum, x,
                                                u[step * columnPairs + j]);
              }
            }
          ColumnScales scale = readColumnScales(group, block, part);
          for (int64_t j = 0; j < columnPairs; ++j) {
            SmallVector<int64_t> twice = {2 * j, 2 * j + 1, 2 * j, 2 * j + 1};
            Value d = b.shuffle(scale.scale, scale.scale, twice);
            Value m = scale.offset
                          ? b.shuffle(scale.offset, scale.offset, twice)
                          : Value();
            for (int64_t i = 0; i < rowPairs; ++i) {
              Value x = b.read(packed[1], {block, b.index(i * 4)},
                               b.vectorOf(4, f32));
              Value &sum = total[i * columnPairs + j];
              Value both = arith::MulFOp::create(b, x, d);
              sum = b.fma(toFloat(products[i * columnPairs + j]), both, sum);
              if (!m)
                continue;
              int64_t at = (part * rowPairs + i) * 4;
              Value s =
                  b.read(packed[2], {block, b.index(at)}, b.vectorOf(4, f32));
              sum = b.fma(s, m, sum);
            }
          }
        }
        return total;
      });

  // From 2 x 2 squares to rows.
  Value column = b.mul(group, columns);
  for (int64_t i = 0; i < rowPairs; ++i)
    for (int64_t half = 0; half < 2; ++half) {
      int64_t lane = 2 * half;
      for (int64_t j = 0; j < columnPairs; j += 2) {
        Value row =
            b.shuffle(sums[i * columnPairs + j], sums[i * columnPairs + j + 1],
                      {lane, lane + 1, lane + 4, lane + 5});
        result = b.write(row, result,
                         {b.add(first, 2 * i + half), b.add(column, 2 * j)},
                         !isPadded);
      }
    }
  return result;
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
  case Instruction::Vpdpbusd: {
    std::string name = "llvm.x86.avx512.vpdpbusd." + std::to_string(lanes * 32);
    return LLVM::CallIntrinsicOp::create(
               b, sum.getType(), b.getStringAttr(name), ValueRange{sum, u, x})
        .getResult(0);
  }
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

/// The scaled sums of rows, f32 [row][block][group].
Value Product::emitSums(Value first, int64_t rows) {
  return b.loop(
      b.index(0), b.index(blocks), 1, b.empty({rows, blocks * groups}, f32),
      [&](Value block, ValueRange carried) {
        Value sums = carried[0];
        for (int64_t row = 0; row < rows; ++row)
          for (int64_t g = 0; g < groups; ++g)
            sums =
                b.writeScalar(readSum(b.add(first, row), block, g), sums,
                              {b.index(row), b.add(b.mul(block, groups), g)});
        return Values{sums};
      })[0];
}

Value Product::emitLanes(Value sums, Value group, Value first, int64_t rows,
                         Value result) {
  int64_t depth = packing.getDepth();
  int64_t stepBytes = columns * depth;
  int64_t bytes = std::min(stepBytes, 4 * tile.getLanes());
  int64_t vectors = stepBytes / bytes;
  int64_t stepsPerGroup = packing.getGroup() / depth;
  Values inits(rows, b.splat(columns, f32, 0));
  Values total = b.loop(
      b.index(0), b.index(blocks), 1, inits,
      [&](Value block, ValueRange carried) {
        Values total(carried);
        Values u = readSteps(group, block, bytes);
        for (int64_t part = 0; part < groups; ++part) {
          ColumnScales scale = readColumnScales(group, block, part);
          for (int64_t row = 0; row < rows; ++row) {
            Value at = b.add(first, row);
            Values products(vectors, b.splat(bytes / 4, i32, 0));
            for (int64_t step = part * stepsPerGroup;
                 step < (part + 1) * stepsPerGroup; ++step) {
              Value x = readRow(at, block, step, bytes);
              for (int64_t i = 0; i < vectors; ++i)
                products[i] = dotFour(products[i], u[step * vectors + i], x);
            }
            Value product = joinLanes(products);
            Value d = arith::MulFOp::create(
                b, scale.scale,
                b.broadcast(b.readScalar(scales, {at, block}), columns));
            Value number =
                arith::SIToFPOp::create(b, b.vectorOf(columns, f32), product);
            total[row] = b.fma(number, d, total[row]);
            if (!scale.offset)
              continue;
            Value sum = b.readScalar(
                sums, {b.index(row), b.add(b.mul(block, groups), part)});
            total[row] =
                b.fma(b.broadcast(sum, columns), scale.offset, total[row]);
          }
        }
        return total;
      });
  Value column = b.mul(group, columns);
  for (int64_t row = 0; row < rows; ++row)
    result =
        b.write(total[row], result, {b.add(first, row), column}, !isPadded);
  return result;
}

//===----------------------------------------------------------------------===//
// The whole tile
//===----------------------------------------------------------------------===//

/// Rows [first, first + rows), all columns.
Value Product::emitRows(Value first, int64_t rows, Value result) {
  bool arePairs = tile.getInstruction() == Instruction::Smmla && rows > 1;
  Values packed;
  if (arePairs)
    packed = emitPackedRows(first, rows);
  else if (hasOffset())
    packed = {emitSums(first, rows)};
  return b.loop(b.index(0), b.size(weight, 0), 1, result,
                [&](Value group, ValueRange carried) {
                  if (arePairs)
                    return Values{
                        emitPairs(packed, group, first, rows, carried[0])};
                  return Values{emitLanes(packed.empty() ? Value() : packed[0],
                                          group, first, rows, carried[0])};
                })[0];
}

Value Product::emit(Value result) {
  int64_t step = tile.getRegisters()[0];
  Value rows = b.size(values, 0), whole = b.index(0);
  if (step > 1) {
    whole = b.roundDown(rows, step);
    result = b.loop(b.index(0), whole, step, result,
                    [&](Value first, ValueRange carried) {
                      return Values{emitRows(first, step, carried[0])};
                    })[0];
  }
  return b.loop(whole, rows, 1, result, [&](Value row, ValueRange carried) {
    return Values{emitRows(row, 1, carried[0])};
  })[0];
}

LogicalResult gist::lowerQuantizedMatmul(RewriterBase &rewriter,
                                         QuantizedMatmulOp op) {
  TileAttr tile = getKernelTile(op);
  if (!op.getPackedAttr())
    return rewriter.notifyMatchFailure(op, "the weight is not packed");
  TileBuilder builder(op.getLoc(), rewriter);
  ReifiedRankedShapedTypeDims shapes;
  if (failed(op.reifyResultShapes(builder, shapes)))
    return failure();
  Value empty =
      tensor::EmptyOp::create(builder, shapes[0], builder.getF32Type());
  rewriter.replaceOp(op, Product(builder, op, tile).emit(empty));
  return success();
}
