//===- Kernels.h - Lowered kernels as text ----------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_DRIVER_KERNELS_H
#define GIST_PASSES_DRIVER_KERNELS_H

#include "passes/Target/Info/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace gist::compile {

/// LLVM IR of lowered kernels, as it is before LLVM optimises it.
mlir::FailureOr<std::string> printLlvm(mlir::ModuleOp lowered,
                                       const CpuTarget &target);

} // namespace gist::compile

#endif // GIST_PASSES_DRIVER_KERNELS_H
