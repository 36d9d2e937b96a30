//===- Matmul.cpp - Float products as loops over vectors ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// y = x W^T with both operands contiguous along the reduction, so the lanes of
// an accumulator are partial sums of one result and nothing is packed. With
// four rows and four columns eight loads feed sixteen multiply-adds. Where the
// tile says so, lanes are columns of a panel (PanelMatmul.cpp), or tiles of AMX
// multiply (Bf16Matmul.cpp).
//
// A product of one row reads a weight once, from memory. So it takes one row of
// the weight after the other, which is one stream, with several sums for each.
//
// A weight that is dequantised becomes floats part by part along the reduction,
// so that scratch does not grow with it.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/Bf16Matmul.h"
#include "passes/Tile/Cpu/LowerTiles.h"
#include "passes/Tile/Cpu/PanelMatmul.h"
#include "passes/Tile/Cpu/TileBuilder.h"

using namespace mlir;
using namespace gist;
using Values = TileBuilder::Values;

/// Sums of one result that do not wait for each other: two for each of four
/// multiply-adds at once.
static constexpr int64_t kMostSums = 8;
/// Numbers of a row of a weight that are floats at once, at most: one block of
/// the longest formats. Those of 64 columns are 64 KiB of a stack that has no
/// more than 128 KiB in threads of some hosts.
static constexpr int64_t kMostExpanded = 256;

namespace {
struct FloatProduct {
  TileBuilder &b;
  Value x, w;
  int64_t lanes, depth;

  /// The `rows` x `columns` results at `row`, `column`, added to `result`.
  Value emitSquare(Value row, Value column, int64_t rows, int64_t columns,
                   Value result);
  /// The results of `rows` rows and the columns from `begin` on.
  Value emitRows(Value row, int64_t rows, Value begin, int64_t columns,
                 Value result);
  /// The results of all rows, with `registers` rows and columns at once.
  Value emitAll(std::pair<int64_t, int64_t> registers, Value begin,
                Value result);
  /// The results of one row and the columns from `begin` on, one by one.
  Value emitOneRow(Value row, Value begin, Value result);
  Value emitOneResult(Value row, Value column, Value result);
  /// Sums whose lanes together are the result of a row and a column.
  Values emitSums(Value row, Value column);
  Value writeSum(Value sum, Value result, Value row, Value column);
};
} // namespace

Value FloatProduct::emitSquare(Value row, Value column, int64_t rows,
                               int64_t columns, Value result) {
  Values inits(rows * columns, b.splat(lanes, b.getF32Type(), 0));
  Values sums =
      b.loop(b.index(0), b.index(depth), lanes, inits,
             [&](Value k, ValueRange carried) {
               Values total(carried), left, right;
               for (int64_t i = 0; i < rows; ++i)
                 left.push_back(b.readF32(x, {b.add(row, i), k}, lanes));
               for (int64_t j = 0; j < columns; ++j)
                 right.push_back(b.readF32(w, {b.add(column, j), k}, lanes));
               for (int64_t i = 0; i < rows; ++i)
                 for (int64_t j = 0; j < columns; ++j)
                   total[i * columns + j] =
                       b.fma(left[i], right[j], total[i * columns + j]);
               return total;
             });
  for (int64_t i = 0; i < rows; ++i) {
    Value at = b.add(row, i);
    if (columns == 4 && lanes == 4) {
      Value sum = b.sumsOfFour(ArrayRef<Value>(sums).slice(i * 4, 4));
      Value old = b.readF32(result, {at, column}, 4);
      result = b.write(b.add(sum, old), result, {at, column});
      continue;
    }
    for (int64_t j = 0; j < columns; ++j)
      result = writeSum(sums[i * columns + j], result, at, b.add(column, j));
  }
  return result;
}

/// `result` with the lanes of `sum` added at `row`, `column`.
Value FloatProduct::writeSum(Value sum, Value result, Value row, Value column) {
  Type element = getElementTypeOrSelf(result.getType());
  Value old = b.readScalar(result, {row, column});
  if (!element.isF32())
    old = arith::ExtFOp::create(b, b.getF32Type(), old);
  Value total = vector::ReductionOp::create(b, vector::CombiningKind::ADD, sum,
                                            old, arith::FastMathFlags::reassoc);
  if (!element.isF32())
    total = arith::TruncFOp::create(b, element, total);
  return b.writeScalar(total, result, {row, column});
}

Values FloatProduct::emitSums(Value row, Value column) {
  int64_t vectors = kMostSums;
  while (depth % (vectors * lanes) != 0)
    vectors /= 2;
  Values inits(vectors, b.splat(lanes, b.getF32Type(), 0));
  return b.loop(b.index(0), b.index(depth), vectors * lanes, inits,
                [&](Value k, ValueRange carried) {
                  Values total(carried);
                  for (auto [i, sum] : llvm::enumerate(total)) {
                    Value at = b.add(k, static_cast<int64_t>(i) * lanes);
                    sum = b.fma(b.readF32(x, {row, at}, lanes),
                                b.readF32(w, {column, at}, lanes), sum);
                  }
                  return total;
                });
}

Value FloatProduct::emitOneResult(Value row, Value column, Value result) {
  Values sums = emitSums(row, column);
  for (size_t step = sums.size() / 2; step > 0; step /= 2)
    for (size_t i = 0; i < step; ++i)
      sums[i] = b.add(sums[i], sums[i + step]);
  return writeSum(sums[0], result, row, column);
}

Value FloatProduct::emitOneRow(Value row, Value begin, Value result) {
  return b.loop(begin, b.size(w, 0), 1, result,
                [&](Value column, ValueRange carried) {
                  return Values{emitOneResult(row, column, carried[0])};
                })[0];
}

Value FloatProduct::emitRows(Value row, int64_t rows, Value begin,
                             int64_t columns, Value result) {
  Value size = b.size(w, 0), whole = b.roundDown(size, columns);
  result = b.loop(
      begin, whole, columns, result, [&](Value column, ValueRange carried) {
        return Values{emitSquare(row, column, rows, columns, carried[0])};
      })[0];
  if (std::optional<int64_t> known = getConstantIntValue(size);
      known && *known % columns == 0)
    return result;
  return b.loop(whole, size, 1, result, [&](Value column, ValueRange carried) {
    return Values{emitSquare(row, column, rows, 1, carried[0])};
  })[0];
}

Value FloatProduct::emitAll(std::pair<int64_t, int64_t> registers, Value begin,
                            Value result) {
  auto [step, columns] = registers;
  Value rows = b.size(x, 0), whole = b.roundDown(rows, step);
  auto over = [&](Value first, Value end, int64_t count) {
    result =
        b.loop(first, end, count, result, [&](Value row, ValueRange carried) {
          return Values{emitRows(row, count, begin, columns, carried[0])};
        })[0];
  };
  over(b.index(0), whole, step);
  over(whole, rows, 1);
  return result;
}

/// Rows and columns whose sums stay in registers. Kernels that are not cut as
/// products have some too, from the definitions of their ops.
static std::pair<int64_t, int64_t> getRegisters(CpuTileInterface tile) {
  if (auto product = dyn_cast<CpuProductAttr>(tile))
    return {product.getRegisters()[0], product.getRegisters()[1]};
  if (auto attention = dyn_cast<CpuAttentionAttr>(tile))
    return {attention.getRegisters(), attention.getKeys()};
  return {1, 1};
}

/// All results, by panels; columns that fill none are few.
static Value emitPanels(FloatProduct &product, CpuProductAttr tile,
                        Value result) {
  TileBuilder &b = product.b;
  result = emitPanelMatmul(b, product.x, product.w, tile, result);
  int64_t width = tile.getRegisters()[1];
  Value size = b.size(product.w, 0), begin = b.roundDown(size, width);
  if (std::optional<int64_t> known = getConstantIntValue(size);
      known && *known % width == 0)
    return result;
  return product.emitAll({tile.getRegisters()[0], 1}, begin, result);
}

/// `result` with x W^T added.
static Value emitProduct(TileBuilder &b, Value x, Value w,
                         CpuTileInterface tile, Value result) {
  int64_t depth = cast<RankedTensorType>(w.getType()).getDimSize(1);
  int64_t lanes = tile.getLanes();
  // Rows are read in whole vectors, so the lanes must divide the depth.
  while (lanes > 1 && depth % lanes != 0)
    lanes /= 2;
  FloatProduct product{b, x, w, lanes, depth};
  auto cut = dyn_cast<CpuProductAttr>(tile);
  if (cut && cast<RankedTensorType>(x.getType()).getDimSize(0) == 1)
    return product.emitOneRow(b.index(0), b.index(0), result);
  if (cut && hasPanels(cut))
    return emitPanels(product, cut, result);
  return product.emitAll(getRegisters(tile), b.index(0), result);
}

/// Blocks of the reduction that become floats at once: an even part of all.
static int64_t getBlocksAtOnce(DequantizeOp weight) {
  int64_t blocks = weight.getBlocks().getType().getDimSize(1);
  int64_t most = kMostExpanded / getBlockLayout(weight.getFormat()).values;
  int64_t atOnce = std::min(blocks, most);
  while (blocks % atOnce != 0)
    --atOnce;
  return atOnce;
}

/// The same with a weight that is dequantised part by part.
static Value emitExpanded(TileBuilder &b, Value x, DequantizeOp weight,
                          CpuTileInterface tile, Value result) {
  Value blocks = weight.getBlocks();
  int64_t atOnce = getBlocksAtOnce(weight);
  BlockLayout layout = getBlockLayout(weight.getFormat());
  auto slice = [&](Value of, Value first, int64_t count) {
    int64_t rank = cast<RankedTensorType>(of.getType()).getRank();
    SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)),
        strides(rank, b.getIndexAttr(1)),
        sizes = tensor::getMixedSizes(b, b.getLoc(), of);
    offsets[1] = first;
    sizes[1] = b.getIndexAttr(count);
    return tensor::ExtractSliceOp::create(b, of, offsets, sizes, strides);
  };
  auto addPart = [&](Value block, ValueRange carried) -> Values {
    Value part = DequantizeOp::create(b, slice(blocks, block, atOnce),
                                      weight.getFormatAttr());
    Value rows = slice(x, b.mul(block, layout.values), atOnce * layout.values);
    return {emitProduct(b, rows, part, tile, carried[0])};
  };
  return b.loop(b.index(0), b.size(blocks, 1), atOnce, result, addPart)[0];
}

LogicalResult gist::lowerMatmul(RewriterBase &rewriter, linalg::LinalgOp op) {
  CpuTileInterface tile = getKernelTile(op);
  Value x = op.getDpsInputOperand(0)->get(),
        w = op.getDpsInputOperand(1)->get(), init = op.getDpsInits()[0];
  if (cast<RankedTensorType>(w.getType()).isDynamicDim(1))
    return rewriter.notifyMatchFailure(op, "the reduction is dynamic");
  TileBuilder b(op.getLoc(), rewriter);
  Value result;
  if (auto tiles = dyn_cast<CpuBf16ProductAttr>(tile))
    result = emitBf16Matmul(b, x, w, tiles, init);
  else if (auto weight = w.getDefiningOp<DequantizeOp>())
    result = emitExpanded(b, x, weight, tile, init);
  else
    result = emitProduct(b, x, w, tile, init);
  rewriter.replaceOp(op, result);
  return success();
}
