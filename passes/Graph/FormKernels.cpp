//===- FormKernels.cpp - The pass -gist-form-kernels ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order matters. Ops that become kernels by a rule of their own go first;
// what is left is grouped. A group may hold ops that the others have left
// behind, such as the levels of gates.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistClusterOps.h"
#include "dialect/GistNames.h"
#include "dialect/GistOps.h"
#include "dialect/GistTargetAttrs.h"
#include "dialect/GpuInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Graph/BatchClusterUpdates.h"
#include "passes/Graph/OutlineAttends.h"
#include "passes/Graph/OutlineCollectives.h"
#include "passes/Graph/OutlineExperts.h"
#include "passes/Graph/OutlineGated.h"
#include "passes/Graph/OutlineKernel.h"
#include "passes/Graph/OutlineSamples.h"
#include "passes/Graph/OutlineSelections.h"
#include "passes/Graph/PadHeads.h"
#include "passes/Graph/SplitOutputs.h"
#include "passes/Kernel/KernelKinds.h"
#include "passes/Kernel/Unused.h"
#include "passes/Passes.h"

namespace gist {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;

/// An update in place must be the last to read what it overwrites.
/// A kernel that writes into the cache does so in place. A later reader of the
/// old value would see the new one.
/// isBeforeInBlock is enough: functions have one block here.
static LogicalResult verifyUpdates(func::FuncOp function) {
  auto isLost = [](tensor::InsertSliceOp insert) {
    return llvm::any_of(insert.getDest().getUsers(), [&](Operation *user) {
      return user != insert && insert->isBeforeInBlock(user);
    });
  };
  for (auto insert : function.getOps<tensor::InsertSliceOp>())
    if (gist::getUpdatedArgument(insert.getDest()) && isLost(insert))
      return insert.emitOpError("overwrites rows of the cache that are read "
                                "later under its old value");
  return success();
}

/// Readers look through slices, but a result is a buffer of its own: ordinary
/// kernels copy returned slices there.
static void copyReturnedSlices(func::FuncOp function) {
  Operation *end = function.front().getTerminator();
  for (OpOperand &result : end->getOpOperands()) {
    if (!gist::isSlice(result.get()))
      continue;
    OpBuilder builder(end);
    Location location = result.get().getLoc();
    auto type = cast<RankedTensorType>(result.get().getType());
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, location, result.get());
    SmallVector<OpFoldResult> zeros(type.getRank(), builder.getIndexAttr(0));
    SmallVector<OpFoldResult> ones(type.getRank(), builder.getIndexAttr(1));
    Value empty = tensor::EmptyOp::create(builder, location, sizes,
                                          type.getElementType());
    result.set(tensor::InsertSliceOp::create(builder, location, result.get(),
                                             empty, zeros, sizes, ones));
  }
}

/// Resolves sizes to the function's arguments and calls. Otherwise ops that are
/// now inside kernels would stay alive for a tensor.dim of their result.
static LogicalResult resolveSizes(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  return applyPatternsGreedily(function, std::move(patterns));
}

namespace {
struct FormKernelsPass final
    : gist::impl::FormKernelsPassBase<FormKernelsPass> {
  void runOnOperation() override {
    gist::KernelTable table(getOperation());
    // On a GPU a launch costs more than the repeated work that saves it.
    auto target =
        getOperation()->getAttrOfType<gist::GpuTargetAttr>(gist::kTargetAttr);
    const gist::GpuInfo *gpu =
        target ? gist::getGpuInfo(target.getName()) : nullptr;
    bool isShared = getOperation()->hasAttr(gist::kSharedStateAttr);
    // A copy of the list, because outlining adds functions to the module.
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      if (function.isExternal() || function->hasAttr(gist::kKernelAttr))
        continue;
      // Groups are formed within a block.
      if (failed(gist::verifyStraightLine(function)))
        return signalPassFailure();
      gist::eraseUnused(function.front());
      copyReturnedSlices(function);
      // Programs that share their state do not expect tokens to be absorbed at
      // the end of a call.
      gist::batchClusterUpdates(function, {.readsOwnRows = gpu != nullptr,
                                           .spansCalls = gpu && !isShared});
      if (gpu) {
        gist::splitOutputs(function, *gpu);
      } else {
        gist::padHeads(function);
      }
      gist::outlineCollectives(function);
      if (failed(verifyUpdates(function)) ||
          failed(gist::outlineSelections(function, table)))
        return signalPassFailure();
      gist::outlineGatedProjections(function, table);
      gist::outlineExperts(function, table);
      gist::outlineAttends(function, table);
      gist::outlineSamples(function, table);
      // Groups hold pointers to ops. Cutting one out erases none of another.
      for (const gist::KernelGroup &group :
           gist::formKernelGroups(function, gpu))
        if (failed(table.outline(group)))
          return signalPassFailure();
      if (failed(resolveSizes(function)))
        return signalPassFailure();
    }
  }
};
} // namespace
