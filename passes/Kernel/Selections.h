//===- Selections.h - Kernels that are selections ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_KERNEL_SELECTIONS_H
#define GIST_PASSES_KERNEL_SELECTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gist {

/// The op that makes `kernel` a selection, or null.
mlir::Operation *findSelection(mlir::func::FuncOp kernel);

/// What the kernel of a selection writes; null if it is not used.
struct SelectionBuffers {
  mlir::Value ids, count, nearest, weight;
  mlir::Value removed, added;   ///< of a cascade
  mlir::Value control, scratch; ///< memory to work in
};

/// Finds them among the destinations of `kernel`; `getBuffer` gives that of an
/// argument.
SelectionBuffers findSelectionBuffers(
    mlir::func::FuncOp kernel,
    llvm::function_ref<mlir::Value(mlir::BlockArgument)> getBuffer);

} // namespace gist

#endif // GIST_PASSES_KERNEL_SELECTIONS_H
