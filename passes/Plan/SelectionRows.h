//===- SelectionRows.h - What a selection can look at -----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_PLAN_SELECTIONROWS_H
#define GIST_PASSES_PLAN_SELECTIONROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Plan/PlanInGraph.h"

namespace gist {

/// The attention ops of `function`, one for each layer of the plan, in order.
/// Fails, with a diagnostic, if their number differs or if a plan of selections
/// does not support one of them. Empty for functions without attention.
mlir::FailureOr<llvm::SmallVector<AttentionOp>>
findLayers(mlir::func::FuncOp function, llvm::ArrayRef<PlannedAttention> plan);

/// The rows of a call's tokens that selections before `op` can look at; null
/// where the graph has none: the rows that queries are projected from, the
/// residual stream (the rows, among those that the projected ones are computed
/// from, that are added to what attention gives), or keys, before they are
/// rounded for a cache.
mlir::Value findSelectionRows(AttentionOp op, SelectOn on);

/// The rows of a call's tokens among queries, keys or values of an attention,
/// before they are rounded; null where the graph does not show them.
mlir::Value findCallRows(mlir::Value rows);

/// The residual stream before any kind of `attention` with these queries, or
/// null.
mlir::Value findResidualRows(mlir::Operation *attention, mlir::Value query);

/// The products that `value` is computed from: backwards through rotations,
/// norms and reshapes, up to the first ones.
llvm::SetVector<mlir::Operation *> findFirstProducts(mlir::Value value);

} // namespace gist

#endif // GIST_PASSES_PLAN_SELECTIONROWS_H
