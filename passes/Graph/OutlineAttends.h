//===- OutlineAttends.h - Attention on means as kernels ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_GRAPH_OUTLINEATTENDS_H
#define GIST_PASSES_GRAPH_OUTLINEATTENDS_H

#include "passes/Graph/OutlineKernel.h"

namespace gist {

/// Makes calls of kernels of those `gist.attend` of `function` whose clusters
/// stand with their means: these need memory to work in. The others are roots
/// of kernels like any.
void outlineAttends(mlir::func::FuncOp function, KernelTable &table);

} // namespace gist

#endif // GIST_PASSES_GRAPH_OUTLINEATTENDS_H
