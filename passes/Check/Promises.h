//===- Promises.h - What holds at the end of each stage ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per stage. Each fails with a diagnostic at the first op that
// breaks the promise: it says what was found and what the stage promises. They
// look at each op once and build nothing, so they stay on in release.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_CHECK_PROMISES_H
#define GIST_PASSES_CHECK_PROMISES_H

#include "mlir/IR/BuiltinOps.h"

namespace gist {

/// Functions on tensors: one block each, nothing in memory, no calls of kernels
/// yet. The arguments of a function have different names, and so its results.
mlir::LogicalResult checkImported(mlir::ModuleOp module);

/// The same, and products agree with their weights about how these are packed.
mlir::LogicalResult checkGraph(mlir::ModuleOp module);

/// Host functions only call kernels; kernels are private functions on tensors,
/// each called, no two alike, that return their destinations.
mlir::LogicalResult checkCalls(mlir::ModuleOp module);

/// The same, and everything that calls write has a place: in the arena, in the
/// state, or in the memory of the caller.
mlir::LogicalResult checkMemory(mlir::ModuleOp module);

/// Kernels are on buffers, allocate nothing and have a grid.
mlir::LogicalResult checkTiles(mlir::ModuleOp module);

/// The same for the code of one GPU thread, with a workgroup's size and without
/// a loop over workgroups.
mlir::LogicalResult checkGpuTiles(mlir::ModuleOp module);

/// Nothing but the LLVM dialect and Arm's instructions are left, and kernels
/// have the signature that the runtime calls.
mlir::LogicalResult checkCpuCode(mlir::ModuleOp module);

/// Nothing but the LLVM dialect and those of the GPU's instructions are left in
/// the GPU's module, and kernels take addresses alone.
mlir::LogicalResult checkGpuCode(mlir::ModuleOp module);

} // namespace gist

#endif // GIST_PASSES_CHECK_PROMISES_H
