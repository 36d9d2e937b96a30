//===- RowTeam.h - Threads that share a row ---------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_ELEMENTS_ROWTEAM_H
#define GIST_PASSES_TILE_GPU_ELEMENTS_ROWTEAM_H

#include "passes/Tile/Gpu/Elements/ElementEmitter.h"
#include "passes/Tile/Gpu/Elements/RowReductions.h"

#include <map>

namespace gist {

/// How many neighbours along `size` elements, of which `bytes` each are
/// written, a thread takes at once.
int64_t getRowWidth(int64_t size, int64_t bytes);

/// Bytes of an element of `tensor`.
int64_t getElementBytes(mlir::Value tensor);

/// A wave, or the waves of a workgroup, that go through the columns of a row
/// together. A thread always has the same columns, so that what it has read
/// once stays in its registers.
class RowTeam {
public:
  /// Steps over the columns of a row that are written one after the other, so
  /// that what they read stays in registers.
  static constexpr int64_t kMaxUnrolled = 8;

  using Value = mlir::Value;
  using ValueRange = mlir::ValueRange;
  using Values = GpuBuilder::Values;
  using ColumnBody = llvm::function_ref<Values(Value column, Value isInside,
                                               ValueRange carried)>;

  /// This thread is number `member` of `threads`.
  RowTeam(ElementEmitter &emitter, int64_t threads, Value member)
      : b(emitter.getBuilder()), emitter(emitter), threads(threads),
        member(member) {}

  Value getMember() const { return member; }

  /// Goes through the columns of this thread: `body` gets the first of `width`
  /// columns. Where `isInside` is false the columns are not this thread's and
  /// must not be written. `width` divides a `size` that is a constant.
  Values forColumns(Value size, int64_t width, ValueRange carried,
                    ColumnBody body);

  /// What the reduction gives for a row, in all threads. Each takes up to
  /// `width` neighbours at once.
  Value reduce(const RowReduction &reduction, ValueRange row, int64_t width);

  /// What all threads of the team have, combined.
  Value combine(Value own, GpuBuilder::Combiner combiner);

private:
  GpuBuilder &b;
  ElementEmitter &emitter;
  int64_t threads;
  Value member;
  /// Columns by size, width and step: one value each, so that what was read at
  /// it is known to be the same. Those of a loop's body are not visible after
  /// it, so each block has its own.
  std::map<std::tuple<mlir::Block *, int64_t, int64_t, int64_t>,
           std::pair<Value, Value>>
      columns;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_ELEMENTS_ROWTEAM_H
