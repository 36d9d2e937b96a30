//===- MadeWeights.h - Weights that a plan makes, in a graph ----*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `gist.weight` that no model has says in an attribute how it is made. Passes
// add such weights; the compiler fills them in from the model's, once.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_PLAN_MADEWEIGHTS_H
#define GIST_PASSES_PLAN_MADEWEIGHTS_H

#include "dialect/Formats.h"
#include "dialect/GistOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/Plan/File/LinearWeights.h"

namespace gist {

/// A weight of `rows` x `columns` numbers in the format of `what`.
WeightOp createMadeWeight(mlir::ImplicitLocOpBuilder &b, const MadeWeight &what,
                          int64_t rows, int64_t columns);

/// The same for a weight of the type of another.
WeightOp createMadeWeight(mlir::ImplicitLocOpBuilder &b, const MadeWeight &what,
                          mlir::RankedTensorType type);

/// How a weight is made; nothing for one of the model.
std::optional<MadeWeight> getMadeWeight(WeightOp op);

/// The weight that `numbers` are the numbers of, or null.
WeightOp getWeightOf(mlir::Value numbers);

/// A basis of d x k numbers as k x d. One that is a made weight is there both
/// ways, each rounded for itself; any other is turned here.
mlir::Value createTransposedBasis(mlir::ImplicitLocOpBuilder &b,
                                  mlir::Value basis);

/// Makes every weight of `module` that says how, as `plan` asks.
Status makeWeights(mlir::ModuleOp module, const LinearPlan &plan,
                   WeightMap &weights);

} // namespace gist

#endif // GIST_PASSES_PLAN_MADEWEIGHTS_H
