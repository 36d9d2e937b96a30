//===- MatmulLoop.cpp - A tile of products, by instructions of a wave -----===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup goes along k in steps of the tile's depth, with parts of x and W
// in `stages` buffers of workgroup memory. While a step is multiplied, the next
// ones are on their way:
//
//   for step:
//     wait for the copies of this step; barrier
//     start the copies of step + stages - 1
//     store step + 1 from registers            what cannot be copied as it is
//     load step + 2 into registers
//     multiply step
//
// (sm_90: load step + 1, multiply, store.)
//
// One barrier is enough: a stage is overwritten in the step after the one that
// read it at the earliest, and a barrier is between them. What is loaded into
// registers has a whole step to arrive.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Matmul/MatmulLoop.h"

using namespace mlir;
using namespace gist;

using Values = GpuBuilder::Values;

MatmulLoop::MatmulLoop(GpuBuilder &b, GpuTileAttr tile)
    : b(b), mma(tile), depth(tile.getDepth()), stages(tile.getStages()),
      tileX(b, stages, tile.getWorkgroup()[0], depth, tile.getElement()),
      tileW(b, stages, tile.getWorkgroup()[1], depth, tile.getElement()) {
  int64_t wavesOfRows = tile.getWaves()[0], wavesOfColumns = tile.getWaves()[1];
  waveRow =
      b.mul(b.div(b.wave(), wavesOfColumns), tileX.getRows() / wavesOfRows);
  waveColumn =
      b.mul(b.rem(b.wave(), wavesOfColumns), tileW.getRows() / wavesOfColumns);
  fragmentsOfRows = tileX.getRows() / wavesOfRows / mma.rows();
  fragmentsOfColumns = tileW.getRows() / wavesOfColumns / mma.columns();
}

Values MatmulLoop::makeSums() {
  return Values(fragmentsOfRows * fragmentsOfColumns, mma.makeAccumulator(b));
}

//===----------------------------------------------------------------------===//
// Steps along k
//===----------------------------------------------------------------------===//

namespace {
/// What is on its way into the stages.
class Copies {
public:
  Copies(GpuBuilder &b, ArrayRef<TileLoader *> loaders, int64_t depth,
         int64_t stages, int64_t steps)
      : b(b), loaders(loaders), depth(depth), stages(stages), steps(steps) {}

  bool isAnyAsync() const {
    return llvm::any_of(loaders,
                        [](TileLoader *loader) { return loader->isAsync(); });
  }
  Value getStage(Value step) { return b.rem(step, stages); }

  /// Starts copies of a step, which may be past the end.
  void copy(Value step) {
    for (TileLoader *loader : loaders)
      if (loader->isAsync())
        loader->copy(b.mul(step, depth), getStage(step));
    if (isAnyAsync())
      closeCopies(b);
  }
  void wait(int64_t pending) {
    if (isAnyAsync())
      waitForCopies(b, pending);
  }
  /// What goes through registers of a step.
  Values fetch(Value step) {
    Values fetched;
    for (TileLoader *loader : loaders)
      if (!loader->isAsync())
        llvm::append_range(fetched, loader->fetch(getDepth(step)));
    return fetched;
  }
  /// Stores what was fetched of a step.
  void store(Value step, ValueRange fetched) {
    for (TileLoader *loader : loaders) {
      if (loader->isAsync())
        continue;
      size_t count = loader->getNumFetched();
      loader->store(getDepth(step), fetched.take_front(count), getStage(step));
      fetched = fetched.drop_front(count);
    }
  }

private:
  /// k of a step; of the last one for those past it, as something must be
  /// there to load.
  Value getDepth(Value step) {
    return b.mul(b.min(step, b.index(steps - 1)), depth);
  }

  GpuBuilder &b;
  ArrayRef<TileLoader *> loaders;
  int64_t depth, stages, steps;
};
} // namespace

Values MatmulLoop::add(TileLoader &x, TileLoader &w, int64_t terms,
                       ValueRange sums) {
  // Loads of a step further give gfx942 a whole step for them to arrive. For
  // sm_90, LLVM would undo it: it turns a loaded value that a loop carries into
  // a load where the value is used.
  bool isTwoAhead = b.getGpu().kind == GpuKind::Amd;
  int64_t steps = llvm::divideCeil(terms, depth);
  TileLoader *loaders[] = {&x, &w};
  Copies copies(b, loaders, depth, stages, steps);
  for (int64_t step = 0; step + 1 < stages; ++step)
    copies.copy(b.index(step));
  copies.store(b.index(0), copies.fetch(b.index(0)));
  Values carried = isTwoAhead ? copies.fetch(b.index(1)) : Values();
  size_t numFetched = carried.size();
  llvm::append_range(carried, sums);

  auto getStep = [&](Value step, ValueRange carried) {
    ValueRange sums = carried.drop_front(numFetched);
    copies.wait(stages - 2);
    b.barrier();
    copies.copy(b.add(step, stages - 1));
    Value next = b.add(step, 1), stage = copies.getStage(step);
    if (!isTwoAhead) {
      Values values = copies.fetch(next);
      Values newSums = multiply(loadFragments(stage), sums);
      copies.store(next, values);
      return newSums;
    }
    // All reads of workgroup memory come before what is stored there, so that
    // matrix instructions wait for neither.
    Values fragments = loadFragments(stage);
    Values result = copies.fetch(b.add(step, 2));
    llvm::append_range(result, multiply(fragments, sums));
    copies.store(next, carried.take_front(numFetched));
    int64_t numMatrix = static_cast<int64_t>(sums.size()) * depth /
                        mma.depth() * mma.getInstructions();
    if (x.isDequantized() || w.isDequantized())
      interleaveConversions(b, numMatrix);
    else
      interleaveLoads(b, numMatrix, static_cast<int64_t>(fragments.size()),
                      static_cast<int64_t>(numFetched));
    return result;
  };
  // Two steps at once where what is loaded is there beside what was: a loop
  // would move one to the registers of the other, and wait for it.
  int64_t together = isTwoAhead ? 2 : 1, rest = steps % together;
  carried = b.loop(b.index(0), b.index(steps - rest), together, carried,
                   [&](Value step, ValueRange carried) {
                     Values values(carried);
                     for (int64_t i = 0; i < together; ++i)
                       values = getStep(b.add(step, i), values);
                     return values;
                   });
  for (int64_t step = steps - rest; step < steps; ++step)
    carried = getStep(b.index(step), carried);
  carried.erase(carried.begin(), carried.begin() + numFetched);
  return carried;
}

void MatmulLoop::finish(TileLoader &x, TileLoader &w) {
  if (x.isAsync() || w.isAsync())
    waitForCopies(b, 0);
  b.barrier();
}

Values MatmulLoop::loadFragments(Value stage) {
  Values fragments;
  for (int64_t k = 0; k < depth; k += mma.depth()) {
    for (int64_t i = 0; i < fragmentsOfRows; ++i)
      fragments.push_back(mma.loadA(b, tileX, b.lane(), stage,
                                    b.add(waveRow, i * mma.rows()),
                                    b.index(k)));
    for (int64_t j = 0; j < fragmentsOfColumns; ++j)
      fragments.push_back(mma.loadB(b, tileW, b.lane(), stage,
                                    b.add(waveColumn, j * mma.columns()),
                                    b.index(k)));
  }
  return fragments;
}

Values MatmulLoop::multiply(ValueRange fragments, ValueRange sums) {
  Values newSums(sums);
  for (int64_t k = 0; k < depth; k += mma.depth()) {
    ValueRange fragmentsX = fragments.take_front(fragmentsOfRows);
    ValueRange fragmentsW =
        fragments.slice(fragmentsOfRows, fragmentsOfColumns);
    for (int64_t i = 0; i < fragmentsOfRows; ++i)
      for (int64_t j = 0; j < fragmentsOfColumns; ++j) {
        Value &sum = newSums[i * fragmentsOfColumns + j];
        sum = mma.multiply(b, fragmentsX[i], fragmentsW[j], sum);
      }
    fragments = fragments.drop_front(fragmentsOfRows + fragmentsOfColumns);
  }
  return newSums;
}

void MatmulLoop::store(MatmulResult &result, ArrayRef<Value> sums,
                       function_ref<Value(Value)> getRow, Value firstColumn) {
  int64_t run = mma.getRun(), laneRows = mma.getLaneRows();
  int64_t count = mma.getAccumulatorType().getNumElements();
  Value lane = b.lane();
  for (int64_t i = 0; i < fragmentsOfRows; ++i)
    for (int64_t laneRow = 0; laneRow < laneRows; ++laneRow) {
      Value row = getRow(b.add(
          waveRow, b.add(mma.getRow(b, lane, laneRow * run), i * mma.rows())));
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
