//===- DistributeTail.cpp - Products and attention, tile by tile ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "passes/Kernel/Dimensions.h"
#include "passes/Tile/Cpu/CpuKernel.h"

using namespace mlir;
using namespace gist;

/// Lets every loop result that leaves the kernel be written into its
/// destination.
static void useDestinations(func::FuncOp kernel) {
  for (auto [number, operand] :
       llvm::enumerate(getReturn(kernel)->getOperands())) {
    auto forall = operand.getDefiningOp<scf::ForallOp>();
    if (!forall)
      continue;
    OpOperand &init =
        forall.getOutputsMutable()[cast<OpResult>(operand).getResultNumber()];
    if (init.get().getDefiningOp<tensor::EmptyOp>())
      init.set(getDestination(kernel, number));
  }
}

/// Takes sizes of results from operands, where the op has no destination to
/// ask: a grid follows from arguments, and no untiled op is kept for its size
/// alone.
static void resolveSizes(RewriterBase &rewriter, func::FuncOp kernel) {
  kernel.walk([&](tensor::DimOp dim) {
    auto op = dim.getSource().getDefiningOp<ReifyRankedShapedTypeOpInterface>();
    if (!op || isa<DestinationStyleOpInterface>(op.getOperation()) ||
        !getDimension(dim))
      return;
    rewriter.setInsertionPoint(dim);
    ReifiedRankedShapedTypeDims shapes;
    if (failed(reifyResultShapes(rewriter, op, shapes)))
      return;
    unsigned number = cast<OpResult>(dim.getSource()).getResultNumber();
    OpFoldResult size = shapes[number][*getDimension(dim)];
    rewriter.replaceOp(
        dim, getValueOrCreateConstantIndexOp(rewriter, dim.getLoc(), size));
  });
}

FailureOr<scf::ForallOp> gist::distributeTail(RewriterBase &rewriter,
                                              func::FuncOp kernel,
                                              ArrayRef<int64_t> workgroup) {
  auto tail = getReturn(kernel)->getOperand(0).getDefiningOp<TilingInterface>();
  if (!tail)
    return kernel.emitError("ends in an op that cannot be tiled");
  SmallVector<OpFoldResult> sizes;
  size_t loops = tail.getLoopIteratorTypes().size();
  for (size_t i = 0; i < loops; ++i)
    sizes.push_back(
        rewriter.getIndexAttr(i < workgroup.size() ? workgroup[i] : 0));
  // Behind another op, attention is cut by queries alone: which heads a tile
  // needs is not known when it is fused.
  if (getKernelKind(kernel) == KernelKind::Attention && !isa<AttentionOp>(tail))
    for (size_t i = 1; i < loops; ++i)
      sizes[i] = rewriter.getIndexAttr(0);

  scf::SCFTileAndFuseOptions options;
  options.tilingOptions.setTileSizes(sizes);
  options.tilingOptions.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  rewriter.setInsertionPoint(tail);
  FailureOr<scf::SCFTileAndFuseResult> result =
      scf::tileConsumerAndFuseProducersUsingSCF(rewriter, tail, options);
  if (failed(result) || result->loops.size() != 1)
    return tail->emitOpError("cannot be tiled");
  for (auto [old, replacement] : result->replacements)
    rewriter.replaceAllUsesWith(old, replacement);
  resolveSizes(rewriter, kernel);
  auto forall = cast<scf::ForallOp>(result->loops.front());
  useDestinations(kernel);
  return forall;
}
