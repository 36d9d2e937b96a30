//===- Dispatch.h - Work that IREE does in one go ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IREE_DISPATCH_H
#define GIST_PASSES_IREE_DISPATCH_H

#include "dialect/DecomposeUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gist::iree {

/// A `flow.dispatch.workgroups` of one workgroup. `body` gets what `inputs` and
/// `outputs` are inside of it, and gives what becomes of the outputs, which are
/// tensors and updated in place. Inputs are tensors and numbers. Inside,
/// nothing but these may be used, and no memory of unknown size.
llvm::SmallVector<mlir::Value> createDispatch(ValueBuilder &b,
                                              mlir::ValueRange inputs,
                                              mlir::ValueRange outputs,
                                              OrderedBody body);

/// Puts each op of `function` whose definition visits tokens one by one into a
/// dispatch. -gist-decompose does the rest inside.
void dispatchInOrder(mlir::func::FuncOp function);

} // namespace gist::iree

#endif // GIST_PASSES_IREE_DISPATCH_H
