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

/// Columns after which the numbers of a lane go on in a sum.
static constexpr int64_t kGroup = 8;
int64_t WgmmaTile::getColumns(int64_t columns, int64_t most) {
  // Few and wide instructions read the rows of x less often.
  int64_t parts = llvm::divideCeil(columns, most);
  // All parts are equally wide, so that one type of sum serves all.
  while (columns % parts != 0)
    ++parts;
  return columns / parts;
}

WgmmaTile::WgmmaTile(GpuBuilder &b, const SharedTile &x, const SharedTile &w,
                     ArrayRef<int64_t> waves, int64_t most)
    : b(b), tileX(x), tileW(w),
      columns(getColumns(w.getRows() / waves[1], most)),
      wgmma(b, x.getElement(), columns) {
  int64_t groupsOfRows = waves[0] / kWarps, groupsOfColumns = waves[1];
  Value group = b.div(b.thread(), kWarps * b.getGpu().waveSize);
  groupRow =
      b.mul(b.div(group, groupsOfColumns), tileX.getRows() / groupsOfRows);
  groupColumn =
      b.mul(b.rem(group, groupsOfColumns), tileW.getRows() / groupsOfColumns);
  partsOfRows = tileX.getRows() / groupsOfRows / kRows;
  partsOfColumns = tileW.getRows() / groupsOfColumns / columns;
}

bool WgmmaTile::fits(ArrayRef<int64_t> workgroup, ArrayRef<int64_t> waves) {
  return waves[0] % kWarps == 0 &&
         workgroup[0] % (waves[0] / kWarps * kRows) == 0 &&
         workgroup[1] % waves[1] == 0 &&
         getColumns(workgroup[1] / waves[1]) % kGroup == 0;
}

Values WgmmaTile::makeSums(Type number) {
  return Values(partsOfRows * partsOfColumns, wgmma.makeZero(number));
}

Values WgmmaTile::start(Value stageX, Value stageW, int64_t part, int64_t parts,
                        ValueRange sums) {
  int64_t own = partsOfColumns / parts;
  return multiply(stageX, stageW, part * own,
                  sums.empty() ? Values(partsOfRows * own) : Values(sums));
}

Values WgmmaTile::multiply(Value stageX, Value stageW, int64_t first,
                           Values sums) {
  Value rowsX = wgmma.getDescriptor(tileX, stageX, groupRow);
  Value rowsW = wgmma.getDescriptor(tileW, stageW, groupColumn);
  auto parts = static_cast<int64_t>(sums.size()) / partsOfRows;
  wgmma.fence();
  // With k outside, neighbouring instructions add to different sums.
  for (int64_t k = 0; k < tileX.getColumns(); k += wgmma.getDepth())
    for (int64_t i = 0; i < partsOfRows; ++i)
      for (int64_t j = 0; j < parts; ++j) {
        Value &sum = sums[i * parts + j];
        sum =
            wgmma.multiply(wgmma.advance(rowsX, i * kRows, k),
                           wgmma.advance(rowsW, (first + j) * columns, k), sum);
      }
  wgmma.commit();
  return sums;
}

Values WgmmaTile::finish(ValueRange sums) {
  Values finished;
  for (Value sum : sums)
    finished.push_back(wgmma.finish(sum));
  return finished;
}

Values WgmmaTile::loadScales(function_ref<Value(Value)> getScale) {
  Value row = b.add(groupRow, wgmma.getRow(0));
  Values scales;
  for (int64_t i = 0; i < partsOfRows; ++i)
    for (int64_t half = 0; half < 2; ++half)
      scales.push_back(getScale(b.add(row, i * kRows + half * 8)));
  return scales;
}

Values WgmmaTile::scale(ValueRange sums, ValueRange scales, ValueRange totals,
                        int64_t part) {
  Values results(totals);
  auto parts = static_cast<int64_t>(sums.size()) / partsOfRows;
  for (auto [place, sum] : llvm::enumerate(sums)) {
    auto number = static_cast<int64_t>(place);
    auto rows = scales.slice(number / parts * 2, 2);
    Value &total = results[number / parts * partsOfColumns + part * parts +
                           number % parts];
    Values numbers;
    for (int64_t i = 0; i < wgmma.getNumbers(); ++i)
      numbers.push_back(b.fma(b.toF32(wgmma.getNumber(sum, i)), rows[i / 2 % 2],
                              wgmma.getNumber(total, i)));
    total = wgmma.makeSum(numbers);
  }
  return results;
}

void WgmmaTile::transpose(MutableArrayRef<Value> numbers) {
  // Lane q has two numbers of each of the groups 0 to 3, and gets the eight of
  // group q. What is wrong in one bit, of the lane or of the group, is
  // exchanged.
  for (int64_t bit : {1, 2}) {
    Value isSet = b.isEqual(b.rem(b.div(b.lane(), bit), 2), 1);
    for (int64_t i = 0; i < 8; ++i) {
      // Number i is in group i / 2, so that a bit of the group is twice as
      // high.
      int64_t other = i | bit * 2;
      if (i == other)
        continue;
      Value sent = b.select(isSet, numbers[i], numbers[other]);
      Value got = gpu::ShuffleOp::create(b, sent, b.i32(bit),
                                         b.i32(b.getGpu().waveSize),
                                         gpu::ShuffleMode::XOR)
                      .getShuffleResult();
      numbers[i] = b.select(isSet, got, numbers[i]);
      numbers[other] = b.select(isSet, numbers[other], got);
    }
  }
}

void WgmmaTile::store(MatmulResult &result, ValueRange sums, Value firstRow,
                      Value firstColumn) {
  Value row = b.add(b.add(firstRow, groupRow), wgmma.getRow(0));
  storeRows(result, sums, row, [](Value place) { return place; }, firstColumn);
}

void WgmmaTile::store(MatmulResult &result, ValueRange sums,
                      function_ref<Value(Value)> getRow, Value firstColumn) {
  Value row = b.add(groupRow, wgmma.getRow(0));
  storeRows(result, sums, row, getRow, firstColumn);
}

void WgmmaTile::storeRows(MatmulResult &result, ValueRange sums, Value row,
                          function_ref<Value(Value)> getRow,
                          Value firstColumn) {
  Value column = b.add(firstColumn, groupColumn);
  // Four groups of columns are exchanged among the four lanes of a row, so that
  // each stores a whole group.
  constexpr int64_t kTogether = 4;
  bool isWide = columns % (kTogether * kGroup) == 0;
  int64_t groups = isWide ? kTogether : 1;
  Value laneColumn =
      isWide ? b.mul(b.rem(b.lane(), kTogether), kGroup) : wgmma.getColumn();
  for (int64_t i = 0; i < partsOfRows; ++i)
    for (int64_t half = 0; half < 2; ++half) {
      Value place = getRow(b.add(row, i * kRows + half * 8));
      for (int64_t j = 0; j < partsOfColumns; ++j)
        for (int64_t k = 0; k < columns; k += groups * kGroup) {
          Values numbers;
          for (int64_t group = 0; group < groups; ++group)
            for (int64_t number = 0; number < 2; ++number)
              numbers.push_back(wgmma.getNumber(sums[i * partsOfColumns + j],
                                                (k / kGroup + group) * 4 +
                                                    half * 2 + number));
          if (isWide)
            transpose(numbers);
          Value stored = b.concat(numbers);
          result.ifRow(place, [&] {
            result.store(place,
                         b.add(b.add(column, j * columns + k), laneColumn),
                         stored);
          });
        }
    }
}
