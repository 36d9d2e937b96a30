//===- Kernels.h - Kernel functions and how ops become vectors --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel function (dialect/GistProgramOps.td) gains, in this order,
//
//   gist.tile = #gist.cpu_rows<…>   what -gist-select-tile-config chose: an
//                                   attribute of the family that the kernel is
//                                   cut by (dialect/GistTileAttrs.td)
//   gist.grid = [map, …]            up to three sizes of its grid, x first
//                                   (sizes left out are 1), as functions of the
//                                   kernel's numbers in the order of their
//                                   slots: s0, s1, … are the index arguments,
//                                   then the dynamic sizes of the tensor
//                                   arguments
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_KERNEL_KERNELS_H
#define GIST_PASSES_KERNEL_KERNELS_H

#include "dialect/GistKernelAttrs.h"
#include "dialect/GistOps.h"
#include "dialect/GistTileAttrs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace gist {

/// True if `op` is a kernel function.
inline bool isKernel(mlir::Operation *op) { return op->hasAttr(kKernelAttr); }

/// The choice made for the CPU kernel around `op`, or null.
CpuTileInterface getKernelTile(mlir::Operation *op);

/// Reports that `kernel` has no tile, or one that is not of these families.
/// Always fails. A tile can come from a file, so it may be of any family.
mlir::LogicalResult refuseTile(mlir::func::FuncOp kernel,
                               llvm::ArrayRef<llvm::StringRef> families);

/// Whether `kernel` has a tile of one of the families `Tiles`; reports if not.
template <typename... Tiles>
mlir::LogicalResult expectTile(mlir::func::FuncOp kernel) {
  if (mlir::isa_and_nonnull<Tiles...>(kernel->getAttr(kTileAttr)))
    return mlir::success();
  return refuseTile(kernel, {llvm::StringRef(Tiles::name)...});
}

/// `size` as a function of the numbers of `kernel`, a function on tensors, in
/// the order of their slots; fails if they do not give it.
mlir::FailureOr<mlir::AffineExpr> getSizeExpr(mlir::func::FuncOp kernel,
                                              mlir::OpFoldResult size);

/// The sizes of `tensor`, a value in `kernel`, likewise; an error at the kernel
/// where its numbers do not give one.
mlir::FailureOr<llvm::SmallVector<mlir::AffineExpr>>
getSizeExprs(mlir::func::FuncOp kernel, mlir::Value tensor);

/// `gist.grid` of these sizes, x first, each a function of the numbers of
/// `kernel`.
mlir::ArrayAttr getGridAttr(mlir::func::FuncOp kernel,
                            llvm::ArrayRef<mlir::AffineExpr> sizes);

/// True for a product of rows with the rows of a weight: y = x W^T, of floats
/// up to f32. The initial value of the sums is not checked.
bool isTransposedMatmul(mlir::linalg::LinalgOp op);

/// The last such product in `kernel`, or null.
mlir::linalg::LinalgOp findTransposedMatmul(mlir::func::FuncOp kernel);

/// The block argument that `value` is an updated version of: the KV cache, or
/// null.
/// An argument is its own updated version. Looks through writes in place only:
/// a value that is copied has memory of its own.
mlir::BlockArgument getUpdatedArgument(mlir::Value value);

/// Whether `value` is a slice, perhaps reshaped.
bool isSlice(mlir::Value value);

} // namespace gist

#endif // GIST_PASSES_KERNEL_KERNELS_H
