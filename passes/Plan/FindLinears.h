//===- FindLinears.h - The linear layers of a graph -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_PLAN_FINDLINEARS_H
#define GIST_PASSES_PLAN_FINDLINEARS_H

#include "dialect/GistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/Kernel/Linears.h"
#include "passes/Plan/File/LinearPlan.h"

namespace gist {

/// A product of rows with a weight of the model.
struct Linear {
  mlir::linalg::LinalgOp product;
  WeightOp weight;
};

/// The linear layers that read the same rows.
struct LinearInput {
  int64_t layer = -1; ///< -1 is the head
  LinearGroup group = LinearGroup::Qkv;
  mlir::Value rows;
  llvm::SmallVector<Linear> linears;

  /// Numbers in a row.
  int64_t getSize() const;
};

/// The linear layers of `function`, layer by layer, the head last. Their
/// weights name the layer. Fails, with a diagnostic, for a layer that does not
/// have three or four kinds of rows.
mlir::FailureOr<llvm::SmallVector<LinearInput>>
findLinears(mlir::func::FuncOp function);

} // namespace gist

#endif // GIST_PASSES_PLAN_FINDLINEARS_H
