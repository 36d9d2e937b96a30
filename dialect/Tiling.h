//===- Tiling.h - What several ops are tiled with ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_TILING_H
#define GIST_DIALECT_TILING_H

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"

namespace gist {

/// A loop over [0, size of dimension `dim` of `value`).
mlir::Range getRange(mlir::OpBuilder &builder, mlir::Location location,
                     mlir::Value value, int64_t dim);

} // namespace gist

#endif // GIST_DIALECT_TILING_H
