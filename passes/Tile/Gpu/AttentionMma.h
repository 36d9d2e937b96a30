//===- AttentionMma.h - Attention by instructions of one wave ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Waves share the rows of a workgroup. Keys and values are loaded a step ahead:
// asynchronous copies into the other stage of workgroup memory where the target
// has them, else registers.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_ATTENTIONMMA_H
#define GIST_PASSES_TILE_GPU_ATTENTIONMMA_H

#include "passes/Tile/Gpu/AttentionLoop.h"
#include "passes/Tile/Gpu/Mma.h"

namespace gist {

class MmaAttention final : public AttentionLoop {
public:
  MmaAttention(GpuBuilder &b, GpuTileAttr tile, const Shape &shape);

  void loadQueries(const RowSource &queries) override;
  Values getStart() override;
  Values run(Values state, KeySteps &steps, const RowSource &keySource,
             const RowSource &valueSource) override;
  void finish(Values &state) override;
  void
  emitOutputs(Values &state,
              llvm::function_ref<void(Value row, Value column, Value numbers)>
                  emit) override;
  int64_t getHeldColumns() const override { return outputs.getColumns(); }
  void hold(Values &state, int64_t begin) override;
  Value readHeld(Value row, Value column, int64_t count) override;

private:
  /// The rows of the sources that this thread loads in a step.
  Values findRows(Value step);
  /// A step's chunks, in the registers of the thread that loads them.
  Values load(Value step, mlir::ValueRange sourceRows);
  void store(mlir::ValueRange chunks);
  /// The same without registers.
  void copy(Value step, Value stage, mlir::ValueRange sourceRows);
  void copyTile(const RowSource &source, const SharedTile &tile, Value step,
                Value stage, mlir::ValueRange &sourceRows);
  Values runStaged(Values state, Value count);
  Values runAsync(Values state, Value count);
  Values compute(Value step, Value stage, mlir::ValueRange state);
  void emitColumns(
      Values &state, int64_t begin, int64_t end,
      llvm::function_ref<void(Value row, Value column, Value numbers)> emit);
  Values emitScores(Value stage);
  void addBiases(Values &scores, Value stage);
  /// The largest of a lane's scores, for each of its rows.
  Values getTops(mlir::ArrayRef<Value> scores);
  /// The scores of what is seen, then the largest.
  Values adjustScores(Value step, Values scores);
  /// The step's weights in place of scores; updates `state`.
  Values emitWeights(Values scores, mlir::ArrayRef<Value> tops, Values &state);
  void emitProduct(mlir::ArrayRef<Value> weights, Value stage, Values &state);

  Value getQuery(int64_t tile, int64_t depth);
  /// The row of the workgroup that number `i` of tile `tile` belongs to.
  Value getRow(int64_t tile, int64_t i);
  /// Which of a lane's rows number `i` of an accumulator is in.
  int64_t getLaneRow(int64_t i) const {
    return i / mma.getRun() % mma.getLaneRows();
  }
  /// One number for each of a lane's rows, spread over an accumulator.
  Value spread(mlir::ValueRange numbers);

  // The parts of the state of one tile of rows.
  int64_t getStateSize() const { return 2 * mma.getLaneRows() + outTiles; }
  Value &getTop(Values &state, int64_t tile, int64_t row) const {
    return state[tile * getStateSize() + row];
  }
  Value &getSum(Values &state, int64_t tile, int64_t row) const {
    return state[tile * getStateSize() + mma.getLaneRows() + row];
  }
  Value &getOut(Values &state, int64_t tile, int64_t column) const {
    return state[tile * getStateSize() + 2 * mma.getLaneRows() + column];
  }

  Mma mma;
  /// Columns of the tiles in workgroup memory: heads, filled up with zeros.
  int64_t depth;
  int64_t rowTiles, keyTiles, outTiles; ///< of one wave
  bool isAsync;
  Value lane, firstRow;
  SharedTile queryTile, keyTile, valueTile, outputs;
  Value biases; ///< workgroup memory, stages x keys
  Values queryFragments;

  // Set while run() is.
  KeySteps *steps = nullptr;
  const RowSource *keySource = nullptr, *valueSource = nullptr;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_ATTENTIONMMA_H
