//===- WgmmaTile.cpp - A workgroup's tile, by four warps at once ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Matmul/WgmmaTile.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

WgmmaTile::WgmmaTile(GpuBuilder &b, const SharedTile &x, const SharedTile &w,
                     ArrayRef<int64_t> waves)
    : b(b), wgmma(b, x.getElement()), tileX(x), tileW(w) {
  int64_t groupsOfRows = waves[0] / kWarps, groupsOfColumns = waves[1];
  Value group = b.div(b.thread(), kWarps * b.getGpu().waveSize);
  groupRow =
      b.mul(b.div(group, groupsOfColumns), tileX.getRows() / groupsOfRows);
  groupColumn =
      b.mul(b.rem(group, groupsOfColumns), tileW.getRows() / groupsOfColumns);
  partsOfRows = tileX.getRows() / groupsOfRows / kRows;
  partsOfColumns = tileW.getRows() / groupsOfColumns / kColumns;
}

bool WgmmaTile::fits(ArrayRef<int64_t> workgroup, ArrayRef<int64_t> waves) {
  return waves[0] % kWarps == 0 &&
         workgroup[0] % (waves[0] / kWarps * kRows) == 0 &&
         workgroup[1] % (waves[1] * kColumns) == 0;
}

Values WgmmaTile::makeSums() {
  return Values(partsOfRows * partsOfColumns, wgmma.makeZero());
}

Values WgmmaTile::start(Value stageX, Value stageW, ValueRange sums) {
  Values newSums(sums);
  Value rowsX = wgmma.getDescriptor(tileX, stageX, groupRow);
  Value rowsW = wgmma.getDescriptor(tileW, stageW, groupColumn);
  wgmma.fence();
  for (int64_t k = 0; k < tileX.getColumns(); k += Wgmma::kDepth)
    for (int64_t i = 0; i < partsOfRows; ++i)
      for (int64_t j = 0; j < partsOfColumns; ++j) {
        Value &sum = newSums[i * partsOfColumns + j];
        sum = wgmma.multiply(wgmma.advance(rowsX, i * kRows, k),
                             wgmma.advance(rowsW, j * kColumns, k), sum);
      }
  wgmma.commit();
  return newSums;
}

Values WgmmaTile::finish(ValueRange sums) {
  Values finished;
  for (Value sum : sums)
    finished.push_back(wgmma.finish(sum));
  return finished;
}

void WgmmaTile::store(MatmulResult &result, ValueRange sums, Value firstRow,
                      Value firstColumn) {
  Value warp = b.rem(b.wave(), kWarps), lane = b.lane();
  Value laneRow = b.add(b.mul(warp, 16), b.div(lane, 4));
  Value laneColumn = b.mul(b.rem(lane, 4), 2);
  for (int64_t i = 0; i < partsOfRows; ++i)
    for (int64_t half = 0; half < 2; ++half) {
      Value row = b.add(b.add(firstRow, groupRow),
                        b.add(laneRow, i * kRows + half * 8));
      result.ifRow(row, [&] {
        for (int64_t j = 0; j < partsOfColumns; ++j)
          for (int64_t k = 0; k < kColumns; k += 8) {
            Value column = b.add(b.add(firstColumn, groupColumn),
                                 b.add(laneColumn, j * kColumns + k));
            Values pair;
            for (int64_t number = 0; number < 2; ++number)
              pair.push_back(wgmma.getNumber(sums[i * partsOfColumns + j],
                                             k / 2 + half * 2 + number));
            result.store(row, column, b.concat(pair));
          }
      });
    }
}
