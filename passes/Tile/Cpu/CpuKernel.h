//===- CpuKernel.h - What is known of a kind of kernel on CPUs --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kind of kernel is a CpuKernelEntry and a line in CpuKernels.def.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_CPU_CPUKERNEL_H
#define GIST_PASSES_TILE_CPU_CPUKERNEL_H

#include "dialect/GistCpuTileAttrs.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/Kernel/KernelKinds.h"
#include "passes/Kernel/Scratch.h"
#include "passes/Target/Info/TargetInfo.h"

namespace gist {

/// Choices that hold for all kernels of a module.
struct CpuChoices {
  /// The module multiplies in 8 bits: then attention need not be more exact
  /// than bf16.
  bool isReduced = false;
};

/// What is known of one kind of kernel on CPUs. The body of every kernel here
/// is what its kind says (verifyKernelBody).
struct CpuKernelEntry {
  /// How the kernel is cut.
  CpuTileInterface (*choose)(mlir::func::FuncOp kernel,
                             const TargetInfo &target,
                             const CpuChoices &choices);
  /// How many blocks the kernel fetches its weight ahead of its use, written as
  /// kPrefetchAttr. Null for a kind that leaves it to the CPU.
  int64_t (*prefetch)(mlir::func::FuncOp kernel,
                      const TargetInfo &target) = nullptr;
  /// Cuts the kernel into workgroups; a null loop for a kernel of one.
  mlir::FailureOr<mlir::scf::ForallOp> (*distribute)(
      mlir::RewriterBase &rewriter, mlir::func::FuncOp kernel);
  /// Whether the kernel has a tile of a family that `distribute` takes, chosen
  /// or written by hand (expectTile); reports if not.
  mlir::LogicalResult (*verify)(mlir::func::FuncOp kernel);
  /// The memory that the kernel works in besides the stack. Null for a kind
  /// that needs none.
  mlir::FailureOr<KernelScratch> (*scratch)(mlir::func::FuncOp kernel) =
      nullptr;
};

/// What is known of kernels of this kind on CPUs; null for a kind that has no
/// line in CpuKernels.def.
const CpuKernelEntry *findCpuKernelEntry(KernelKind kind);

/// The same for `kernel`, whose body is looked at; null with a diagnostic where
/// there is no entry, or the body is not of its kind.
const CpuKernelEntry *getCpuKernelEntry(mlir::func::FuncOp kernel);

/// Tiles the last op of `kernel` by these sizes, of its first dimensions, and
/// computes what it reads along with it.
mlir::FailureOr<mlir::scf::ForallOp>
distributeTail(mlir::RewriterBase &rewriter, mlir::func::FuncOp kernel,
               llvm::ArrayRef<int64_t> workgroup);

/// Runs the body on some rows at a time, if it works row by row.
mlir::FailureOr<mlir::scf::ForallOp>
distributeRows(mlir::RewriterBase &rewriter, mlir::func::FuncOp kernel);

/// The op that ends `kernel`, and the destination that its operand `number` is
/// tied to.
mlir::func::ReturnOp getReturn(mlir::func::FuncOp kernel);
mlir::BlockArgument getDestination(mlir::func::FuncOp kernel, unsigned number);

} // namespace gist

#endif // GIST_PASSES_TILE_CPU_CPUKERNEL_H
