//===- CompileGpu.h - Kernels as code for a GPU -----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TARGET_COMPILEGPU_H
#define GIST_PASSES_TARGET_COMPILEGPU_H

#include "dialect/GpuInfo.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace gist {

/// The functions that the stage -gist-gpu made of the kernels of `module`.
mlir::FailureOr<mlir::gpu::GPUModuleOp> getGpuModule(mlir::ModuleOp module);

/// LLVM IR of lowered kernels, as it is before LLVM optimises it.
mlir::FailureOr<std::string> printGpuLlvm(mlir::ModuleOp lowered,
                                          const GpuInfo &gpu);

/// The assembly of lowered kernels: ISA, or PTX.
mlir::FailureOr<std::string> emitGpuAssembly(mlir::ModuleOp lowered,
                                             const GpuInfo &gpu);

/// What a driver loads: a code object with one symbol per kernel, or PTX.
mlir::FailureOr<std::vector<char>> emitGpuCode(mlir::ModuleOp lowered,
                                               const GpuInfo &gpu);

} // namespace gist

#endif // GIST_PASSES_TARGET_COMPILEGPU_H
