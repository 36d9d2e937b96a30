//===- MarkConstants.h - Arguments that are weights -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_MARKCONSTANTS_H
#define GIST_PASSES_TILE_MARKCONSTANTS_H

#include "mlir/IR/BuiltinOps.h"

namespace gist {

/// Marks the arguments of kernels that are a weight in every call
/// (kConstantArgAttr), where the module's target has a use for that. A kernel
/// that nothing calls keeps the marks that it has.
void markConstants(mlir::ModuleOp module);

} // namespace gist

#endif // GIST_PASSES_TILE_MARKCONSTANTS_H
