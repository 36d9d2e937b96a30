//===- OutlineSamples.h - Sampling as kernels -------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_GRAPH_OUTLINESAMPLES_H
#define GIST_PASSES_GRAPH_OUTLINESAMPLES_H

#include "passes/Graph/OutlineKernel.h"

namespace gist {

/// Replaces each gist.sample of `function` by a call of a kernel that has
/// memory for what it keeps (passes/Tile/Gpu/Sample/Sample.h).
void outlineSamples(mlir::func::FuncOp function, KernelTable &table);

} // namespace gist

#endif // GIST_PASSES_GRAPH_OUTLINESAMPLES_H
