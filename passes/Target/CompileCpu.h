//===- CompileCpu.h - Kernels as machine code for a CPU ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TARGET_COMPILECPU_H
#define GIST_PASSES_TARGET_COMPILECPU_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Target/Info/TargetInfo.h"

#include <string>
#include <vector>

namespace gist {

/// The assembly of kernels that the stage `cpu` lowered.
mlir::FailureOr<std::string> emitCpuAssembly(mlir::ModuleOp lowered,
                                             const CpuTarget &target);

/// Code of kernels, and what it needs of a CPU.
struct CpuObject {
  std::vector<char> bytes;
  std::vector<std::string> features; ///< getUsedFeatures
};

/// A shared object with one exported symbol per kernel of `lowered`. It needs
/// memcpy, memmove and memset and nothing else.
mlir::FailureOr<CpuObject> emitCpuObject(mlir::ModuleOp lowered,
                                         const CpuTarget &target);

/// An object file for the linker of IREE: it needs nothing else, its symbols
/// are hidden, and on aarch64 it leaves register x18 alone.
mlir::FailureOr<std::vector<char>> emitCpuRelocatable(mlir::ModuleOp lowered,
                                                      const CpuTarget &target);

} // namespace gist

#endif // GIST_PASSES_TARGET_COMPILECPU_H
