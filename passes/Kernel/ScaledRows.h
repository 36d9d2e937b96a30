//===- ScaledRows.h - Rows of integers with a scale for each ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_KERNEL_SCALEDROWS_H
#define GIST_PASSES_KERNEL_SCALEDROWS_H

#include "mlir/IR/Builders.h"

#include <optional>

namespace gist {

/// What rows of floats are made of: keys and values of a cache in 8 bits.
struct ScaledRows {
  mlir::Value numbers; ///< 8-bit integers, of the shape of the rows
  mlir::Value scales;  ///< an f32 for each row: the shape without the last size
};

/// The parts of `op` if it is a linalg.generic that multiplies each integer
/// with its row's scale, and nothing else.
std::optional<ScaledRows> getScaledRows(mlir::Operation *op);

/// The same for `rows` that are a slice of what such an op gives: slices of its
/// parts.
std::optional<ScaledRows> sliceScaledRows(mlir::OpBuilder &builder,
                                          mlir::Value rows);

/// The element type in which `rows` are stored: of integers where they are
/// scaled ones, their own otherwise.
mlir::Type getStoredElement(mlir::Value rows);

} // namespace gist

#endif // GIST_PASSES_KERNEL_SCALEDROWS_H
