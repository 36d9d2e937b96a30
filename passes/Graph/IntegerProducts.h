//===- IntegerProducts.h - Products of 8-bit integers on GPUs ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_GRAPH_INTEGERPRODUCTS_H
#define GIST_PASSES_GRAPH_INTEGERPRODUCTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gist {

/// Stores the weights of `function` that products alone read as integers with a
/// scale for each row, and multiplies integers where there are more than a few
/// rows.
void makeIntegerProducts(mlir::func::FuncOp function);

} // namespace gist

#endif // GIST_PASSES_GRAPH_INTEGERPRODUCTS_H
