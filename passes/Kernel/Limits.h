//===- Limits.h - How large what is compiled may be -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes come from files. Those that no machine could hold are refused before
// anything is computed from them.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_KERNEL_LIMITS_H
#define GIST_PASSES_KERNEL_LIMITS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gist {

/// Elements of a tensor at most: then its bytes, and sums of the bytes of many,
/// fit 64 bits. The largest weights have about 2^30.
inline constexpr int64_t kMaxElements = int64_t(1) << 40;

/// Numbers of a head at most. Code of attention has instructions for every
/// vector of a row, so it grows with them. Models have heads of up to 512.
inline constexpr int64_t kMaxHeadSize = 1024;

/// Elements of a vector of one thread at most: they are registers, of which a
/// machine has a few hundred, and LLVM's own limits are not far above.
inline constexpr int64_t kMaxVector = 4096;

/// Whether every tensor of `function` has elements, and none more than
/// kMaxElements; reports one that is not.
mlir::LogicalResult verifySizes(mlir::func::FuncOp function);

/// Whether no vector has more than kMaxVector elements, for code of one thread;
/// reports one that has.
mlir::LogicalResult verifyVectors(mlir::func::FuncOp function);

} // namespace gist

#endif // GIST_PASSES_KERNEL_LIMITS_H
