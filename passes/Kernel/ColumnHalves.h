//===- ColumnHalves.h - Matrices that are read as two halves ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_KERNEL_COLUMNHALVES_H
#define GIST_PASSES_KERNEL_COLUMNHALVES_H

#include "mlir/IR/Value.h"

#include <array>
#include <optional>

namespace gist {

/// The first and the second half of the columns of `matrix` if they are all
/// that is read of it, through slices.
/// Then a kernel can write what is made of both halves, such as a gated up
/// projection, and never the matrix itself.
std::optional<std::array<mlir::Value, 2>> getColumnHalves(mlir::Value matrix);

} // namespace gist

#endif // GIST_PASSES_KERNEL_COLUMNHALVES_H
