//===- AttentionDecodeMma.h - One query by matrix instructions --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where several query heads share keys, a workgroup that reads them is bound by
// its arithmetic as much as by memory: each lane converts, multiplies and adds
// up over lanes. Matrix instructions do that with a quarter of the
// instructions, although most of their rows, which are query heads, are empty.
// A wave has 16 keys at once. They go from memory into registers as fragments,
// since no other wave reads them:
//
//   scores:  query heads x keys    = queries (heads x numbers) keys^T
//   outputs: query heads x numbers = weights (heads x keys) values
//
// A lane has the scores of one head for four keys, and its outputs of 16
// numbers: all that belongs to one head is in the four lanes of a row.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONDECODEMMA_H
#define GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONDECODEMMA_H

#include "passes/Tile/Gpu/Core/RowFragments.h"

namespace gist {

class DecodeKeys;

class DecodeMma {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  /// Whether there is such code for rows of `element` on a GPU.
  static bool isFor(const GpuInfo &gpu, mlir::Type element, int64_t heads,
                    int64_t headSize, int64_t valueSize);

  /// `scale` is in powers of two. The workgroup sees `count` of `keys`.
  DecodeMma(GpuBuilder &b, DecodeKeys &keys, Value count, mlir::Type element,
            int64_t heads, double scale);

  /// `rows` in workgroup memory are the queries, the own key and the own value,
  /// in f32.
  void takeRows(Value rows);
  /// What a wave has before the first key; where `hasOwn`, the own one.
  Values start(Value hasOwn);
  /// Adds the keys of a step of the workgroup that begins with key `first`.
  Values step(Value first, mlir::ValueRange state);
  /// Writes what the wave has: outputs of its heads, largest scores and sums.
  void store(mlir::ValueRange state, Value outputs, Value tops, Value sums);

private:
  /// The first key of this wave in such a step.
  Value getFirstOfWave(Value first);
  /// Number `i` of the keys whose scores this lane has.
  Value getNumber(Value first, int64_t i);
  /// The keys of this wave, as fragments.
  Values fetchKeys(Value first);
  /// This lane's scores of keys.
  Values getScores(mlir::ArrayRef<Value> fragments);
  /// The numbers of an accumulator that are this lane's head's, and back.
  Values getOwn(Value accumulator);
  Value makeAccumulator(mlir::ValueRange own);

  GpuBuilder &b;
  DecodeKeys &keys;
  Value count;
  mlir::Type element;
  int64_t heads;
  double scale;
  Mma mma;
  RowFragments lanes;
  Value head, place; ///< of this lane: its row, and where it is in the row
  Value last;        ///< key
  mlir::VectorType outputType;
  Value rows;
  Values queries; ///< fragments
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONDECODEMMA_H
