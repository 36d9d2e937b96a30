//===- OutlineSelections.h - Selections as kernels --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_GRAPH_OUTLINESELECTIONS_H
#define GIST_PASSES_GRAPH_OUTLINESELECTIONS_H

#include "passes/Graph/OutlineKernel.h"

namespace gist {

/// Makes every selection of `function` a call of a kernel. Between kernels a
/// selection is its four tensors; its readers pack them again.
mlir::LogicalResult outlineSelections(mlir::func::FuncOp function,
                                      KernelTable &table);

} // namespace gist

#endif // GIST_PASSES_GRAPH_OUTLINESELECTIONS_H
