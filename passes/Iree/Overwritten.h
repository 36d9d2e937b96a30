//===- Overwritten.h - Tensors that are overwritten whole -------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IREE_OVERWRITTEN_H
#define GIST_PASSES_IREE_OVERWRITTEN_H

#include "mlir/IR/Operation.h"

namespace gist {

/// Lets two slices that together are a whole tensor begin from an empty one.
/// IREE may write them over a tensor whose own slices are still read
/// (docs/upstream/iree-slices-in-place.mlir).
void freeOverwrittenTensors(mlir::Operation *root);

} // namespace gist

#endif // GIST_PASSES_IREE_OVERWRITTEN_H
