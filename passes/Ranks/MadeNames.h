//===- MadeNames.h - Names of weights that a plan makes ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_RANKS_MADENAMES_H
#define GIST_PASSES_RANKS_MADENAMES_H

#include "mlir/IR/BuiltinOps.h"

namespace gist {

/// Gives the weights that passes defined for one rank names of their own: a
/// module file has one weight of a name, and ranks have different heads. Parts
/// of the model's weights keep theirs, so that ranks share equal ones.
void nameMadeWeights(mlir::ModuleOp module, int64_t rank);

} // namespace gist

#endif // GIST_PASSES_RANKS_MADENAMES_H
