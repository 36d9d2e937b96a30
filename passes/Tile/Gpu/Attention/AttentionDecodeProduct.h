//===- AttentionDecodeProduct.h - A product in attention --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The product that makes the query, the key and the value of one token, where
// attention has taken it. The workgroups of a cluster share the columns that
// their heads need, a row of W for a wave at a time: weights are read before
// the kernels that write the token's row are over, and what comes out is
// written into the memory of all workgroups of the cluster.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONDECODEPRODUCT_H
#define GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONDECODEPRODUCT_H

#include "passes/Tile/Gpu/Elements/GpuKernel.h"
#include "passes/Tile/Gpu/Matmul/RowFactor.h"
#include "passes/Tile/Gpu/Matmul/Staging.h"

namespace gist {

class DecodeProduct {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;
  /// Neighbours among the columns of the product.
  struct Columns {
    Value first;
    int64_t count;
  };

  /// `columns` are those that this cluster of `workgroups` needs; `rank` is
  /// this workgroup's among them.
  DecodeProduct(ElementEmitter &emitter, mlir::linalg::LinalgOp product,
                llvm::ArrayRef<Columns> columns, int64_t workgroups,
                Value rank);

  /// Reads what no kernel writes: weights, and the table rows that elementwise
  /// ops behind the product read.
  void fetch();
  /// Computes the columns, for all threads of the cluster to read. All
  /// workgroups have arrived at a barrier of the cluster before.
  void compute();

private:
  void keepGivenRows();
  /// Which of the cluster's columns this wave's number `i` is.
  Value getNumber(int64_t i);
  /// The row of W of column `i` of this wave, and whether it exists.
  Value getColumn(int64_t i);
  Value isThere(int64_t i);

  ElementEmitter &emitter;
  GpuBuilder &b;
  mlir::linalg::LinalgOp product;
  llvm::SmallVector<Columns> columns;
  int64_t workgroups, numColumns;
  int64_t each, steps; ///< rows of a wave, and pieces of one for a lane
  Value rank;
  std::optional<RowFactor> split; ///< of x
  Operand x, w;
  llvm::SmallVector<Values> fetched;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONDECODEPRODUCT_H
