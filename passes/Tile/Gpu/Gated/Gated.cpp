//===- Gated.cpp - Gated projections of a few tokens ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How such kernels are chosen and cut. GatedKernel.h writes them.
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Gated/Gated.h"
#include "passes/Kernel/GatedProjection.h"
#include "passes/Tile/Gpu/Core/SharedSteps.h"
#include "passes/Tile/Gpu/Gated/GatedKernel.h"

using namespace mlir;
using namespace gist;

GatedProjectionOp gist::getGatedProjection(func::FuncOp kernel) {
  for (auto op : kernel.getOps<GatedProjectionOp>()) {
    int64_t tokens = op.getInput().getType().getDimSize(0);
    if (!ShapedType::isDynamic(tokens) && tokens <= kGatedTokens)
      return op;
  }
  return {};
}

FailureOr<GpuGrid> gist::emitGated(GpuKernel &kernel, GatedProjectionOp op) {
  for (Value operand : op->getOperands())
    if (!cast<RankedTensorType>(operand.getType()).hasStaticShape())
      return op.emitOpError(
                 "expects static sizes where there are few tokens, got ")
             << operand.getType();
  return GatedKernel(kernel, op).emit();
}

/// Two workgroups per compute unit: while one waits for the others, or for its
/// last rows, the other has loads in flight.
static constexpr int64_t kThreads = 512, kWorkgroupsOfUnit = 2;
/// The columns of a workgroup are a multiple of this, which its waves share
/// evenly.
static constexpr int64_t kColumnStep = 16;
/// While one piece of a row is multiplied, the next is loaded.
static constexpr int64_t kSteps = 2;

GpuGatedAttr gist::selectGatedTile(GatedProjectionOp op, const GpuInfo &gpu) {
  int64_t most = 0;
  for (Value output : op.getOutputs())
    most =
        std::max(most, cast<RankedTensorType>(output.getType()).getDimSize(1));
  int64_t workgroups = std::min<int64_t>(kWorkgroupsOfUnit * gpu.computeUnits,
                                         GatedKernel::kMaxItems);
  int64_t columns = std::max<int64_t>(
      llvm::alignTo(llvm::divideCeil(most, workgroups), kColumnStep),
      kColumnStep);
  return GpuGatedAttr::get(op.getContext(), columns, kThreads / gpu.waveSize,
                           kSteps);
}

static FailureOr<KernelScratch> getGatedScratch(func::FuncOp kernel) {
  KernelScratch scratch;
  GatedProjectionOp op = getGatedProjection(kernel);
  // What sizes there must be is verified when the kernel is written.
  if (!op || !op.getBasis().getType().hasStaticShape() ||
      !op.getInput().getType().hasStaticShape())
    return scratch;
  MLIRContext *context = kernel.getContext();
  scratch.tensors.push_back(
      {{getAffineConstantExpr(GatedKernel::getScratchWords(op), context)},
       Float32Type::get(context)});
  scratch.controlWords = kStepWords;
  return scratch;
}

//===----------------------------------------------------------------------===//
// The kind
//===----------------------------------------------------------------------===//

namespace gist {
extern const GpuKernelEntry kGpuGatedKernel;
} // namespace gist

const GpuKernelEntry gist::kGpuGatedKernel = {
    // More tokens run by the definition: the graph stage makes products of
    // them.
    .choose = [](func::FuncOp kernel, const GpuInfo &gpu,
                 const GpuChoices &) -> GpuTileInterface {
      if (GatedProjectionOp op = getGatedProjection(kernel))
        return selectGatedTile(op, gpu);
      return selectRowsTile(kernel, gpu);
    },
    .emit = [](GpuKernel &kernel) -> FailureOr<GpuGrid> {
      GatedProjectionOp op = getGatedProjection(kernel.source);
      return op ? emitGated(kernel, op) : emitDefinition(kernel);
    },
    .verify = [](func::FuncOp kernel, const GpuInfo &) -> LogicalResult {
      return getGatedProjection(kernel) ? expectTile<GpuGatedAttr>(kernel)
                                        : expectTile<GpuRowsAttr>(kernel);
    },
    .scratch = getGatedScratch,
};
