//===- KernelGroups.h - Which ops become one kernel -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_GRAPH_KERNELGROUPS_H
#define GIST_PASSES_GRAPH_KERNELGROUPS_H

#include "passes/Kernel/KernelKinds.h"

#include <string>

namespace gist {

struct GpuInfo;

/// How an op takes part in kernels.
enum class KernelRole {
  Host,  ///< index arithmetic and terminators: stays in the host function
  Given, ///< a weight: an argument of every kernel that reads it
  Free,  ///< costs nothing: repeated in every kernel that reads it
  Root,  ///< a product, attention or selection: a kernel with its epilogue
  Rows,  ///< anything else on tensors: fused row by row
};
KernelRole getKernelRole(mlir::Operation *op);

/// Ops that become one kernel. The last one gives its results, or several do;
/// what the others compute is read inside the group alone, so that the group
/// can be called where the last one stands.
struct KernelGroup {
  llvm::SmallVector<mlir::Operation *> ops; ///< in program order
  bool isRoot = false; ///< one of them is a root, the others around it
  /// Those that give results besides the last one, in program order.
  llvm::SmallVector<mlir::Operation *> earlierTails = {};

  mlir::Operation *getTail() const { return ops.back(); }
  /// All ops that give results.
  llvm::SmallVector<mlir::Operation *> getTails() const {
    llvm::SmallVector<mlir::Operation *> tails = earlierTails;
    tails.push_back(getTail());
    return tails;
  }
  KernelKind getKind() const;
  /// A name for display: "matmul", "attention", "rows".
  std::string getName() const;
};

/// Partitions the compute ops of `function`, which has one block. Groups come
/// in the order of their tails. Refusals are reported as remarks. On a GPU,
/// where launches count, more is computed in one of them; `gpu` is null on
/// CPUs.
llvm::SmallVector<KernelGroup> formKernelGroups(mlir::func::FuncOp function,
                                                const GpuInfo *gpu);

} // namespace gist

#endif // GIST_PASSES_GRAPH_KERNELGROUPS_H
