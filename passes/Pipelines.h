//===- Pipelines.h - The stages, one function and one name each -*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_PIPELINES_H
#define GIST_PASSES_PIPELINES_H

#include "mlir/Pass/PassManager.h"

namespace gist {

/// Lowers tensors and gist ops to the LLVM dialect through their executable
/// definition: slow, plain and for tests. `-gist-reference`.
void buildReferencePipeline(mlir::OpPassManager &pm);

/// Registers every stage under its name for `gist-opt`.
void registerPipelines();

} // namespace gist

#endif // GIST_PASSES_PIPELINES_H
