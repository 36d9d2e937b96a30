//===- Attend.cpp - Attention on representatives on GPUs ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Tile/Gpu/Attention/AttendParts.h"
#include "passes/Tile/Gpu/Attention/Attention.h"
#include "passes/Tile/Gpu/Core/SharedSteps.h"

using namespace mlir;
using namespace gist;

static LogicalResult verifyAttend(AttendOp op) {
  if (!op.getSelection().getDefiningOp<PackSelectionOp>())
    return op.emitOpError("expects a selection made of tensors");
  if (op.getOffsets())
    return op.emitOpError(
        "reads a ragged batch, for which there is no GPU kernel");
  if (op.getKey().getType().getDimSize(2) % 8 != 0 ||
      op.getValue().getType().getDimSize(2) % 8 != 0)
    return op.emitOpError(
        "has heads of a size for which there is no GPU kernel");
  return success();
}

FailureOr<GpuGrid> gist::emitAttend(GpuKernel &kernel, AttendOp op) {
  if (op.getMode() == AttendMode::Copy)
    emitAttendCopy(kernel, op);
  else if (failed(emitAttendKeys(kernel, op)))
    return failure();
  if (kernel.emitter.hasFailed())
    return failure();
  FailureOr<AffineExpr> tokens =
      getSizeExpr(kernel.source, kernel.emitter.getWrittenSizes(0)[0]);
  if (failed(tokens))
    return failure();
  AffineExpr kvHeads =
      kernel.b.getAffineConstantExpr(op.getKey().getType().getDimSize(1));
  int64_t group = op.getQuery().getType().getDimSize(1) /
                  op.getKey().getType().getDimSize(1);
  int64_t rows = kernel.getTile<GpuAttentionAttr>().getRows();
  if (op.getMode() == AttendMode::Copy || !op.getCausal())
    return GpuGrid{(*tokens * group).ceilDiv(rows), kvHeads};
  return GpuGrid{kernel.b.getAffineConstantExpr(
                     llvm::divideCeil(*op.getBlock() * group, rows)),
                 tokens->ceilDiv(*op.getBlock()), kvHeads};
}

/// What means of clusters are made in (AttendMeans.h).
static FailureOr<KernelScratch> getAttendScratch(func::FuncOp kernel) {
  auto op = findRoot<AttendOp>(kernel);
  auto pack = op.getSelection().getDefiningOp<PackSelectionOp>();
  KernelScratch scratch;
  if (!pack || op.getMode() != AttendMode::Keys ||
      op.getEffectiveMerge() != Merge::Mean)
    return scratch;
  Value nearest = pack.getNearest();
  for (Value rows : {Value(op.getKey()), Value(op.getValue()), nearest, nearest,
                     nearest, nearest}) {
    FailureOr<SmallVector<AffineExpr>> sizes = getSizeExprs(kernel, rows);
    if (failed(sizes))
      return failure();
    scratch.tensors.push_back({*sizes, getElementTypeOrSelf(rows)});
  }
  scratch.controlWords = kStepWords;
  return scratch;
}

//===----------------------------------------------------------------------===//
// The kind
//===----------------------------------------------------------------------===//

namespace gist {
extern const GpuKernelEntry kGpuAttendKernel;
} // namespace gist

const GpuKernelEntry gist::kGpuAttendKernel = {
    .choose = [](func::FuncOp kernel, const GpuInfo &gpu,
                 const GpuChoices &) -> GpuTileInterface {
      return selectAttendTile(findRoot<AttendOp>(kernel), gpu);
    },
    .emit = [](GpuKernel &kernel) -> FailureOr<GpuGrid> {
      return emitAttend(kernel, findRoot<AttendOp>(kernel.source));
    },
    .verify = [](func::FuncOp kernel, const GpuInfo &gpu) -> LogicalResult {
      auto op = findRoot<AttendOp>(kernel);
      if (failed(verifyAttend(op)))
        return failure();
      return verifyAttentionTile(kernel, op.getKey().getType(),
                                 op.getValue().getType(),
                                 op.getOutput().getType(), gpu);
    },
    .scratch = getAttendScratch,
};
