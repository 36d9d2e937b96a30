//===- GpuAtomics.h - Words that workgroups share ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Atomic operations on global memory that all workgroups of a launch see, and
// on workgroup memory. memref's own are ordered for the whole system, which
// costs cache maintenance that nobody here needs; these name their scope.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_GPUATOMICS_H
#define GIST_PASSES_TILE_GPU_GPUATOMICS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/Tile/Gpu/GpuBuilder.h"

namespace gist {

/// `op` on the word at `index` of a flat buffer of 32-bit words, in global or
/// workgroup memory, relaxed; 64 bits where `value` has them. Returns what was
/// there.
mlir::Value atomicUpdate(GpuBuilder &b, mlir::LLVM::AtomicBinOp op,
                         mlir::Value value, mlir::Value buffer,
                         mlir::Value index);

/// Reads a word that another workgroup may write, relaxed.
mlir::Value atomicRead(GpuBuilder &b, mlir::Value buffer, mlir::Value index);
void atomicWrite(GpuBuilder &b, mlir::Value value, mlir::Value buffer,
                 mlir::Value index);

/// What this thread has written is seen by whoever reads an atomic word that it
/// writes next, on the whole device.
void releaseFence(GpuBuilder &b);
/// What was written before the atomic word that this thread has read is seen.
void acquireFence(GpuBuilder &b);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_GPUATOMICS_H
