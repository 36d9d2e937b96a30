//===- AttentionLoop.h - Softmax over steps of keys -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup has `rows` queries, which its waves share, and takes the keys and
// values that they see in steps of `keys`:
//
//   scores = q k^T                                matrix instructions
//   m' = max(m, scores), c = exp(m - m')          the lanes that share a row
//   p = exp(scores - m'), l = l c + sum(p), out = out c + p v
//
// Scores and outputs stay in the registers of the lanes that accumulate them;
// scores become the left side of the second product without moving (Mma.h).
// Keys and values are loaded a step ahead: asynchronous copies into the other
// stage of workgroup memory where the target has them, else registers.
//
// Who is a row, where keys lie and who sees whom is left to the callers: dense
// attention and attention on representatives differ in nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_ATTENTIONLOOP_H
#define GIST_PASSES_TILE_GPU_ATTENTIONLOOP_H

#include "passes/Tile/Gpu/GpuBuilder.h"
#include "passes/Tile/Gpu/Mma.h"

#include <functional>

namespace gist {

/// Rows of numbers that a workgroup reads: the keys of a head, say.
struct RowSource {
  using Value = mlir::Value;

  /// Numbers of a row; those past it are not asked for.
  int64_t width;
  /// `count` neighbours of row `row` from `column` on, in any float type.
  std::function<Value(Value row, Value column, int64_t count)> read;
  /// Where they lie, if they are in memory in the type that is multiplied.
  std::function<std::pair<Value, GpuBuilder::Values>(Value row, Value column)>
      place;
};

/// The keys that the rows of a workgroup see.
class KeySteps {
public:
  using Value = mlir::Value;

  virtual ~KeySteps() = default;

  /// The number of steps.
  virtual Value getCount(GpuBuilder &b) = 0;
  /// The row of the sources where slot `slot` of step `step` lies. Slots that
  /// hold no key give a row that can be read all the same, and are not seen.
  virtual Value getRow(GpuBuilder &b, Value step, Value slot) = 0;
  /// Whether rows are read from memory, which is then done a step earlier.
  virtual bool isGathered() const { return false; }
  /// Whether all rows of the workgroup see all keys of the step as they are.
  virtual Value isPlain(GpuBuilder &b, Value step) = 0;
  /// The score of row `row` with a slot: -infinity where it is not seen, and
  /// what else is added to it, divided by the scale.
  virtual Value adjust(GpuBuilder &b, Value score, Value step, Value row,
                       Value slot) = 0;
  /// Whether getBias() is to be asked.
  virtual bool hasBias() const { return false; }
  /// What is added to the scores of all rows with a slot, divided by the
  /// scale; -infinity where none sees it.
  virtual Value getBias(GpuBuilder &b, Value step, Value slot) { return {}; }
};

class AttentionLoop {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  /// Takes its workgroup memory, so that the builder must be where the kernel
  /// begins.
  AttentionLoop(GpuBuilder &b, GpuTileAttr tile, int64_t headSize,
                int64_t valueSize, double scale, bool hasBias = false);

  int64_t getRows() const { return rows; }
  int64_t getKeys() const { return keys; }

  /// Reads the queries. Rows that there are not read something else.
  void loadQueries(const RowSource &queries);

  /// What rows have before the first key.
  Values getStart();
  /// What they have after the keys of `steps`.
  Values run(Values state, KeySteps &steps, const RowSource &keySource,
             const RowSource &valueSource);
  /// Divides the outputs by the sums: what rows have seen, zeros for a row that
  /// has seen nothing.
  void finish(Values &state);
  /// Hands out columns [begin, end) of the outputs, multiples of
  /// getColumns(), in f32, neighbours of a row at a time.
  void emitOutputs(
      Values &state, int64_t begin, int64_t end,
      llvm::function_ref<void(Value row, Value column, Value numbers)> emit);
  /// Columns of the outputs, filled up.
  int64_t getWidth() const { return width; }
  int64_t getColumns() const { return mma.columns(); }

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
  Values emitScores(Value stage);
  void addBiases(Values &scores, Value stage);
  /// The largest of a lane's scores, for each of its rows.
  Values getTops(mlir::ArrayRef<Value> scores);
  /// The scores of what is seen, then the largest.
  Values adjustScores(Value step, Values scores);
  /// The step's weights in place of scores; updates `state`.
  Values emitWeights(Values scores, mlir::ArrayRef<Value> tops, Values &state);
  void emitProduct(mlir::ArrayRef<Value> weights, Value stage, Values &state);

  /// A chunk of a row in a tile of `columns`, as it is in the source; something
  /// else past the source's columns. finishChunk() makes zeros of that, and
  /// what is multiplied of the rest: later, so that nobody waits for loads
  /// before.
  Value fetchChunk(const RowSource &source, Value row, Value column,
                   int64_t columns);
  Value finishChunk(const RowSource &source, Value fetched, Value column,
                    int64_t columns);
  Value getQuery(int64_t tile, int64_t depth);
  /// The row of the workgroup that number `i` of tile `tile` belongs to.
  Value getRow(int64_t tile, int64_t i);
  /// Calls `body` with what this thread has of `count` pieces of work: their
  /// number and whether it is one.
  void distribute(int64_t count,
                  llvm::function_ref<void(Value item, Value isOne)> body);
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

  GpuBuilder &b;
  Mma mma;
  mlir::Type element;
  int64_t rows, keys, stages;
  /// Columns of the tiles in workgroup memory: heads, filled up with zeros.
  int64_t depth, width;
  int64_t rowTiles, keyTiles, outTiles; ///< of one wave
  double factor;                        ///< scale, for powers of two
  bool isAsync;
  Value lane, firstRow;
  SharedTile queryTile, keyTile, valueTile;
  Value biases; ///< workgroup memory, stages x keys
  Values queryFragments;

  // Set while run() is.
  KeySteps *steps = nullptr;
  const RowSource *keySource = nullptr, *valueSource = nullptr;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_ATTENTIONLOOP_H
