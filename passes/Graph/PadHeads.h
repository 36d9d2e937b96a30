//===- PadHeads.h - Rows as wide as vectors ---------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_GRAPH_PADHEADS_H
#define GIST_PASSES_GRAPH_PADHEADS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gist {

/// For CPUs, whose kernels read the rows of attention and of selections in
/// vectors of four: rows of other sizes get zeros at their end, which add
/// nothing to a product, and outputs are cut to their old size.
///
///   %o = gist.attention %q, %k, %v causal : tensor<?x4x2xf32>, …
///   // becomes
///   %o4 = gist.attention %q4, %k4, %v4 causal scale 0.7071 :
///   tensor<?x4x4xf32>, … %o = linalg.generic …
///
/// Attention on a number of keys that is known runs by its definition then, and
/// is left alone; so are caches of clusters.
void padHeads(mlir::func::FuncOp function);

} // namespace gist

#endif // GIST_PASSES_GRAPH_PADHEADS_H
