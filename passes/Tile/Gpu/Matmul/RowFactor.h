//===- RowFactor.h - What a whole row is multiplied with --------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of an RMS norm are x times the norm's weight, and all of a row times
// one number that takes a sum over the row. A product can be multiplied with
// that number in the end:
//
//   (r x g) W^T = r ((x g) W^T)
//
// so that it need not wait for the sum.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_MATMUL_ROWFACTOR_H
#define GIST_PASSES_TILE_GPU_MATMUL_ROWFACTOR_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace gist {

struct RowFactor {
  mlir::Value rest;   ///< rows without the factor
  mlir::Value factor; ///< one number for each row
};

/// Writes both parts of `rows` before the op that computes it, if it is a
/// product of factors of which one takes a reduction of its row and the others
/// take none, in f32.
std::optional<RowFactor> splitRowFactor(mlir::Value rows);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_MATMUL_ROWFACTOR_H
