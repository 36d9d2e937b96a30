//===- AttentionLoops.h - Attention as loops over vectors -------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_CPU_ATTENTIONLOOPS_H
#define GIST_PASSES_TILE_CPU_ATTENTIONLOOPS_H

#include "dialect/GistTileAttrs.h"
#include "passes/Kernel/Scratch.h"
#include "passes/Tile/Cpu/LowerTiles.h"
#include "passes/Tile/Cpu/TileBuilder.h"

#include <functional>

namespace gist {

/// A step of keys and values in f32, `step` rows of which those past the last
/// key are zeros, and what is added to their scores, times log2(e).
struct AttentionStep {
  mlir::Value key, value, bias;
};

/// The keys of a single query come in parts of this many, so that heads are not
/// all that threads share out. Results depend on it: it is the same for all
/// targets and threads.
inline constexpr int64_t kPartKeys = 256;

/// One of the parts that a single query's keys come in: a workgroup. The one
/// that comes last puts the parts of its KV head together, in their order.
struct AttentionPart {
  mlir::Value first;   ///< its first key, counted from the first that is seen
  mlir::Value head;    ///< the KV head
  int64_t heads;       ///< KV heads
  mlir::Value results; ///< buffer of numbers: what each part found
  mlir::Value control; ///< buffer: how many parts of each KV head are finished
};

/// Numbers of `results` for all heads of a part, `rows` query heads: a multiple
/// of kPartKeys, so that memory for all parts is a multiple of the keys.
inline int64_t countPartNumbers(int64_t rows, int64_t valueSize) {
  // The outputs, the largest score and the sum of weights.
  return llvm::alignTo(rows * (valueSize + 2), kPartKeys);
}

/// Some queries of one KV head, each with the query heads that share it, and
/// what they see. Queries are the last of the keys where they are `causal`.
struct AttentionTile {
  mlir::Value query;      ///< tokens x heads of the group x head size
  mlir::Value queries;    ///< how many tokens
  mlir::Value keys;       ///< how many keys
  mlir::Value key, value; ///< tensors that hold them, the head size last
  /// What each key and value, integers then, is scaled by; or null. Scores and
  /// weights are scaled in their place.
  mlir::Value keyScales = {}, valueScales = {};
  /// The leading indices of key number `n` in `key` and `value`, and those of
  /// its scales.
  std::function<TileBuilder::Values(TileBuilder &, mlir::Value n)> locate;
  /// What is added to the score of key number `n`, an f32; may be null.
  std::function<mlir::Value(TileBuilder &, mlir::Value n)> bias = nullptr;
  /// Where keys are made and not read, in place of the two above: `count` of
  /// them from number `first` on.
  std::function<AttentionStep(TileBuilder &, mlir::Value first,
                              mlir::Value count, int64_t step)>
      make = nullptr;
  /// What is added to the scores of queries with a step of keys, queries x
  /// step, times log2(e); may be null.
  std::function<mlir::Value(TileBuilder &, mlir::Value first, mlir::Value count,
                            int64_t step)>
      pairBias = nullptr;
  mlir::Value mask = {}; ///< queries x keys, or null
  bool isCausal = true;
  std::optional<int64_t> window = std::nullopt;
  int64_t sinks = 0;
  double scale = 1;
  int64_t ahead = 0; ///< rows are fetched so many before their use; 0: not
  /// Where a single query's keys come in parts; calls of more queries have one.
  std::optional<AttentionPart> part = std::nullopt;
};

/// Whether `op`, attention that ends `kernel`, has its keys cut into parts
/// where it has a single query; then `kernel` has memory for them.
mlir::FailureOr<KernelScratch> getPartScratch(mlir::func::FuncOp kernel);

/// Adds the parts of a single query's keys to `forall`, the loop of a kernel
/// that has memory for them.
mlir::scf::ForallOp cutKeys(mlir::RewriterBase &rewriter,
                            mlir::func::FuncOp kernel,
                            mlir::scf::ForallOp forall);

/// The attention of `kernel`, dense or on a cache of clusters, or null. Once it
/// is cut, the op that was.
mlir::Operation *findAttention(mlir::func::FuncOp kernel);

/// The part that the workgroup around `op` has; none where keys are not cut.
std::optional<AttentionPart> findPart(TileBuilder &b, mlir::Operation *op);

/// True if heads of these tensors can be cut into vectors.
bool isAttentionVectorizable(mlir::RankedTensorType key,
                             mlir::RankedTensorType value);

/// `result`, tokens x heads of the group x value size, filled with attention.
/// The tile is #gist.cpu_attention or #gist.cpu_amx_attention.
mlir::Value emitAttention(TileBuilder &b, const AttentionTile &what,
                          CpuTileInterface tile, mlir::Value result);

} // namespace gist

#endif // GIST_PASSES_TILE_CPU_ATTENTIONLOOPS_H
