//===- TileAndDistribute.cpp - The pass -gist-tile-and-distribute ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products and attention are tiled from the last op of the kernel, and what it
// reads is computed tile by tile with it. Kernels on whole rows need no tiling
// interface: their body runs on slices of the arguments instead.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Passes.h"
#include "passes/Tile/Cpu/CpuKernel.h"

namespace gist {
#define GEN_PASS_DEF_TILEANDDISTRIBUTEPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

func::ReturnOp gist::getReturn(func::FuncOp kernel) {
  return cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
}

BlockArgument gist::getDestination(func::FuncOp kernel, unsigned number) {
  unsigned first = kernel.getNumArguments() - kernel.getNumResults();
  return kernel.getArgument(first + number);
}

/// Writes the grid of a kernel whose work is `forall`. Its last dimension is
/// the slowest: neighbouring workgroups share columns of a weight.
static LogicalResult setGrid(func::FuncOp kernel, scf::ForallOp forall) {
  SmallVector<AffineExpr> grid;
  if (forall)
    for (auto [lower, upper, step] :
         llvm::zip_equal(forall.getMixedLowerBound(),
                         forall.getMixedUpperBound(), forall.getMixedStep())) {
      FailureOr<AffineExpr> expr = getSizeExpr(kernel, upper);
      std::optional<int64_t> tile = getConstantIntValue(step);
      if (failed(expr) || !tile || !isConstantIntValue(lower, 0))
        return kernel.emitError(
            "has a grid whose size does not follow from its arguments");
      // Canonicalisation drops a dimension of one workgroup from the loop.
      if (expr->ceilDiv(*tile) == 1)
        continue;
      grid.push_back(expr->ceilDiv(*tile));
    }
  kernel->setAttr(kGridAttr, getGridAttr(kernel, grid));
  return success();
}

static LogicalResult distribute(func::FuncOp kernel) {
  const CpuKernelEntry *entry = getCpuKernelEntry(kernel);
  if (!entry)
    return failure();
  if (failed(entry->verify(kernel)))
    return failure();
  IRRewriter rewriter(kernel.getContext());
  FailureOr<scf::ForallOp> forall = entry->distribute(rewriter, kernel);
  if (failed(forall))
    return failure();
  // Only destinations are written: others may read the inputs after us.
  unsigned inputs =
      kernel.getNumArguments() - getKernelAttr(kernel).getOutputs();
  for (unsigned i = 0; i < inputs; ++i)
    if (isa<TensorType>(kernel.getArgument(i).getType()))
      kernel.setArgAttr(i, "bufferization.writable",
                        rewriter.getBoolAttr(false));
  return setGrid(kernel, *forall);
}

namespace {
struct TileAndDistributePass final
    : gist::impl::TileAndDistributePassBase<TileAndDistributePass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (isKernel(kernel) && failed(distribute(kernel)))
        return signalPassFailure();
  }
};
} // namespace
