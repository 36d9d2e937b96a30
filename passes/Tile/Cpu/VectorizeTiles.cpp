//===- VectorizeTiles.cpp - The pass -gist-vectorize-tiles ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/Decompose.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ArmNeon/ArmNeonDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"
#include "passes/Tile/Cpu/ClusterCache.h"
#include "passes/Tile/Cpu/LowerTiles.h"
#include "llvm/ADT/TypeSwitch.h"

namespace gist {
#define GEN_PASS_DEF_VECTORIZETILESPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// Lowers `op` where there is a kernel for it; anything else is left.
static void lowerOp(RewriterBase &rewriter, Operation *op) {
  rewriter.setInsertionPoint(op);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](QuantizeRowsOp op) { (void)lowerQuantizeRows(rewriter, op); })
      .Case([&](QuantizedMatmulOp op) {
        (void)lowerQuantizedMatmul(rewriter, op);
      })
      .Case([&](GuardedMatmulOp op) { (void)lowerGuardedMatmul(rewriter, op); })
      .Case([&](AttentionOp op) { (void)lowerAttention(rewriter, op); })
      .Case([&](ClusterAttentionOp op) {
        (void)lowerClusterAttention(rewriter, op);
      })
      .Case([&](linalg::LinalgOp op) {
        if (isTransposedMatmul(op))
          (void)lowerMatmul(rewriter, op);
        else
          (void)lowerRowwise(rewriter, op);
      });
}

static void lowerAll(func::FuncOp kernel) {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (isa<linalg::LinalgOp>(op) ||
        isa_and_nonnull<GistDialect>(op->getDialect()))
      ops.push_back(op);
  });
  IRRewriter rewriter(kernel.getContext());
  for (Operation *op : ops)
    lowerOp(rewriter, op);
}

namespace {
struct VectorizeTilesPass final
    : gist::impl::VectorizeTilesPassBase<VectorizeTilesPass> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isKernel(kernel))
      return;
    if (!getKernelTile(kernel)) {
      kernel.emitError("has no tile configuration");
      return signalPassFailure();
    }
    lowerAll(kernel);
    // What has no kernel of its own runs by its definition.
    RewritePatternSet patterns(&getContext());
    populateDecomposePatterns(patterns);
    if (failed(applyPatternsGreedily(kernel, std::move(patterns))))
      return signalPassFailure();
    lowerAll(kernel);
  }
};
} // namespace
