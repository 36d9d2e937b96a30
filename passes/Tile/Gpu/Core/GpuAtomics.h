//===- GpuAtomics.h - Words that workgroups share ---------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Atomic operations on global memory that all workgroups of a launch see, and
// on workgroup memory. memref's own are ordered for the whole system, which
// costs cache maintenance that kernels do not need; these name their scope.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_CORE_GPUATOMICS_H
#define GIST_PASSES_TILE_GPU_CORE_GPUATOMICS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/Tile/Gpu/Core/GpuBuilder.h"

namespace gist {

/// What an atomic operation says about the other memory that workgroups share.
/// The writing workgroup: all threads call releaseFence(), meet at a barrier,
/// and one of them updates a word in order `Release`. The reading workgroup:
/// one thread reads a word in order `Acquire`, all meet at a barrier and call
/// acquireFence().
///
/// On sm_90 the order of the one thread is cumulative over the barrier, and the
/// fences emit nothing: a fence of every thread would wait for all loads in
/// flight. On gfx942 each wave waits for its own writes, and `Order` emits
/// nothing.
enum class Order { Relaxed, Acquire, Release, Both };

/// `op` on the word at `index` of a flat buffer of 32-bit words, in global or
/// workgroup memory; 64 bits where `value` has them. Returns what was there.
mlir::Value atomicUpdate(GpuBuilder &b, mlir::LLVM::AtomicBinOp op,
                         mlir::Value value, mlir::Value buffer,
                         mlir::Value index, Order order = Order::Relaxed);

/// Increments a word and returns its old value. The result is not waited for
/// before its use: for a plain addition ptxas would first add up the lanes of a
/// warp, and wait.
mlir::Value drawTicket(GpuBuilder &b, mlir::Value buffer, mlir::Value index);

/// Reads a word that another workgroup may write.
mlir::Value atomicRead(GpuBuilder &b, mlir::Value buffer, mlir::Value index,
                       Order order = Order::Relaxed);
void atomicWrite(GpuBuilder &b, mlir::Value value, mlir::Value buffer,
                 mlir::Value index, Order order = Order::Relaxed);

void releaseFence(GpuBuilder &b);
void acquireFence(GpuBuilder &b);

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_CORE_GPUATOMICS_H
