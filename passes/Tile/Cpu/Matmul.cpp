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
// tile says so, tiles of AMX multiply (Bf16Matmul.cpp).
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/Bf16Matmul.h"
#include "passes/Tile/Cpu/LowerTiles.h"
#include "passes/Tile/Cpu/TileBuilder.h"

using namespace mlir;
using namespace gist;
using Values = TileBuilder::Values;

namespace {
struct FloatProduct {
  TileBuilder &b;
  Value x, w;
  int64_t lanes, depth;

  /// The `rows` x `columns` results at `row`, `column`, added to `result`.
  Value emitSquare(Value row, Value column, int64_t rows, int64_t columns,
                   Value result);
  Value emitRows(Value row, int64_t rows, int64_t columns, Value result);
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
  Type element = getElementTypeOrSelf(result.getType());
  for (int64_t i = 0; i < rows; ++i) {
    Value at = b.add(row, i);
    if (columns == 4 && lanes == 4) {
      Value sum = b.sumsOfFour(ArrayRef<Value>(sums).slice(i * 4, 4));
      Value old = b.readF32(result, {at, column}, 4);
      result =
          b.write(arith::AddFOp::create(b, sum, old), result, {at, column});
      continue;
    }
    for (int64_t j = 0; j < columns; ++j) {
      Value where = b.add(column, j);
      Value old = b.readScalar(result, {at, where});
      if (!element.isF32())
        old = arith::ExtFOp::create(b, b.getF32Type(), old);
      Value sum = vector::ReductionOp::create(b, vector::CombiningKind::ADD,
                                              sums[i * columns + j], old,
                                              arith::FastMathFlags::reassoc);
      if (!element.isF32())
        sum = arith::TruncFOp::create(b, element, sum);
      result = b.writeScalar(sum, result, {at, where});
    }
  }
  return result;
}

Value FloatProduct::emitRows(Value row, int64_t rows, int64_t columns,
                             Value result) {
  Value size = b.size(w, 0), whole = b.roundDown(size, columns);
  result = b.loop(b.index(0), whole, columns, result,
                  [&](Value column, ValueRange carried) {
                    return Values{
                        emitSquare(row, column, rows, columns, carried[0])};
                  })[0];
  if (std::optional<int64_t> known = getConstantIntValue(size);
      known && *known % columns == 0)
    return result;
  return b.loop(whole, size, 1, result, [&](Value column, ValueRange carried) {
    return Values{emitSquare(row, column, rows, 1, carried[0])};
  })[0];
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

LogicalResult gist::lowerMatmul(RewriterBase &rewriter, linalg::LinalgOp op) {
  CpuTileInterface tile = getKernelTile(op);
  Value x = op.getDpsInputOperand(0)->get(),
        w = op.getDpsInputOperand(1)->get();
  int64_t depth = cast<RankedTensorType>(w.getType()).getDimSize(1);
  int64_t lanes = tile.getLanes();
  // Rows are read in whole vectors, so the lanes must divide the depth.
  while (lanes > 1 && depth % lanes != 0)
    lanes /= 2;
  if (ShapedType::isDynamic(depth))
    return rewriter.notifyMatchFailure(op, "the reduction is dynamic");
  TileBuilder b(op.getLoc(), rewriter);
  if (auto tiles = dyn_cast<CpuBf16ProductAttr>(tile)) {
    rewriter.replaceOp(op, emitBf16Matmul(b, x, w, tiles, op.getDpsInits()[0]));
    return success();
  }
  FloatProduct product{b, x, w, lanes, depth};
  auto [step, columns] = getRegisters(tile);
  Value rows = b.size(x, 0), whole = b.roundDown(rows, step);
  Value result = op.getDpsInits()[0];
  result = b.loop(
      b.index(0), whole, step, result, [&](Value row, ValueRange carried) {
        return Values{product.emitRows(row, step, columns, carried[0])};
      })[0];
  result = b.loop(whole, rows, 1, result, [&](Value row, ValueRange carried) {
    return Values{product.emitRows(row, 1, columns, carried[0])};
  })[0];
  rewriter.replaceOp(op, result);
  return success();
}
