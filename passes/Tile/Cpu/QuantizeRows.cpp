//===- QuantizeRows.cpp - gist.quantize_rows as loops over vectors --------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Tile/Cpu/LowerTiles.h"
#include "passes/Tile/Cpu/TileBuilder.h"

using namespace mlir;
using namespace gist;
using Values = TileBuilder::Values;

static constexpr int64_t kBlock = PackingAttr::kBlock;

/// Quantises the block at `row`, `block`; carries values and scales.
static Values emitBlock(TileBuilder &b, Value input, Value row, Value block,
                        int64_t lanes, ValueRange carried) {
  Type f32 = b.getF32Type();
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  };
  Value column = b.mul(block, kBlock);
  Value x = b.read(input, {row, column}, b.vectorOf(kBlock, f32));
  Value sizes = math::AbsFOp::create(b, x);
  // For x86 LLVM would take the lanes one after the other.
  for (int64_t half = kBlock / 2; lanes > 4 && half >= 4; half /= 2)
    sizes = arith::MaxNumFOp::create(b, b.slice(sizes, 0, half),
                                     b.slice(sizes, half, half));
  Value largest =
      vector::ReductionOp::create(b, vector::CombiningKind::MAXNUMF, sizes);
  Value isZero = b.compare(arith::CmpFPredicate::OEQ, largest, constant(0));
  Value inverse = b.select(isZero, constant(0), b.div(constant(127), largest));
  Value scaled = b.mul(x, b.broadcast(inverse, kBlock));
  Value rounded = math::RoundEvenOp::create(b, scaled);
  Value wide =
      arith::FPToSIOp::create(b, b.vectorOf(kBlock, b.getI32Type()), rounded);
  Value bytes =
      arith::TruncIOp::create(b, b.vectorOf(kBlock, b.getI8Type()), wide);
  Value scale = b.div(largest, constant(127));
  return {b.write(bytes, carried[0], {row, column}),
          b.writeScalar(scale, carried[1], {row, block})};
}

LogicalResult gist::lowerQuantizeRows(RewriterBase &rewriter,
                                      QuantizeRowsOp op) {
  TileBuilder b(op.getLoc(), rewriter);
  Value input = op.getInput();
  Value rows = b.size(input, 0);
  auto tile = dyn_cast_or_null<CpuTileInterface>(getKernelTile(op));
  int64_t lanes = tile ? tile.getLanes() : 4;
  Value blocks = b.index(op.getScales().getType().getDimSize(1));
  Values empty;
  for (Value result : op.getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    empty.push_back(tensor::EmptyOp::create(
        b,
        SmallVector<OpFoldResult>{tensor::getMixedSize(b, b.getLoc(), input, 0),
                                  b.getIndexAttr(type.getDimSize(1))},
        type.getElementType()));
  }
  Values results =
      b.loop(b.index(0), rows, 1, empty, [&](Value row, ValueRange carried) {
        return b.loop(b.index(0), blocks, 1, carried,
                      [&](Value block, ValueRange inner) {
                        return emitBlock(b, input, row, block, lanes, inner);
                      });
      });
  rewriter.replaceOp(op, results);
  return success();
}
