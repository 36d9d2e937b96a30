//===- EmitModule.h - From a planned program to a module file ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_EMIT_EMITMODULE_H
#define GIST_PASSES_EMIT_EMITMODULE_H

#include "passes/Import/Weights.h"
#include "runtime/ModuleWriter.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace gist {

/// The attribute of a host function's result that names it.
inline constexpr llvm::StringLiteral kNameAttr = "gist.name";

/// The kernels of a program, compiled for one target.
struct CompiledKernels {
  TargetSpec target;
  std::string code;
  mlir::ModuleOp kernels; ///< lowered functions, each with its `gist.grid`
};

struct EmitOptions {
  int64_t capacity = 0; ///< bound of all three symbols
  /// Leave weights in the files they came from; paths are made relative to the
  /// folder of this module file. Empty: everything is embedded.
  std::string referenceFrom;
};

/// Fills `writer` from `program`, whose host functions -gist-plan-memory has
/// planned: an entry for each, named as the function. Weights are not copied;
/// `weights` must stay alive until the module is written. Errors are reported
/// at the op that they are about.
mlir::LogicalResult emitModule(mlir::ModuleOp program, const WeightMap &weights,
                               llvm::ArrayRef<CompiledKernels> targets,
                               const EmitOptions &options,
                               ModuleWriter &writer);

} // namespace gist

#endif // GIST_PASSES_EMIT_EMITMODULE_H
