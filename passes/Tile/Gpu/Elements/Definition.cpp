//===- Definition.cpp - Kernels by the definition of their ops ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/Decompose.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Tile/Gpu/Elements/GpuKernel.h"
#include "passes/Tile/Gpu/Elements/RowReductions.h"

using namespace mlir;
using namespace gist;

/// Replaces ops that nothing here computes by their definitions.
static LogicalResult decompose(func::FuncOp kernel) {
  SmallVector<Operation *> ops;
  Operation *blocks = getWrittenBlocks(kernel);
  for (Operation &op : kernel.getBody().front())
    if (isa<GistDialect>(op.getDialect()) &&
        !isa<DequantizeOp, AttentionOp>(op) && &op != blocks)
      ops.push_back(&op);
  if (ops.empty())
    return success();
  RewritePatternSet patterns(kernel.getContext());
  populateDecomposePatterns(patterns);
  GreedyRewriteConfig config;
  // Patterns would otherwise also take the two that the emitter knows.
  config.setStrictness(GreedyRewriteStrictness::ExistingOps);
  return applyOpPatternsGreedily(ops, std::move(patterns), config);
}

FailureOr<GpuGrid> gist::emitDefinition(GpuKernel &kernel) {
  if (failed(decompose(kernel.source)))
    return failure();
  return emitRows(kernel);
}

//===----------------------------------------------------------------------===//
// The kind
//===----------------------------------------------------------------------===//

namespace gist {
extern const GpuKernelEntry kGpuRowsKernel;
} // namespace gist

const GpuKernelEntry gist::kGpuRowsKernel = {
    .choose = [](func::FuncOp kernel, const GpuInfo &gpu, const GpuChoices &)
        -> GpuTileInterface { return selectRowsTile(kernel, gpu); },
    .emit = emitDefinition,
    .verify = [](func::FuncOp kernel, const GpuInfo &) -> LogicalResult {
      return expectTile<GpuRowsAttr>(kernel);
    },
};
