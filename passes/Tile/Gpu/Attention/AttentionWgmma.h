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
  State run(State state, KeySteps &steps, const RowSource &keySource,
            const RowSource &valueSource) override;
  void finish(State &state) override;
  void
  emitOutputs(State &state,
              llvm::function_ref<void(Value row, Value column, Value numbers)>
                  emit) override;
  int64_t getHeldColumns() const override { return width; }
  void hold(State &state, int64_t begin) override;
  Value readHeld(Value row, Value column, int64_t count) override;

private:
  static constexpr int64_t kStages = 2;

  /// Registers that products read and write, or those of the next.
  struct Multiplied {
    Values out, weights;
    auto getParts() { return std::tie(out, weights); }
  };
  /// What the loop carries: the weights of this step, as what is multiplied,
  /// and the rows of the sources of the next step and, where they are gathered,
  /// of the one after it.
  struct Step {
    State state;
    Values weights, rowsNext, rowsAhead;
    auto getParts() { return std::tie(state, weights, rowsNext, rowsAhead); }
  };

  Values makeOut() override;
  Values spread(mlir::ValueRange numbers) override;

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

  State runSteps(State state);
  Step beginSteps(State state);
  Step takeStep(Value step, Step now);
  Values emitScores(Value step);
  /// Scores with what is added to them; hidden ones are -infinity.
  Values adjustScores(Value step, Values scores);
  /// The weights of scores, and the numbers that outputs are multiplied with.
  /// Updates `rows` but for those.
  std::pair<Values, Values> emitWeights(Values scores, RowTile &rows);
  /// Starts the outputs of a step, whose weights are as what is multiplied.
  Values emitOut(mlir::ValueRange out, mlir::ValueRange weights, Value step);
  /// Waits for the outputs and holds the weights until then, and multiplies the
  /// outputs, but for those of warps whose factors are all one. `total` is a
  /// sum of weights.
  Multiplied finishOut(const Multiplied &registers, mlir::ValueRange factors,
                       Value total);

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
