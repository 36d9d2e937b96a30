//===- Linears.h - Products as linear layers have them ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows times the rows of a weight, y = x W^T: what isTransposedMatmul
// (Kernels.h) recognises.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_KERNEL_LINEARS_H
#define GIST_PASSES_KERNEL_LINEARS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace gist {

/// The indexing maps of such a product: of x, W and y.
llvm::SmallVector<mlir::AffineMap>
getTransposedMaps(mlir::MLIRContext *context);

/// Such a product, added to `init`.
mlir::linalg::MatmulOp createTransposedMatmul(mlir::ImplicitLocOpBuilder &b,
                                              mlir::Value rows,
                                              mlir::Value weight,
                                              mlir::Value init);

/// Such a product alone, in f32.
mlir::Value createLinear(mlir::ImplicitLocOpBuilder &b, mlir::Value rows,
                         mlir::Value weight);

} // namespace gist

#endif // GIST_PASSES_KERNEL_LINEARS_H
