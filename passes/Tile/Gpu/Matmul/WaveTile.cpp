//===- WaveTile.cpp - A workgroup's tile, by instructions of waves --------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Matmul/WaveTile.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

WaveTile::WaveTile(GpuBuilder &b, Mma mma, const SharedTile &x,
                   const SharedTile &w, ArrayRef<int64_t> waves)
    : b(b), mma(mma), tileX(x), tileW(w) {
  int64_t rows = x.getRows() / waves[0], columns = w.getRows() / waves[1];
  waveRow = b.mul(b.div(b.wave(), waves[1]), rows);
  waveColumn = b.mul(b.rem(b.wave(), waves[1]), columns);
  fragmentsOfRows = rows / mma.rows();
  fragmentsOfColumns = columns / mma.columns();
}

bool WaveTile::fits(const Mma &mma, ArrayRef<int64_t> workgroup, int64_t depth,
                    ArrayRef<int64_t> waves) {
  return workgroup[0] % (waves[0] * mma.rows()) == 0 &&
         workgroup[1] % (waves[1] * mma.columns()) == 0 &&
         depth % mma.depth() == 0;
}

Values WaveTile::makeSums(Type number) {
  Value zeros = b.constant(
      VectorType::get(mma.getAccumulatorType().getShape(), number), 0);
  return Values(fragmentsOfRows * fragmentsOfColumns, zeros);
}

std::pair<Values, Values> WaveTile::load(Value stageX, Value stageW) {
  Values x, w;
  for (int64_t k = 0; k < tileX.getColumns(); k += mma.depth()) {
    for (int64_t i = 0; i < fragmentsOfRows; ++i)
      x.push_back(mma.loadA(b, tileX, b.lane(), stageX,
                            b.add(waveRow, i * mma.rows()), b.index(k)));
    for (int64_t j = 0; j < fragmentsOfColumns; ++j)
      w.push_back(mma.loadB(b, tileW, b.lane(), stageW,
                            b.add(waveColumn, j * mma.columns()), b.index(k)));
  }
  return {x, w};
}

Values WaveTile::multiply(ValueRange x, ValueRange w, ValueRange sums) {
  Values newSums(sums);
  for (int64_t k = 0; k < tileX.getColumns(); k += mma.depth()) {
    for (int64_t i = 0; i < fragmentsOfRows; ++i)
      for (int64_t j = 0; j < fragmentsOfColumns; ++j) {
        Value &sum = newSums[i * fragmentsOfColumns + j];
        sum = mma.multiply(b, x[i], w[j], sum);
      }
    x = x.drop_front(fragmentsOfRows);
    w = w.drop_front(fragmentsOfColumns);
  }
  return newSums;
}

Values WaveTile::loadScales(function_ref<Value(Value)> getScale) {
  Values scales;
  for (int64_t i = 0; i < fragmentsOfRows; ++i)
    for (int64_t laneRow = 0; laneRow < mma.getLaneRows(); ++laneRow)
      scales.push_back(getScale(
          b.add(waveRow, b.add(mma.getRow(b, b.lane(), laneRow * mma.getRun()),
                               i * mma.rows()))));
  return scales;
}

Values WaveTile::scale(ValueRange sums, ValueRange scales, ValueRange totals) {
  assert(mma.getLaneRows() == 1 && "8 bits are multiplied on gfx942 alone");
  Values results;
  for (auto [number, sum, total] : llvm::enumerate(sums, totals)) {
    int64_t lanes = mma.getAccumulatorType().getNumElements();
    Value scale = b.broadcast(scales[number / fragmentsOfColumns], lanes);
    Value floats = sum;
    if (getElementTypeOrSelf(sum).isInteger())
      floats = arith::SIToFPOp::create(b, total.getType(), sum);
    results.push_back(b.fma(floats, scale, total));
  }
  return results;
}

int64_t WaveTile::getInstructions() const {
  return fragmentsOfRows * fragmentsOfColumns * tileX.getColumns() /
         mma.depth() * mma.getInstructions();
}

void WaveTile::store(MatmulResult &result, ArrayRef<Value> sums,
                     function_ref<Value(Value)> getRow, Value firstColumn) {
  int64_t run = mma.getRun(), laneRows = mma.getLaneRows();
  int64_t count = mma.getAccumulatorType().getNumElements();
  Value lane = b.lane();
  for (int64_t i = 0; i < fragmentsOfRows; ++i)
    for (int64_t laneRow = 0; laneRow < laneRows; ++laneRow) {
      Value row = getRow(b.add(
          waveRow, b.add(mma.getRow(b, lane, laneRow * run), i * mma.rows())));
      // One branch for all that a lane has of a row, however many columns.
      result.ifRow(row, [&] {
        for (int64_t j = 0; j < fragmentsOfColumns; ++j)
          for (int64_t k = laneRow * run; k < count; k += run * laneRows) {
            Value column =
                b.add(b.add(firstColumn, waveColumn),
                      b.add(mma.getColumn(b, lane, k), j * mma.columns()));
            result.store(row, column,
                         b.slice(sums[i * fragmentsOfColumns + j], k, run));
          }
      });
    }
}
