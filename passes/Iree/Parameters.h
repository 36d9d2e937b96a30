//===- Parameters.h - Weights as IREE's parameters --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IREE_PARAMETERS_H
#define GIST_PASSES_IREE_PARAMETERS_H

#include "passes/Iree/ParameterArchive.h"
#include "passes/Plan/MadeWeights.h"

namespace gist {

/// The scope of all parameters: --parameters=model=FILE of IREE's tools.
inline constexpr llvm::StringLiteral kParameterScope = "model";

/// The name of the parameter that has the bytes of `op`. A weight that is
/// packed or joined for kernels has another name than the stored one.
std::string getParameterName(WeightOp op);

/// Adds what the weights of `module` hold to `archive`, each once. `weights`
/// must live until the archive is written. Errors are reported at the op.
mlir::LogicalResult addParameters(mlir::ModuleOp module, WeightMaker &weights,
                                  ParameterArchive &archive);

} // namespace gist

#endif // GIST_PASSES_IREE_PARAMETERS_H
