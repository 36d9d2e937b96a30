//===- Scratch.h - Memory that a kernel works in ----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Besides what an op reads and gives, its kernel may need memory to work in.
// How much depends on the target, so the kernel's generator says it, and
// -gist-add-scratch makes it the kernel's last destinations.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_KERNEL_SCRATCH_H
#define GIST_PASSES_KERNEL_SCRATCH_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

namespace gist {

/// A tensor whose content is undefined when the kernel starts. Its sizes are
/// functions of the kernel's numbers, as those of its grid are (Kernels.h).
struct ScratchTensor {
  llvm::SmallVector<mlir::AffineExpr> sizes;
  mlir::Type element;
};

/// What a kernel needs besides what its op reads and gives.
struct KernelScratch {
  llvm::SmallVector<ScratchTensor> tensors;
  /// Words of control, i32, that are zero when the kernel starts: its last
  /// destination, behind the tensors. 0 for a kernel that needs none.
  int64_t controlWords = 0;
  /// Whether the kernel leaves its words zero, so that calls share them. Each
  /// call has words of its own otherwise, and the kernel gets the number of the
  /// call as its last input.
  bool leavesZero = false;
};

} // namespace gist

#endif // GIST_PASSES_KERNEL_SCRATCH_H
