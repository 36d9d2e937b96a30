//===- AttentionWgmma.h - Attention by instructions of four warps -*- C++ -*-=//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every four warps have 64 rows of a workgroup. Products run beside everything
// else, and so do the copies of keys and values into workgroup memory:
//
//   for step:
//     wait for the copies of keys step + 1 and values step; barrier
//     start scores = q k[step + 1]^T, then out += p v[step]
//     start the copies of keys step + 2 and values step + 1
//     wait for the scores
//     p' = weights of the scores               while out is being multiplied
//     wait for out
//     out *= c, in warps where a score is far above those before
//
// so that the weights of a step are computed beside the outputs of the last.
// After the barrier of a step no warp reads keys step or values step - 1 any
// more, and their stages are filled again.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONWGMMA_H
#define GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONWGMMA_H

#include "dialect/GistTileAttrs.h"
#include "passes/Tile/Gpu/Attention/AttentionLoop.h"
#include "passes/Tile/Gpu/Core/Wgmma.h"

namespace gist {

class WgmmaAttention final : public AttentionLoop {
public:
  WgmmaAttention(GpuBuilder &b, GpuAttentionAttr tile, const Shape &shape);

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
  int64_t getHeldColumns() const override { return width; }
  void hold(Values &state, int64_t begin) override;
  Value readHeld(Value row, Value column, int64_t count) override;

private:
  static constexpr int64_t kStages = 2;

  /// The rows of the sources that this thread copies chunks of in a step.
  Values findRows(Value step);
  /// Calls `body` with the slots of such rows and whether they are in range.
  void forEachRow(
      llvm::function_ref<void(int64_t number, Value slot, Value isOne)> body);
  /// Starts the copy of `size` numbers, kChunk or none, zeros instead.
  void copyChunk(Value buffer, mlir::ValueRange place, const SharedTile &tile,
                 Value stage, Value row, Value column, Value size);
  void copy(const RowSource &source, const SharedTile &tile, Value step,
            mlir::ValueRange sourceRows);
  /// Asks for what the biases of a step are computed from; nothing where that
  /// is done when they are written.
  Values readBiases(Value step, mlir::ValueRange sourceRows);
  /// Writes what is added to the scores of a step, whose rows these are.
  void writeBiases(Value step, mlir::ValueRange sourceRows,
                   mlir::ValueRange read);
  /// Waits for all copies, of all threads.
  void finishCopies();

  Values runSteps(Values state);
  Values emitScores(Value step);
  /// Scores with what is added to them; hidden ones are -infinity.
  Values adjustScores(Value step, Values scores);
  /// The weights of scores, and the numbers that outputs are multiplied with.
  /// Updates `state` but for those.
  std::pair<Values, Values> emitWeights(Values scores, Values &state);
  Values emitOut(mlir::ValueRange out, mlir::ValueRange weights, Value step);
  void rescale(Values &state, mlir::ValueRange factors);
  /// Waits for `numOut` outputs and whatever else is in `registers`, and then
  /// multiplies the outputs, but for those of warps whose factors are all one.
  /// `total` is a sum of weights.
  Values finishOut(mlir::ValueRange registers, size_t numOut,
                   mlir::ValueRange factors, Value total);

  // The state: the largest scores of two rows, their sums, outputs.
  static constexpr int64_t kOut = 4;
  mlir::ArrayRef<Value> getOut(const Values &state) const {
    return mlir::ArrayRef<Value>(state).drop_front(kOut);
  }

  Wgmma wgmma;
  /// Tiles of 64 columns that heads are cut into, filled up with zeros.
  int64_t keyParts, valueParts;
  Value groupRow; ///< the first row of these four warps
  SharedTile queryTile, keyTile, valueTile;
  Value biases; ///< workgroup memory, stages x keys

  // Set while run() is.
  KeySteps *steps = nullptr;
  const RowSource *keySource = nullptr, *valueSource = nullptr;
  Value count;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONWGMMA_H
