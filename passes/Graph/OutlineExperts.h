//===- OutlineExperts.h - Products with experts as kernels ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_GRAPH_OUTLINEEXPERTS_H
#define GIST_PASSES_GRAPH_OUTLINEEXPERTS_H

#include "passes/Graph/OutlineKernel.h"

namespace gist {

/// Replaces each product with experts of `function` by a call of a kernel
/// (passes/Tile/Cpu/Experts.h).
void outlineExperts(mlir::func::FuncOp function, KernelTable &table);

} // namespace gist

#endif // GIST_PASSES_GRAPH_OUTLINEEXPERTS_H
