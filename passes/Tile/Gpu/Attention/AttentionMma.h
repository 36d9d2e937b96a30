//===- AttentionMma.h - Attention by instructions of one wave ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Waves share the rows of a workgroup. Keys and values are loaded a step ahead:
// asynchronous copies into the other stage of workgroup memory where the target
// has them, else registers, and then (gfx942) the weights of a step are
// computed beside the outputs of the last, as in AttentionWgmma.h
// (AttentionMmaSteps.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONMMA_H
#define GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONMMA_H

#include "passes/Tile/Gpu/Attention/AttentionLoop.h"
#include "passes/Tile/Gpu/Core/Mma.h"

namespace gist {

class MmaAttention final : public AttentionLoop {
public:
  MmaAttention(GpuBuilder &b, GpuAttentionAttr tile, const Shape &shape);

  void loadQueries(const RowSource &queries) override;
  Values getStart() override;
  Values run(Values state, KeySteps &steps, const RowSource &keySource,
             const RowSource &valueSource) override;
  Values merge(Values state, mlir::ValueRange other) override;
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
  Values findKeyRows(Value step);
  /// The slot whose bias this thread loads; threads past the end load the last.
  Value getBiasSlot();
  Values findValueRows(Value step);
  Values findRows(Value step);
  /// A step's chunks, in the registers of the thread that loads them.
  Values loadKeys(Value step, mlir::ValueRange sourceRows);
  Values loadValues(mlir::ValueRange sourceRows);
  void storeKeys(mlir::ValueRange chunks);
  void storeValues(mlir::ValueRange chunks);
  /// The same without registers.
  void copy(Value step, Value stage, mlir::ValueRange sourceRows);
  void copyTile(const RowSource &source, const SharedTile &tile, Value step,
                Value stage, mlir::ValueRange &sourceRows);
  Values runStaged(Values state, Value count);
  Values runPipelined(Values state, Value count);
  Values runSteps(Values state, Value count);
  Values runAsync(Values state, Value count);
  Values compute(Value step, Value stage, mlir::ValueRange state);
  void emitColumns(
      Values &state, int64_t begin, int64_t end,
      llvm::function_ref<void(Value row, Value column, Value numbers)> emit);
  /// What is in workgroup memory of keys times the queries, and `start`.
  Values emitScores(Value stage, mlir::ValueRange start);
  /// What is added to the scores of a tile of keys.
  Value readBias(Value stage, int64_t key);
  Value getLarger(Value x, Value y);
  /// The largest of a lane's scores, for each of its rows.
  Values getTops(mlir::ArrayRef<Value> scores);
  /// Scores of what is seen, in place of all.
  void adjust(Value step, Values &scores);
  /// adjust() where a step needs it, then getTops().
  Values adjustScores(Value step, Values scores);
  /// What is added to the scores of a tile of rows, times their scale, for
  /// powers of at most one, and what sums and outputs are to be multiplied
  /// with. Updates the largest in `state`.
  std::pair<Value, Values> findBase(int64_t tile, mlir::ArrayRef<Value> tops,
                                    Values &state);
  Value emitWeights(Value scores, Value base);
  void addSum(int64_t tile, Value sum, mlir::ArrayRef<Value> factors,
              Values &state);
  void rescale(int64_t tile, mlir::ArrayRef<Value> factors, Values &state);
  /// Weights as the left side of the second product.
  Values getFragments(mlir::ArrayRef<Value> weights);
  void emitProduct(mlir::ValueRange fragments, Value stage, Values &state);
  /// Weights as what is multiplied, for gfx942 in few instructions.
  Value roundWeights(Value weights);
  /// The sum of numbers that are multiplied, and `start`.
  Value addUp(mlir::ArrayRef<Value> weights, Value start);
  /// The fragments of the weights of scores, then the numbers that the outputs
  /// are to be multiplied with.
  Values emitLeft(mlir::ArrayRef<Value> scores, Values &state);

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
  /// Whether there are registers for the weights of a step before.
  bool isPipelined;
  int64_t valuePiece; ///< columns of values that a thread loads at once
  Value lane, firstRow;
  SharedTile queryTile, keyTile, valueTile, outputs;
  Value biases; ///< workgroup memory, stages x keys
  Values queryFragments;

  // Set while run() is.
  KeySteps *steps = nullptr;
  const RowSource *keySource = nullptr, *valueSource = nullptr;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONMMA_H
