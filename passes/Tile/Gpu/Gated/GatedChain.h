//===- GatedChain.h - Products of rows of certain levels --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_GATED_GATEDCHAIN_H
#define GIST_PASSES_TILE_GPU_GATED_GATEDCHAIN_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/Tile/Gpu/Gated/Gated.h"

#include <optional>

namespace gist {

/// One of the products of a gated projection of many tokens.
struct GatedLink {
  mlir::linalg::LinalgOp product;
  mlir::Value rows, matrix;        ///< what it multiplies; of the rows, all
  int64_t lowest = 0, highest = 0; ///< levels of the rows that count
};

/// All of them; each adds to the one before, and the last one has the highest
/// level.
struct GatedChain {
  llvm::SmallVector<GatedLink> links;
  mlir::Value levels; ///< the tensor
};

/// The products of a kernel of kind gated_products, where it is one.
std::optional<GatedChain> readGatedChain(mlir::func::FuncOp kernel);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_GATED_GATEDCHAIN_H
