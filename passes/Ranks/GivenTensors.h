//===- GivenTensors.h - What a function is given, beside state --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_RANKS_GIVENTENSORS_H
#define GIST_PASSES_RANKS_GIVENTENSORS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gist {

/// The tensors that a function is given and does not return: tokens. State
/// comes back from it.
llvm::SmallVector<mlir::BlockArgument>
getGivenTensors(mlir::func::FuncOp function);

} // namespace gist

#endif // GIST_PASSES_RANKS_GIVENTENSORS_H
