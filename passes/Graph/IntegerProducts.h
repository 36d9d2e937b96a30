//===- IntegerProducts.h - Products of 8-bit numbers on GPUs ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_GRAPH_INTEGERPRODUCTS_H
#define GIST_PASSES_GRAPH_INTEGERPRODUCTS_H

#include "dialect/GistTargetAttrs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gist {

/// What products of 8 bits multiply.
struct SmallNumbers {
  mlir::Type type;
  /// Numbers of a row of x that share a scale; 0 for all.
  int64_t block;
};

/// What a GPU multiplies by one of the names int8, int8-rows and fp8.
std::optional<SmallNumbers> getSmallNumbers(llvm::StringRef name,
                                            GpuTargetAttr gpu);

/// Stores the weights of `function` that products alone read as such numbers
/// with a scale for each row, and multiplies those where there are more than a
/// few rows.
void makeSmallProducts(mlir::func::FuncOp function, SmallNumbers numbers);

} // namespace gist

#endif // GIST_PASSES_GRAPH_INTEGERPRODUCTS_H
