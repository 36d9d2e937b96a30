//===- KernelKinds.h - Which op makes a kernel what it is -------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The graph stage writes the kind of a kernel once, in `gist.kernel`. Passes
// read it there and never infer it from the body. Here is which ops belong to
// which kind, so that a kernel with another body is refused.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_KERNEL_KERNELKINDS_H
#define GIST_PASSES_KERNEL_KERNELKINDS_H

#include "passes/Kernel/Kernels.h"

#include <optional>

namespace gist {

/// The kind of a kernel around `op`; none for an op that kernels of any kind
/// may have.
std::optional<KernelKind> getRootKind(mlir::Operation *op);

/// The kind that the graph stage has written on `kernel`.
inline KernelKind getKernelKind(mlir::func::FuncOp kernel) {
  return getKernelAttr(kernel).getKind();
}

/// The first op of this type in `kernel`, which verifyKernelBody has found
/// there.
template <typename OpTy> OpTy findRoot(mlir::func::FuncOp kernel) {
  OpTy root;
  kernel.walk([&](OpTy op) {
    root = op;
    return mlir::WalkResult::interrupt();
  });
  return root;
}

/// Whether `kernel` has a body of one block, and it is what the kind says;
/// reports an error if not. To be called before a tile is chosen or code is
/// written.
mlir::LogicalResult verifyKernelBody(mlir::func::FuncOp kernel);

/// Whether `kernel` has a body; reports it otherwise.
mlir::LogicalResult verifyHasBody(mlir::func::FuncOp kernel);

/// Whether `function` is one block, as commands of a module have no branches;
/// reports if it is not.
mlir::LogicalResult verifyStraightLine(mlir::func::FuncOp function);

} // namespace gist

#endif // GIST_PASSES_KERNEL_KERNELKINDS_H
