//===- OutlineCollectives.h - What ranks do together ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_GRAPH_OUTLINECOLLECTIVES_H
#define GIST_PASSES_GRAPH_OUTLINECOLLECTIVES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gist {

/// Makes calls of `gist.all_reduce` and `gist.all_gather`, to functions without
/// a body: the runtime does these.
void outlineCollectives(mlir::func::FuncOp function);

} // namespace gist

#endif // GIST_PASSES_GRAPH_OUTLINECOLLECTIVES_H
