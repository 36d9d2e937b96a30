//===- GridOrder.cpp - Kernels that begin before others are over ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Core/GridOrder.h"
#include "dialect/GistLaunchNames.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace gist;

using Action = NVVM::GridDepActionKind;

bool gist::isConstant(Value tensor) {
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    auto kernel = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    // Numbers are arguments of the launch; no kernel before writes them.
    return kernel && (tensor.getType().isIndex() ||
                      kernel.getArgAttr(argument.getArgNumber(),
                                        kConstantArgAttr) != nullptr);
  }
  Operation *op = tensor.getDefiningOp();
  return op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), isConstant);
}

void gist::waitForGrids(GpuBuilder &b) {
  if (b.getGpu().kind == GpuKind::Nvidia)
    NVVM::GriddepcontrolOp::create(b, Action::wait);
}

void gist::letGridsStart(GpuBuilder &b) {
  if (b.getGpu().kind == GpuKind::Nvidia)
    NVVM::GriddepcontrolOp::create(b, Action::launch_dependents);
}

void gist::orderGrids(GpuBuilder &b, func::FuncOp function,
                      ArrayRef<AffineExpr> grid) {
  if (b.getGpu().kind != GpuKind::Nvidia ||
      !llvm::all_of(grid, llvm::IsaPred<AffineConstantExpr>))
    return;
  Block &entry = function.getBody().front();
  auto has = [&](Action action) {
    return function
        .walk([&](NVVM::GriddepcontrolOp op) {
          return op.getKind() == action ? WalkResult::interrupt()
                                        : WalkResult::advance();
        })
        .wasInterrupted();
  };
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&entry);
  // Both stand at the beginning unless the kernel has put them elsewhere:
  // others may start at once, and nothing is read before the wait.
  if (!has(Action::launch_dependents))
    letGridsStart(b);
  if (!has(Action::wait))
    waitForGrids(b);
  function->setAttr(kWaitsAttr, b.getUnitAttr());
}
