//===- JoinWeights.h - Several weights as one -------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_GRAPH_JOINWEIGHTS_H
#define GIST_PASSES_GRAPH_JOINWEIGHTS_H

#include "dialect/GistOps.h"

namespace gist {

/// A tensor of the type of `value` with another number of rows.
mlir::RankedTensorType withRows(mlir::Value value, int64_t rows);

/// The rows of `weights`, at least one, below one another. No bytes are moved
/// here: kPartsAttr lists the names, and Emit joins what the model's files have
/// under them. Blocks lie within rows, so that rows of any format can be
/// stacked.
WeightOp joinWeights(mlir::OpBuilder &builder, mlir::Location location,
                     llvm::ArrayRef<WeightOp> weights);

} // namespace gist

#endif // GIST_PASSES_GRAPH_JOINWEIGHTS_H
