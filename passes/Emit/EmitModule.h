//===- EmitModule.h - From a planned program to a module file ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_EMIT_EMITMODULE_H
#define GIST_PASSES_EMIT_EMITMODULE_H

#include "passes/Kernel/Kernels.h"
#include "passes/Plan/MadeWeights.h"
#include "runtime/module/ModuleWriter.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace gist {

/// A program for one target. Each target has calls of its own: what is worth
/// fusing, packing or quantising differs.
struct TargetProgram {
  TargetSpec target;
  std::string code;
  mlir::ModuleOp calls; ///< host functions, planned by -gist-plan-memory
  /// A symbol table of lowered kernels, each with its `gist.grid`.
  mlir::Operation *kernels;
  uint32_t rank = 0; ///< the rank whose part of the model it is
};

struct EmitOptions {
  int64_t capacity = 0; ///< bound of all three symbols
  uint32_t ranks = 1;   ///< that run the module together
  /// Leave weights in the files they came from; paths are made relative to the
  /// folder of this module file. Empty: everything is embedded.
  std::string referenceFrom;
};

/// Fills `writer` with an entry for each host function of each program, named
/// as the function. What programs have in common is written once. Weights that
/// ops define are computed here; others are not copied. `weights` must stay
/// alive until the module is written. Errors are reported at the op that they
/// are about.
mlir::LogicalResult emitModule(llvm::ArrayRef<TargetProgram> programs,
                               WeightMaker &weights, const EmitOptions &options,
                               ModuleWriter &writer);

} // namespace gist

#endif // GIST_PASSES_EMIT_EMITMODULE_H
