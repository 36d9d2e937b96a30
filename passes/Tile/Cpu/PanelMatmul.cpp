//===- PanelMatmul.cpp - Float products of many rows ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// y = x W^T with a result in every lane. Rows of the weight become columns of a
// panel first, which all rows of the workgroup share:
//
//   panel[k][0 .. 16) = W[column .. column + 16)[k]
//   y[i][column .. column + 16) += x[i][k] * panel[k][0 .. 16)
//
// For four numbers of the reduction, four rows and sixteen columns are 20 loads
// and 64 multiply-adds by a lane, and nothing is added up across lanes. Where
// lanes are parts of one sum (Matmul.cpp) it is 32 loads for as many.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cpu/PanelMatmul.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace gist;
using Values = TileBuilder::Values;

/// A panel of 16 columns so deep is 48 KiB of f32.
static constexpr int64_t kMostDepth = 768;
/// Sums are read and written again for each part of the reduction.
static constexpr int64_t kLeastDepth = 128;

int64_t gist::getPanelDepth(Value weight, int64_t lanes) {
  int64_t depth = cast<RankedTensorType>(weight.getType()).getDimSize(1);
  for (int64_t parts = 1; depth / parts >= lanes; ++parts) {
    int64_t part = depth / parts;
    if (depth % parts == 0 && part % lanes == 0 && part <= kMostDepth)
      return part >= std::min(kLeastDepth, depth) ? part : 0;
  }
  return 0;
}

bool gist::hasPanels(CpuProductAttr tile) {
  return tile.getInstruction() == Instruction::Fma &&
         tile.getRegisters()[1] == kPanelVectors * tile.getLanes();
}

namespace {
class PanelProduct {
public:
  PanelProduct(TileBuilder &b, Value x, Value w, CpuProductAttr tile)
      : b(b), x(x), w(w), lanes(tile.getLanes()),
        rowsAtOnce(tile.getRegisters()[0]),
        columnsAtOnce(tile.getRegisters()[1]),
        depth(cast<RankedTensorType>(w.getType()).getDimSize(1)),
        part(getPanelDepth(w, lanes)),
        vector(b.vectorOf(lanes, b.getF32Type())) {}

  Value emit(Value result);

private:
  void emitPanel(Value column, Value start);
  void storeTurned(Values rows, Value k, Value column);
  Value emitSquare(Value row, int64_t rows, Value column, Value start,
                   Value result);
  Values emitStep(Value row, int64_t rows, Value start, Value k, Values sums);

  TileBuilder &b;
  Value x, w;
  int64_t lanes, rowsAtOnce, columnsAtOnce, depth, part;
  VectorType vector;
  Value panel; ///< f32 [part of the reduction][columns]
};
} // namespace

/// Puts a square of the weight into the panel, at `column` of it.
void PanelProduct::storeTurned(Values rows, Value k, Value column) {
  for (auto [i, turned] : llvm::enumerate(b.transpose(std::move(rows))))
    vector::StoreOp::create(
        b, turned, panel,
        ValueRange{b.add(k, static_cast<int64_t>(i)), column});
}

/// Turns squares of the weight.
void PanelProduct::emitPanel(Value column, Value start) {
  b.loop(b.index(0), b.index(part), lanes, {}, [&](Value k, ValueRange) {
    for (int64_t c = 0; c < columnsAtOnce; c += lanes) {
      Values rows;
      for (int64_t i = 0; i < lanes; ++i)
        rows.push_back(
            b.readF32(w, {b.add(column, c + i), b.add(start, k)}, lanes));
      storeTurned(rows, k, b.index(c));
    }
    return Values{};
  });
}

/// `sums` with the products of `lanes` numbers of the reduction.
Values PanelProduct::emitStep(Value row, int64_t rows, Value start, Value k,
                              Values sums) {
  Values left;
  for (int64_t i = 0; i < rows; ++i)
    left.push_back(b.readF32(x, {b.add(row, i), b.add(start, k)}, lanes));
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Values right;
    for (int64_t c = 0; c < columnsAtOnce; c += lanes)
      right.push_back(vector::LoadOp::create(
          b, vector, panel, ValueRange{b.add(k, lane), b.index(c)}));
    for (int64_t i = 0; i < rows; ++i) {
      Value number = b.broadcast(
          vector::ExtractOp::create(b, left[i], ArrayRef<int64_t>{lane}),
          lanes);
      for (int64_t j = 0; j < kPanelVectors; ++j) {
        Value &sum = sums[i * kPanelVectors + j];
        sum = b.fma(number, right[j], sum);
      }
    }
  }
  return sums;
}

/// The results of `rows` rows and of the panel, added to `result`.
Value PanelProduct::emitSquare(Value row, int64_t rows, Value column,
                               Value start, Value result) {
  Values inits(rows * kPanelVectors, b.splat(lanes, b.getF32Type(), 0));
  Values sums = b.loop(b.index(0), b.index(part), lanes, inits,
                       [&](Value k, ValueRange carried) {
                         return emitStep(row, rows, start, k, Values(carried));
                       });
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < kPanelVectors; ++j) {
      Values at = {b.add(row, i), b.add(column, j * lanes)};
      Value old = b.readF32(result, at, lanes);
      result = b.write(b.add(sums[i * kPanelVectors + j], old), result, at);
    }
  return result;
}

Value PanelProduct::emit(Value result) {
  panel = memref::AllocOp::create(
      b, MemRefType::get({part, columnsAtOnce}, b.getF32Type()));
  Value rows = b.size(x, 0), whole = b.roundDown(rows, rowsAtOnce);
  auto overRows = [&](Value column, Value start, Value sums) {
    sums = b.loop(b.index(0), whole, rowsAtOnce, sums,
                  [&](Value row, ValueRange carried) {
                    return Values{
                        emitSquare(row, rowsAtOnce, column, start, carried[0])};
                  })[0];
    return b.loop(whole, rows, 1, sums, [&](Value row, ValueRange carried) {
      return Values{emitSquare(row, 1, column, start, carried[0])};
    })[0];
  };
  return b.loop(b.index(0), b.roundDown(b.size(w, 0), columnsAtOnce),
                columnsAtOnce, result, [&](Value column, ValueRange carried) {
                  return b.loop(b.index(0), b.index(depth), part, carried,
                                [&](Value start, ValueRange inner) {
                                  emitPanel(column, start);
                                  return Values{
                                      overRows(column, start, inner[0])};
                                });
                })[0];
}

Value gist::emitPanelMatmul(TileBuilder &b, Value x, Value w,
                            CpuProductAttr tile, Value result) {
  return PanelProduct(b, x, w, tile).emit(result);
}
