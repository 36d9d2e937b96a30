//===- Unused.h - Erases what nothing reads ---------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_KERNEL_UNUSED_H
#define GIST_PASSES_KERNEL_UNUSED_H

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace gist {

/// Erases the ops of `block` that have no effect and no reader. From the end,
/// so that ops that only these read are erased as well.
inline void eraseUnused(mlir::Block &block) {
  for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (mlir::isOpTriviallyDead(&op))
      op.erase();
}

} // namespace gist

#endif // GIST_PASSES_KERNEL_UNUSED_H
