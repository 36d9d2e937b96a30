//===- RowSums.h - Rows of a matrix times a few vectors ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a workgroup does with a matrix that it reads once: neighbouring lanes
// share a row, so that it is read in long runs, and have the loads of several
// rows in flight at once. The vectors come from wherever they are.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_MATMUL_ROWSUMS_H
#define GIST_PASSES_TILE_GPU_MATMUL_ROWSUMS_H

#include "passes/Tile/Gpu/Matmul/Staging.h"

namespace gist {

class RowSums {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;
  /// Numbers [k, k + piece) of a vector as f32, where the matrix has a piece;
  /// past the end, any numbers that are finite where the vector is.
  using Vector = llvm::function_ref<Value(int64_t vector, Value k)>;

  /// A lane has `each` rows of `matrix` at once, and `steps` pieces of each.
  RowSums(GpuBuilder &b, Operand &matrix, int64_t vectors, int64_t each,
          int64_t steps);

  /// Rows of which a workgroup computes the sums at once.
  int64_t getRowsAtOnce() const { return apart * each; }
  /// How many of those a lane has, and which; counted from the first.
  int64_t getEach() const { return each; }
  Value getPlace(int64_t i) { return b.add(group, i * apart); }
  /// True in one of the lanes that share a row.
  Value isFirstLane() { return b.isEqual(laneOfRow, 0); }

  /// Loads the first pieces of the rows from `first` on; those past the end are
  /// the last one.
  Values fetch(Value first) { return fetch(first, b.index(0)); }
  /// The sums of vector v and row getPlace(i) from `first` on, at v * each + i.
  /// `fetched` is what fetch() gave, or nothing.
  Values getSums(Value first, Vector vector, Values fetched = {});

  /// How many rows a lane should have for a workgroup to go through `rows` in
  /// one go, at most `limit`.
  static int64_t chooseEach(GpuBuilder &b, Operand &matrix, int64_t rows,
                            int64_t limit);

private:
  static int64_t getLanes(GpuBuilder &b, Operand &matrix);
  Values fetch(Value first, Value k);
  Values add(Value k, mlir::ValueRange fetched, mlir::ValueRange sums,
             Vector vector);

  GpuBuilder &b;
  Operand &matrix;
  int64_t vectors, each, steps, piece, lanes, apart;
  bool checked;
  Value group, laneOfRow, begin;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_MATMUL_ROWSUMS_H
