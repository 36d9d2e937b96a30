//===- MatmulWgmma.cpp - Products in tiles, by instructions of four warps -===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// sm_90a multiplies straight from workgroup memory, and asynchronously: the
// instructions of a step run while the next one is prepared.
//
//   for step:
//     wait for the copies of this step; barrier
//     start the copies of step + stages - 2
//     load step + 1 into registers             what cannot be copied as it is
//     start multiplying step
//     store the registers into the next stage
//     wait until step - 1 is multiplied
//
// After the barrier of a step nobody reads the stage of step - 2 any more,
// which is the one that is filled again.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Core/Wgmma.h"
#include "passes/Tile/Gpu/Matmul/Matmul.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

namespace {
class WgmmaKernel {
public:
  WgmmaKernel(ElementEmitter &emitter, linalg::LinalgOp product,
              GpuTileAttr tile)
      : b(emitter.getBuilder()), wgmma(b, tile.getElement()),
        grid(product, tile), depth(tile.getDepth()), stages(tile.getStages()),
        tileX(b, stages, tile.getWorkgroup()[0], depth, tile.getElement()),
        tileW(b, stages, tile.getWorkgroup()[1], depth, tile.getElement()),
        firstRow(grid.getRow(b)), firstColumn(grid.getColumn(b)),
        x(emitter, product.getDpsInputs()[0]),
        w(emitter, product.getDpsInputs()[1]),
        loaders{{b, x, tileX, firstRow}, {b, w, tileW, firstColumn}},
        steps(llvm::divideCeil(x.getDepth(), depth)),
        result(emitter, product, tile.getWorkgroup()[1]) {
    int64_t groupsOfRows = tile.getWaves()[0] / kWarps;
    int64_t groupsOfColumns = tile.getWaves()[1];
    Value group = b.div(b.thread(), kWarps * b.getGpu().waveSize);
    groupRow =
        b.mul(b.div(group, groupsOfColumns), tileX.getRows() / groupsOfRows);
    groupColumn =
        b.mul(b.rem(group, groupsOfColumns), tileW.getRows() / groupsOfColumns);
    partsOfRows = tileX.getRows() / groupsOfRows / kRows;
    partsOfColumns = tileW.getRows() / groupsOfColumns / kColumns;
  }

  void generate() {
    start();
    Values sums(partsOfRows * partsOfColumns, wgmma.makeZero());
    sums = b.loop(
        b.index(0), b.index(steps), 1, sums,
        [&](Value step, ValueRange sums) { return getStep(step, sums); });
    for (Value &sum : sums)
      sum = wgmma.finish(sum);
    store(sums);
  }

private:
  static constexpr int64_t kWarps = Wgmma::kWarps, kRows = Wgmma::kRows,
                           kColumns = Wgmma::kColumns;

  bool isAnyAsync() const {
    return loaders[0].isAsync() || loaders[1].isAsync();
  }
  Value getStage(Value step) { return b.rem(step, stages); }

  void start() {
    for (int64_t step = 0; step + 2 < stages; ++step) {
      for (TileLoader &loader : loaders)
        if (loader.isAsync())
          loader.copy(b.index(step * depth), b.index(step));
      if (isAnyAsync())
        closeCopies(b);
    }
    for (TileLoader &loader : loaders)
      if (!loader.isAsync())
        loader.store(b.index(0), loader.fetch(b.index(0)), b.index(0));
  }

  Values getStep(Value step, ValueRange sums) {
    if (isAnyAsync())
      waitForCopies(b, stages - 3);
    wgmma.publishStores();
    b.barrier();
    Value ahead = b.add(step, stages - 2);
    for (TileLoader &loader : loaders)
      if (loader.isAsync())
        loader.copy(b.mul(ahead, depth), getStage(ahead));
    if (isAnyAsync())
      closeCopies(b);
    // The last step loads itself again: something must be there to load.
    Value next = b.mul(b.min(b.add(step, 1), b.index(steps - 1)), depth);
    Values fetched[2];
    for (auto [loader, values] : llvm::zip_equal(loaders, fetched))
      if (!loader.isAsync())
        values = loader.fetch(next);
    Values newSums = multiply(getStage(step), sums);
    for (auto [loader, values] : llvm::zip_equal(loaders, fetched))
      if (!loader.isAsync())
        loader.store(next, values, getStage(b.add(step, 1)));
    wgmma.wait(1);
    return newSums;
  }

  Values multiply(Value stage, ValueRange sums) {
    Values newSums(sums);
    Value rowsX = wgmma.getDescriptor(tileX, stage, groupRow);
    Value rowsW = wgmma.getDescriptor(tileW, stage, groupColumn);
    wgmma.fence();
    for (int64_t k = 0; k < depth; k += Wgmma::kDepth)
      for (int64_t i = 0; i < partsOfRows; ++i)
        for (int64_t j = 0; j < partsOfColumns; ++j) {
          Value &sum = newSums[i * partsOfColumns + j];
          sum = wgmma.multiply(wgmma.advance(rowsX, i * kRows, k),
                               wgmma.advance(rowsW, j * kColumns, k), sum);
        }
    wgmma.commit();
    return newSums;
  }

  void store(ArrayRef<Value> sums) {
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

  GpuBuilder &b;
  Wgmma wgmma;
  MatmulGrid grid;
  int64_t depth, stages;
  SharedTile tileX, tileW;
  Value firstRow, firstColumn;
  Operand x, w;
  TileLoader loaders[2];
  int64_t steps;
  MatmulResult result;
  Value groupRow, groupColumn;
  int64_t partsOfRows, partsOfColumns;
};
} // namespace

LogicalResult gist::emitWgmmaMatmul(GpuKernel &kernel,
                                    linalg::LinalgOp product) {
  if (kernel.tile.getDepth() != Wgmma::kTileDepth ||
      kernel.tile.getStages() < 3)
    return product.emitOpError("expects steps of 64 and three stages or more "
                               "for wgmma, got ")
           << kernel.tile;
  WgmmaKernel(kernel.emitter, product, kernel.tile).generate();
  return success();
}
