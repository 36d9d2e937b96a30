//===- GuardedMatmul.cpp - Products that rows have to ask for -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile of rows asks its guards first. Where none is open the tile is zeros
// and the weight is not touched; else the whole tile is computed, and the rows
// with a closed guard are cleared.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Kernel/Linears.h"
#include "passes/Tile/Cpu/LowerTiles.h"
#include "passes/Tile/Cpu/TileBuilder.h"

using namespace mlir;
using namespace gist;
using Values = TileBuilder::Values;

static Value isOpen(TileBuilder &b, Value guard, Value row) {
  return b.compare(arith::CmpIPredicate::ne, b.readScalar(guard, row),
                   arith::ConstantIntOp::create(b, b.getI8Type(), 0));
}

static Value isAnyOpen(TileBuilder &b, Value guard) {
  Value none = arith::ConstantIntOp::create(b, b.getI1Type(), 0);
  return b.loop(b.index(0), b.size(guard, 0), 1, none,
                [&](Value row, ValueRange carried) {
                  return Values{arith::OrIOp::create(b, carried[0],
                                                     isOpen(b, guard, row))};
                })[0];
}

static Value clear(TileBuilder &b, Value rows) {
  Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
  return linalg::FillOp::create(b, zero, rows).getResult(0);
}

/// `rows` with zeros in those whose guard is closed.
static Value clearClosedRows(TileBuilder &b, Value guard, Value rows) {
  if (isConstantIntValue(b.size(guard, 0), 1))
    return rows; // The product runs only if the guard is open.
  return b.loop(
      b.index(0), b.size(guard, 0), 1, rows,
      [&](Value row, ValueRange carried) {
        Value all = carried[0];
        auto branch = scf::IfOp::create(
            b, isOpen(b, guard, row),
            [&](OpBuilder &inner, Location location) {
              scf::YieldOp::create(inner, location, all);
            },
            [&](OpBuilder &inner, Location location) {
              TileBuilder c(location, inner);
              SmallVector<OpFoldResult> offsets = {row, c.getIndexAttr(0)};
              SmallVector<OpFoldResult> sizes = {
                  c.getIndexAttr(1), tensor::getMixedSize(c, location, all, 1)};
              SmallVector<OpFoldResult> strides(2, c.getIndexAttr(1));
              Value one = tensor::ExtractSliceOp::create(c, all, offsets, sizes,
                                                         strides);
              Value cleared = tensor::InsertSliceOp::create(
                  c, clear(c, one), all, offsets, sizes, strides);
              scf::YieldOp::create(c, cleared);
            });
        return Values{branch.getResult(0)};
      })[0];
}

Value gist::emitGuarded(TileBuilder &b, Value guard,
                        ArrayRef<OpFoldResult> shape,
                        function_ref<Value(TileBuilder &, Value)> emit) {
  // Each branch has an empty tensor of its own: of one that both write,
  // upstream's -eliminate-empty-tensors replaces the uses in the order of
  // addresses, so that the same input gives different code.
  auto makeEmpty = [&](TileBuilder &c) -> Value {
    return tensor::EmptyOp::create(c, shape, c.getF32Type());
  };
  auto branch = scf::IfOp::create(
      b, isAnyOpen(b, guard),
      [&](OpBuilder &inner, Location location) {
        TileBuilder c(location, inner);
        Value rows = clearClosedRows(c, guard, emit(c, makeEmpty(c)));
        scf::YieldOp::create(c, rows);
      },
      [&](OpBuilder &inner, Location location) {
        TileBuilder c(location, inner);
        scf::YieldOp::create(c, clear(c, makeEmpty(c)));
      });
  return branch.getResult(0);
}

LogicalResult gist::lowerGuardedMatmul(RewriterBase &rewriter,
                                       GuardedMatmulOp op) {
  if (op.getWeight().getType().isDynamicDim(1))
    return rewriter.notifyMatchFailure(op, "the reduction is dynamic");
  TileBuilder b(op.getLoc(), rewriter);
  ReifiedRankedShapedTypeDims shapes;
  if (failed(op.reifyResultShapes(b, shapes)))
    return failure();
  linalg::MatmulOp matmul;
  Value result = emitGuarded(b, op.getGuard(), shapes[0],
                             [&](TileBuilder &inner, Value rows) -> Value {
                               matmul = createTransposedMatmul(
                                   inner, op.getInput(), op.getWeight(),
                                   clear(inner, rows));
                               return matmul.getResult(0);
                             });
  rewriter.replaceOp(op, result);
  rewriter.setInsertionPoint(matmul);
  return lowerMatmul(rewriter, matmul);
}
