//===- OutlineGated.h - Gated projections as kernels ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_GRAPH_OUTLINEGATED_H
#define GIST_PASSES_GRAPH_OUTLINEGATED_H

#include "passes/Graph/OutlineKernel.h"

namespace gist {

/// Makes every gated projection of `function` a call of one kernel, or, for
/// many tokens, products and calls of a kernel for each of its projections.
void outlineGatedProjections(mlir::func::FuncOp function, KernelTable &table);

} // namespace gist

#endif // GIST_PASSES_GRAPH_OUTLINEGATED_H
