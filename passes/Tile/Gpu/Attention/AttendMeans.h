//===- AttendMeans.h - Means of clusters as keys and values -----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel whose clusters stand with their means has, besides what the op reads
// and gives, six more destinations to work in:
//
//   keys, values   one row per token, as those that the op reads. Causal: row t
//                  is the mean of the members up to t of the cluster of t, so
//                  that what is older than any token is in one row, that of the
//                  last member before it. Not causal: row i is the mean of
//                  cluster i.
//   counts         how many members the row of a token is the mean of
//   next           causal: the next member of the cluster of a token, the
//                  largest i32 for the last
//   order          tokens by clusters; the first of each has the sign bit too
//   starts         where the clusters begin in that order
//
// and behind them words of control. The number of the call, its last input,
// says which of the words are its own.
//
// They are made first, in the same launch, by all workgroups together.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_ATTENTION_ATTENDMEANS_H
#define GIST_PASSES_TILE_GPU_ATTENTION_ATTENDMEANS_H

#include "passes/Tile/Gpu/Attention/AttendParts.h"
#include "passes/Tile/Gpu/Core/Compact.h"

#include <limits>

namespace gist {

class ClusterMeans {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  /// `memory`, i32 of the workgroup, is free until emit() ends.
  ClusterMeans(GpuKernel &kernel, AttendOp op, Value memory);

  /// Whether the kernel has the destinations listed above; reports what is
  /// missing.
  mlir::LogicalResult verify();

  /// Makes the means. All workgroups take part.
  void emit();

  /// Lists in `memory` those of the tokens [begin, stop), which must fit, that
  /// are the last members before `end` of clusters that began before it.
  /// Returns their number. All threads take part.
  Value listLast(Selection &selection, Value begin, Value stop, Value end);

  /// Keys and values, tensors of the kernel function.
  Value getKeys() const { return sides[0].means; }
  Value getValues() const { return sides[1].means; }
  /// An i32: the members that row `row` is the mean of.
  Value getCount(Value kvHead, Value row);

private:
  /// Keys or values: what a lane has of their rows.
  struct Side {
    Value rows, means; ///< tensors of the kernel function
    int64_t width;     ///< columns of a lane
    Value column;      ///< the first of them; that of another lane,
    Value isThere;     ///< where there is none
  };
  /// In `order`, beside a token that is the first of its cluster.
  static constexpr int64_t kFirst = std::numeric_limits<int32_t>::min();

  /// Indices of number `i` of a head in a tensor as the selection's are.
  Values at(Value head, Value i) const;
  void writeNumber(Value number, Value tensor, Value head, Value i);
  /// Lists tokens of [begin, end) whose clusters have ids from `firstId` to
  /// `lastId`, in order, and behind them all these ids. Returns their number.
  Value listMembers(Selection &selection, Value begin, Value end, Value firstId,
                    Value lastId);
  /// Puts the members of clusters from `begin` on in order, by one workgroup.
  void sort(Selection &selection, Value head, Value begin, Value count);
  /// Adds up the members of clusters from `first` on, by one wave.
  void addUp(Value head, Value first, Value count);
  Value readRow(const Side &side, Value token, Value head);
  void writeMean(const Side &side, Value row, Value head, Value sum,
                 Value count);
  /// Writes how many members the row of `token` is the mean of, and the next
  /// member of its cluster.
  void writeNumbers(Value token, Value head, Value count, Value following);

  ElementEmitter &emitter;
  GpuBuilder &b;
  AttendOp op;
  int64_t heads;
  llvm::SmallVector<Side, 2> sides;
  /// Tensors of the kernel function.
  Value counts, next, order, starts;
  Value list;   ///< workgroup memory
  int64_t room; ///< in it, for tokens
  Compact compact;
  Value control, number; ///< null where the kernel has none
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_ATTENTION_ATTENDMEANS_H
