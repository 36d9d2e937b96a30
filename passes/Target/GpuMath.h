//===- GpuMath.h - Functions of numbers as GPU code -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TARGET_GPUMATH_H
#define GIST_PASSES_TARGET_GPUMATH_H

#include "dialect/GpuInfo.h"
#include "mlir/IR/PatternMatch.h"

namespace gist {

/// Patterns that write functions of numbers with what a GPU's instructions
/// compute, so that kernels need no library of device code.
void populateGpuMathPatterns(mlir::RewritePatternSet &patterns,
                             const GpuInfo &gpu);

} // namespace gist

#endif // GIST_PASSES_TARGET_GPUMATH_H
