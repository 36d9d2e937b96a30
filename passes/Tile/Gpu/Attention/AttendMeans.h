//===- AttendMeans.h - Means of clusters as keys and values -----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel whose clusters stand with their means has, besides what the op reads
// and gives, three more destinations to work in:
//
//   keys, values   one row per token, as those that the op reads. Causal: row t
//                  is the mean of the members up to t of the cluster of t, so
//                  that what is older than any token is in one row, that of the
//                  last member before it. Not causal: row i is the mean of
//                  cluster i.
//   counts         how many members the row of a token is the mean of
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

namespace gist {

class ClusterMeans {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  /// `memory`, i32 of the workgroup, is free until emit() ends.
  ClusterMeans(GpuKernel &kernel, AttendOp op, Value memory);

  /// Whether the kernel has what is asked for above; reports what is not so.
  mlir::LogicalResult verify();

  /// Makes the means. All workgroups take part.
  void emit();

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
  /// Sums over members, for each of some clusters.
  struct Sums {
    llvm::SmallVector<Values, 2> sides;
    Values counts; ///< f32
  };

  Sums unflatten(mlir::ValueRange values) const;
  Values flatten(const Sums &sums) const;
  Values getZeros();
  /// Lists tokens of [begin, end) whose clusters have ids from `firstId` to
  /// `lastId`, in order, and behind them all these ids. Returns their number.
  Value listMembers(Selection &selection, Value begin, Value end, Value firstId,
                    Value lastId);
  /// Adds up the members of clusters from `begin` on, by one workgroup.
  void addUp(Selection &selection, Value head, Value begin, Value count);
  /// Adds those listed from `from` on, one for each lane, that belong to this
  /// wave's clusters, `ids`.
  Values addMembers(Value from, Value members, Value head,
                    mlir::ArrayRef<Value> ids, mlir::ValueRange sums);
  Value readRow(const Side &side, Value token, Value head);
  void writeMean(const Side &side, Value row, Value head, Value sum,
                 Value count);
  /// Writes what the cluster of `token` is the mean of up to it.
  void writeSoFar(Value token, Value head, mlir::ValueRange sums, Value count);

  ElementEmitter &emitter;
  GpuBuilder &b;
  AttendOp op;
  int64_t heads, clusters = 0; ///< clusters of a wave
  llvm::SmallVector<Side, 2> sides;
  Value counts; ///< a tensor of the kernel function
  Value list;   ///< workgroup memory
  int64_t room; ///< in it, for tokens
  Compact compact;
  Value control, number; ///< null where the kernel has none
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_ATTENTION_ATTENDMEANS_H
