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
// scores become the left side of the second product without moving. There is
// one loop for matrix instructions of one wave (AttentionMma.h) and one for
// those of four (AttentionWgmma.h).
//
// Callers say which queries the rows are, where keys are stored and which keys
// a row sees: dense attention and attention on representatives differ only in
// that.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONLOOP_H
#define GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONLOOP_H

#include "dialect/GistOps.h"
#include "dialect/GistTileAttrs.h"
#include "passes/Tile/Gpu/Core/Carried.h"

#include <functional>
#include <limits>
#include <memory>

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
  /// Whether a slot holds a key; null where all but a few do. Copies do not
  /// read rows of those that do not: many workgroups that ask for one row wait
  /// for each other.
  virtual Value isThere(GpuBuilder &b, Value step, Value slot) { return {}; }
  /// Whether rows are read from memory, which is then done a step earlier.
  virtual bool isGathered() const { return false; }
  /// Whether all rows of the workgroup see all keys of the step as they are.
  virtual Value isPlain(GpuBuilder &b, Value step) = 0;
  /// The score of row `row` with a slot: -infinity where the row does not see
  /// the slot, else with the bias added, divided by the scale.
  virtual Value adjust(GpuBuilder &b, Value score, Value step, Value row,
                       Value slot) = 0;
  /// Whether getBias() is to be called.
  virtual bool hasBias() const { return false; }
  /// What is added to the scores of all rows with a slot, divided by the
  /// scale; -infinity where none sees it. `row` is what getRow() gives for it.
  virtual Value getBias(GpuBuilder &b, Value step, Value slot, Value row) {
    return {};
  }
  /// What getBias() would load, for loops that load it earlier and then compute
  /// the bias by finishBias(); null if that is not possible. Steps past the
  /// last are allowed too. `row` is what getRow() gives.
  virtual Value readBias(GpuBuilder &b, Value step, Value slot, Value row) {
    return {};
  }
  virtual Value finishBias(GpuBuilder &b, Value step, Value slot, Value read) {
    return {};
  }
};

/// What a lane has of a tile of rows, which it shares with other lanes.
struct RowTile {
  GpuBuilder::Values tops; ///< the largest score of each of its rows
  GpuBuilder::Values sums; ///< its share of the sum of each row's weights
  GpuBuilder::Values out;  ///< its numbers of the outputs

  auto getParts() { return std::tie(tops, sums, out); }
};

/// How lanes share the rows of a tile.
struct LaneLayout {
  int64_t tiles; ///< of rows, of one wave
  int64_t rows;  ///< of a tile that a lane has numbers of
  /// Lanes that share a row differ in these bits of their number.
  llvm::SmallVector<int64_t> shuffles;
};

class AttentionLoop {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;
  /// The tiles of rows of a wave.
  using State = llvm::SmallVector<RowTile>;

  struct Shape {
    int64_t headSize, valueSize;
    double scale;
    /// The type in which hold() keeps outputs.
    mlir::Type held;
    bool hasBias = false;
  };

  /// Takes its workgroup memory, so that the builder must be where the kernel
  /// begins.
  static std::unique_ptr<AttentionLoop>
  create(GpuBuilder &b, GpuAttentionAttr tile, const Shape &shape);
  virtual ~AttentionLoop() = default;

  int64_t getRows() const { return rows; }
  int64_t getKeys() const { return keys; }

  /// Reads the queries. A row past the end reads another row.
  virtual void loadQueries(const RowSource &queries) = 0;

  /// The state of rows before the first key.
  State getStart();
  /// Their state after the keys of `steps`.
  virtual State run(State state, KeySteps &steps, const RowSource &keySource,
                    const RowSource &valueSource) = 0;
  /// The state of rows that have seen the keys of both states.
  State merge(State state, State other);
  /// Divides the outputs by the sums: what rows have seen, zeros for a row that
  /// has seen nothing.
  virtual void finish(State &state);
  /// Hands out the outputs in f32, neighbours of a row at a time; some may be
  /// past its end.
  virtual void
  emitOutputs(State &state,
              llvm::function_ref<void(Value row, Value column, Value numbers)>
                  emit) = 0;

  /// Columns of the outputs, filled up.
  int64_t getWidth() const { return width; }
  /// How many of them hold() puts into workgroup memory at once.
  virtual int64_t getHeldColumns() const = 0;
  /// Puts columns from `begin` on into workgroup memory. All threads take part;
  /// callers need a barrier before they read.
  virtual void hold(State &state, int64_t begin) = 0;
  /// `count` neighbours from `column` on of what is held of a row.
  virtual Value readHeld(Value row, Value column, int64_t count) = 0;

protected:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  AttentionLoop(GpuBuilder &b, GpuAttentionAttr tile, const Shape &shape,
                int64_t width, LaneLayout lanes);

  /// A lane's outputs of a tile of rows, as zeros.
  virtual Values makeOut() = 0;
  /// One number for each of a lane's rows, as one for each of RowTile::out.
  virtual Values spread(mlir::ValueRange numbers) = 0;

  /// Calls `body` for this thread's share of `count` work items, with the
  /// number of the item and whether it is below `count`.
  void distribute(int64_t count,
                  llvm::function_ref<void(Value item, Value isOne)> body);
  /// `count` numbers, a chunk of 16 bytes if zero, of a row in a tile of
  /// `columns`, as they are in the source; undefined past the source's columns.
  /// finishChunk() replaces those by zeros and converts the others to the type
  /// that is multiplied: later, so that no thread waits for its loads here.
  Value fetchChunk(const RowSource &source, Value row, Value column,
                   int64_t columns, int64_t count = 0);
  Value finishChunk(const RowSource &source, Value fetched, Value column,
                    int64_t columns);
  /// Multiplies the outputs of each of a lane's rows.
  void rescale(RowTile &tile, mlir::ValueRange factors);
  Value getLarger(Value x, Value y);
  /// What is added to the scores of a row, times their scale, so that powers
  /// are at most one where `top` is the largest.
  Value emitBase(Value top);
  /// 2^x. Results that are not normal may be 0.
  Value emitPower(Value x);
  /// 1 / sum, 0 for a sum of 0.
  Value emitInverse(Value sum);

  GpuBuilder &b;
  mlir::Type element;
  int64_t rows, keys, stages;
  int64_t width;
  double factor; ///< scale, for powers of two
  LaneLayout lanes;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONLOOP_H
