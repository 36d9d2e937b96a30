//===- SplitOutputs.h - Products of heads in parts --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_GRAPH_SPLITOUTPUTS_H
#define GIST_PASSES_GRAPH_SPLITOUTPUTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gist {

struct GpuInfo;

/// The product that reads the heads of one token, and the residual stream it is
/// added to, where attention can compute it (`takesOutput`): a row for the
/// heads of each KV head, which those that read the sum add up themselves, in
/// the order of the heads.
///
///   %y = linalg.matmul ins(%heads, %w : …)               // 1 x 576
///   %x2 = linalg.generic ins(%x, %y : …)                 // their sum
///   %x3 = linalg.generic ins(%x2, %down : …)             // and another
///   // becomes
///   %rows = linalg.generic ins(%heads, %w : …)           // 1 x 3 x 576
///   %x2 = linalg.generic ins(%x, %rows, %rows, %rows : …)
///   %x3 = linalg.generic ins(%x, %rows, %rows, %rows, %down : …)
void splitOutputs(mlir::func::FuncOp function, const GpuInfo &gpu);

} // namespace gist

#endif // GIST_PASSES_GRAPH_SPLITOUTPUTS_H
