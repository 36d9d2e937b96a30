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
  State run(State state, KeySteps &steps, const RowSource &keySource,
            const RowSource &valueSource) override;
  void
  emitOutputs(State &state,
              llvm::function_ref<void(Value row, Value column, Value numbers)>
                  emit) override;
  int64_t getHeldColumns() const override { return outputs.getColumns(); }
  void hold(State &state, int64_t begin) override;
  Value readHeld(Value row, Value column, int64_t count) override;

private:
  /// What a thread loads in a step, or the rows of the sources that it loads
  /// from: chunks of keys, the bias of a slot if there are biases, chunks of
  /// values.
  struct Loads {
    Values keys, bias, values;
    auto getParts() { return std::tie(keys, bias, values); }
  };
  /// Accumulators, or fragments, of each tile of rows.
  using Tiles = llvm::SmallVector<Values>;
  /// The left side of the second product, and what the outputs of each tile of
  /// rows are multiplied with before it.
  struct Weights {
    Tiles fragments;
    Values factors;
    auto getParts() { return std::tie(fragments, factors); }
  };
  /// Scores of what is seen, and the largest of each of a lane's rows.
  struct Scores {
    Tiles all, tops;
    auto getParts() { return std::tie(all, tops); }
  };

  // What the loops carry.
  struct Step {
    State state;
    Loads loaded; ///< of this step; empty where they are copied
    Loads rows; ///< of the next load or copy; empty where found without memory
    auto getParts() { return std::tie(state, loaded, rows); }
  };
  struct PipelinedStep {
    Value number;
    State state;
    Weights weights; ///< of this step
    Loads loaded;    ///< keys of the next step, values of this one
    Loads rows;      ///< of keys and values a step further, as i32
    auto getParts() { return std::tie(number, state, weights, loaded, rows); }
  };

  Values makeOut() override;
  Values spread(mlir::ValueRange numbers) override;

  /// The slot whose bias this thread loads; threads past the end load the last.
  Value getBiasSlot();
  void findKeyRows(Value step, Loads &found);
  void findValueRows(Value step, Loads &found);
  Loads findRows(Value step);
  /// A step's chunks, in the registers of the thread that loads them. `step` is
  /// that of the keys.
  void loadKeys(Value step, const Loads &sourceRows, Loads &loaded);
  void loadValues(const Loads &sourceRows, Loads &loaded);
  Loads load(Value step, const Loads &sourceRows);
  void storeKeys(const Loads &loaded);
  void storeValues(const Loads &loaded);
  /// The same without registers.
  void copy(Value step, Value stage, const Loads &sourceRows);
  void copyTile(const RowSource &source, const SharedTile &tile, Value stage,
                mlir::ValueRange sourceRows);
  State runStaged(State state, Value count);
  State runPipelined(State state, Value count);
  State runAsync(State state, Value count);
  // Steps of runPipelined(), of which `last` is the last.
  Loads findNextRows(Value step, Value last);
  PipelinedStep beginSteps(const State &state, Value last);
  /// Where it is plain, all rows see all keys of the next step.
  PipelinedStep takeStep(PipelinedStep now, Value last, bool isPlain);
  void compute(Value step, Value stage, State &state);
  void emitColumns(
      State &state, int64_t begin, int64_t end,
      llvm::function_ref<void(Value row, Value column, Value numbers)> emit);
  /// What is in workgroup memory of keys times the queries, and `start`.
  Tiles emitScores(Value stage, Tiles start);
  /// The same, with sums that start from the biases, which saves additions.
  Tiles emitBiasedScores(Value stage);
  /// What is added to the scores of a tile of keys.
  Value readBias(Value stage, int64_t key);
  /// The largest of a lane's scores of a tile, for each of its rows.
  Values getTops(mlir::ValueRange scores);
  /// Scores of what is seen, in place of all.
  void adjust(Value step, Tiles &scores);
  /// adjust() where a step needs it, then getTops().
  Scores adjustScores(Value step, const Tiles &scores, const State &state);
  /// What is added to the scores of a tile of rows, times their scale, for
  /// powers of at most one, and what sums and outputs are to be multiplied
  /// with. Updates the largest of `rows`; `tops` are those of its new scores.
  std::pair<Value, Values> findBase(mlir::ValueRange tops, RowTile &rows);
  Value emitWeights(Value scores, Value base);
  void addSum(Value sum, mlir::ArrayRef<Value> factors, RowTile &rows);
  void emitProduct(const Tiles &fragments, Value stage, State &state);
  /// The outputs with the values of a step, times its weights.
  void addOut(const Weights &weights, State &state);
  /// Weights as what is multiplied, for gfx942 in few instructions.
  Value roundWeights(Value weights);
  /// The sum of numbers that are multiplied, and `start`.
  Value addUp(mlir::ArrayRef<Value> weights, Value start);
  Weights emitLeft(const Tiles &scores, State &state);

  Value getQuery(int64_t tile, int64_t depth);
  /// The row of the workgroup that number `i` of tile `tile` belongs to.
  Value getRow(int64_t tile, int64_t i);
  /// Which of a lane's rows number `i` of an accumulator is in.
  int64_t getLaneRow(int64_t i) const {
    return i / mma.getRun() % mma.getLaneRows();
  }
  /// One number for each of a lane's rows, spread over an accumulator.
  Value spreadOver(mlir::ValueRange numbers);

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
