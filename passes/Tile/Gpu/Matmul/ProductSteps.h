//===- ProductSteps.h - The steps of a product on tiles ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which tile is loaded, staged and multiplied when, as ops of GistTileOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_MATMUL_PRODUCTSTEPS_H
#define GIST_PASSES_TILE_GPU_MATMUL_PRODUCTSTEPS_H

#include "dialect/GistTileOps.h"
#include "passes/Tile/Gpu/Core/GpuBuilder.h"

namespace gist {

/// x W^T of a workgroup's tile.
struct ProductSteps {
  struct Side {
    mlir::Value tensor; ///< rows x K; of x, maybe several rows side by side
    mlir::Value first;  ///< row of the tile's first
    mlir::Value buffer; ///< stages x rows x depth
    /// Whether it goes to the buffer as it is, without registers.
    bool isCopied = false;
  };

  Side x, w;
  Instruction instruction;
  /// Where workgroups share k: the first step of this one, and how many it has;
  /// null for all. There is a last odd step where all steps together have one.
  mlir::Value firstStep = {}, numSteps = {};
  /// Of numbers of 8 bits: rows x blocks of `block` numbers of k, a multiple of
  /// the depth of a step where there are several blocks. What is yielded are
  /// then the scaled sums of all blocks.
  mlir::Value scales = {};
  int64_t block = 0;

  /// Whether sums are scaled before the loop ends.
  bool hasBlocks() const {
    return scales &&
           llvm::cast<mlir::RankedTensorType>(scales.getType()).getDimSize(1) >
               1;
  }
};

/// Writes the steps at `b`, and returns `totals` with the product added: a
/// vector of the workgroup's tile.
mlir::Value writeSteps(GpuBuilder &b, const ProductSteps &product,
                       mlir::Value totals);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_MATMUL_PRODUCTSTEPS_H
