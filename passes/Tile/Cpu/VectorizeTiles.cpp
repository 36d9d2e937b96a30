//===- VectorizeTiles.cpp - The pass -gist-vectorize-tiles ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/Decompose.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ArmNeon/ArmNeonDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Kernel/ScaledRows.h"
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

namespace {
/// Hears why a lowering refuses an op.
struct ReasonListener final : RewriterBase::Listener {
  void notifyMatchFailure(Location location,
                          function_ref<void(Diagnostic &)> getReason) override {
    Diagnostic diagnostic(location, DiagnosticSeverity::Remark);
    getReason(diagnostic);
    reason = diagnostic.str();
  }

  std::string reason;
};
} // namespace

/// Whether `op` is attention, or takes a part of its operand for it.
static bool isForAttention(Operation *op) {
  return isa<AttentionOp>(op) || (isa<tensor::ExtractSliceOp>(op) &&
                                  llvm::any_of(op->getUsers(), isForAttention));
}

/// Lowers `op`; fails where it has no kernel, or not in this form.
static LogicalResult lowerOp(RewriterBase &rewriter, Operation *op) {
  rewriter.setInsertionPoint(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](QuantizeRowsOp op) { return lowerQuantizeRows(rewriter, op); })
      .Case([&](QuantizedMatmulOp op) {
        return lowerQuantizedMatmul(rewriter, op);
      })
      .Case(
          [&](GuardedMatmulOp op) { return lowerGuardedMatmul(rewriter, op); })
      .Case([&](AttentionOp op) { return lowerAttention(rewriter, op); })
      .Case([&](ClusterAttentionOp op) {
        return lowerClusterAttention(rewriter, op);
      })
      .Case([&](linalg::LinalgOp op) -> LogicalResult {
        // Attention reads the integers and applies their scales.
        if (getScaledRows(op) && llvm::any_of(op->getUsers(), isForAttention))
          return rewriter.notifyMatchFailure(op, "its reader computes it");
        return isTransposedMatmul(op) ? lowerMatmul(rewriter, op)
                                      : lowerRowwise(rewriter, op);
      })
      .Default([&](Operation *op) {
        return rewriter.notifyMatchFailure(op, "there is no kernel for it");
      });
}

/// Lowers what can be, and says in a remark why the others cannot. Ops of other
/// dialects than ours are tried again later: `isLast` says that they are not.
static void lowerAll(func::FuncOp kernel, bool isLast) {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (isa<linalg::LinalgOp>(op) ||
        isa_and_nonnull<GistDialect>(op->getDialect()))
      ops.push_back(op);
  });
  ReasonListener listener;
  IRRewriter rewriter(kernel.getContext(), &listener);
  for (Operation *op : ops) {
    listener.reason.clear();
    if (succeeded(lowerOp(rewriter, op)) ||
        (!isLast && isa<linalg::LinalgOp>(op)))
      continue;
    remark::missed(op->getLoc(), remark::RemarkOpts::name("NotVectorized")
                                     .category("gist-vectorize-tiles"))
        << (op->getName().getStringRef() + ": " +
            (listener.reason.empty() ? "its sizes are not known"
                                     : listener.reason))
               .str();
  }
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
    // Kernels first: the definitions would take apart what they look for.
    lowerAll(kernel, /*isLast=*/false);
    // What has no kernel of its own runs by its definition.
    RewritePatternSet patterns(&getContext());
    populateDecomposePatterns(patterns);
    if (failed(applyPatternsGreedily(kernel, std::move(patterns))))
      return signalPassFailure();
    lowerAll(kernel, /*isLast=*/true);
  }
};
} // namespace
