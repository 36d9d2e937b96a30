//===- KeepKernels.cpp - The pass -gist-keep-kernels ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistOps.h"
#include "dialect/GistPlanOps.h"
#include "dialect/GistRankOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel/RowByRow.h"
#include "passes/Passes.h"
#include "passes/Tile/MarkConstants.h"

namespace gist {
#define GEN_PASS_DEF_KEEPKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

static bool callsKernels(Operation *op) {
  return op->walk([](DispatchOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

namespace {
struct KeepKernelsPass final
    : gist::impl::KeepKernelsPassBase<KeepKernelsPass> {
  void runOnOperation() override {
    // Marks follow from the calls, which are erased below.
    markConstants(getOperation());
    markSharedLaunches(getOperation());
    for (Operation &op : llvm::make_early_inc_range(*getOperation().getBody()))
      // The runtime has the code of collectives.
      if (isa<PlanOp, HeadTableOp, ConstantWeightOp, MadeWeightOp,
              FittedWeightOp, WeightPartOp>(op) ||
          op.hasAttr(kCollectiveAttr) ||
          (isa<func::FuncOp>(op) && callsKernels(&op)))
        op.erase();
  }
};
} // namespace
