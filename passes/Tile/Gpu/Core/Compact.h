//===- Compact.h - Lists of the tokens that satisfy something ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_CORE_COMPACT_H
#define GIST_PASSES_TILE_GPU_CORE_COMPACT_H

#include "passes/Tile/Gpu/Core/GpuBuilder.h"

namespace gist {

/// Prefix sums by one workgroup.
class Compact {
public:
  explicit Compact(GpuBuilder &b);

  /// The sum of `number`, an index, over the threads before this one, and over
  /// all threads.
  std::pair<mlir::Value, mlir::Value> scan(mlir::Value number);

  /// Calls `emit(t, holds, before)` for begin <= t < end, where `before` is
  /// `start` plus the number of t' < t for which `test(t')` holds. Returns that
  /// number for t = end. All threads take part. `test` may be asked about a t
  /// more than once, `emit` is called once for each.
  mlir::Value
  run(mlir::Value begin, mlir::Value end, mlir::Value start,
      llvm::function_ref<mlir::Value(mlir::Value)> test,
      llvm::function_ref<void(mlir::Value, mlir::Value, mlir::Value)> emit);

private:
  GpuBuilder &b;
  mlir::Value totals; ///< of waves
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_CORE_COMPACT_H
