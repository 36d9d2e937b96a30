//===- SelectTileConfig.cpp - The pass -gist-select-tile-config -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistClusterOps.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Passes.h"
#include "passes/Target/Info/TargetInfo.h"
#include "passes/Tile/Cpu/Selection.h"
#include "passes/Tile/Gpu/GpuKernels.h"

namespace gist {
#define GEN_PASS_DEF_SELECTTILECONFIGPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// The largest multiple of `unit` up to `limit` that divides `size`, or
/// `limit` when only smaller ones than a quarter of it do.
static int64_t getDividingTile(int64_t size, int64_t unit, int64_t limit) {
  if (ShapedType::isDynamic(size))
    return limit;
  for (int64_t tile = limit; tile >= std::max(unit, limit / 4); tile -= unit)
    if (size % tile == 0)
      return tile;
  return size < limit ? llvm::divideCeilSigned(size, unit) * unit : limit;
}

/// How a product is cut. The columns of a workgroup keep its part of the
/// weight in the first cache; its rows reuse that part.
static TileAttr getMatmulTile(MLIRContext *context, const TargetInfo &target,
                              int64_t columns, int64_t unit, int64_t limit,
                              Instruction instruction) {
  MatmulShape shape =
      instruction == Instruction::Fma ? target.floatShape : target.integerShape;
  return TileAttr::get(
      context, {shape.workgroupRows, getDividingTile(columns, unit, limit)},
      {shape.registerRows, shape.registerColumns}, target.lanes, instruction);
}

/// Whether attention has many queries, in numbers that lose little in bf16, and
/// heads that fill operands of two by four.
static bool isPairable(Operation *anchor) {
  RankedTensorType query, key, value;
  if (auto op = dyn_cast<AttentionOp>(anchor))
    std::tie(query, key, value) =
        std::tuple(op.getQuery().getType(), op.getKey().getType(),
                   op.getValue().getType());
  else if (auto op = dyn_cast<ClusterAttentionOp>(anchor))
    std::tie(query, key, value) =
        std::tuple(op.getQuery().getType(), op.getKeys().getType(),
                   op.getValues().getType());
  else
    return false;
  return query.isDynamicDim(0) && !key.getElementType().isF32() &&
         key.getShape().back() % 8 == 0 && value.getShape().back() % 8 == 0;
}

/// `isReduced` says that the module multiplies in 8 bits: then attention need
/// not be more exact than bf16.
static TileAttr selectTile(func::FuncOp kernel, const TargetInfo &target,
                           bool isReduced) {
  MLIRContext *context = kernel.getContext();
  Operation *anchor = getAnchor(kernel);
  if (auto op = dyn_cast_or_null<QuantizedMatmulOp>(anchor)) {
    PackingAttr packing = op.getPackedAttr();
    return getMatmulTile(
        context, target, op.getType().getDimSize(1),
        packing ? packing.getColumns() : 1,
        op.getType().getDimSize(0) == 1 ? target.columnsOfOneRow
                                        : target.integerShape.workgroupColumns,
        packing ? target.integerInstruction : Instruction::Widen);
  }
  if (anchor && isReduced && isPairable(anchor) &&
      target.attentionInstruction == Instruction::Bfmmla)
    return TileAttr::get(context, {target.attention.queries, 1},
                         {8, target.attention.keys}, target.lanes,
                         Instruction::Bfmmla);
  if (isa_and_nonnull<AttentionOp, ClusterAttentionOp>(anchor) ||
      findAttend(kernel))
    return TileAttr::get(
        context, {target.attention.queries, 1},
        {target.floatShape.registerRows, target.attention.keys}, target.lanes,
        Instruction::Fma);
  if (anchor) {
    auto type = cast<RankedTensorType>(anchor->getResult(0).getType());
    return getMatmulTile(context, target, type.getDimSize(1),
                         target.floatShape.registerColumns,
                         target.floatShape.workgroupColumns, Instruction::Fma);
  }
  return TileAttr::get(context, {target.rows}, {1}, target.lanes,
                       Instruction::Fma);
}

namespace {
struct SelectTileConfigPass final
    : gist::impl::SelectTileConfigPassBase<SelectTileConfigPass> {
  using Base::Base;

  void runOnOperation() override {
    if (gram != "exact" && gram != "fp8") {
      getOperation().emitError("gram is exact or fp8, not ") << gram;
      return signalPassFailure();
    }
    if (target != "cpu")
      return selectForGpu();
    if (gram == "fp8") {
      getOperation().emitError("gram=fp8 is for GPUs that multiply f8E4M3FNUZ; "
                               "CPUs compare rows as they are");
      return signalPassFailure();
    }
    FailureOr<TargetInfo> info =
        getTargetInfo({triple, cpu, features}, [&](const Twine &message) {
          getOperation().emitError(message);
        });
    if (failed(info))
      return signalPassFailure();
    auto kernels = llvm::make_filter_range(
        getOperation().getOps<func::FuncOp>(), isKernel);
    bool isReduced = llvm::any_of(kernels, [](func::FuncOp kernel) {
      return isa_and_nonnull<QuantizedMatmulOp>(getAnchor(kernel));
    });
    for (func::FuncOp kernel : kernels)
      if (!kernel->hasAttr(kTileAttr))
        kernel->setAttr(kTileAttr, selectTile(kernel, *info, isReduced));
  }

private:
  void selectForGpu() {
    const GpuInfo *gpu = getGpuInfo(target);
    if (!gpu) {
      getOperation().emitError("unknown target: ") << target;
      return signalPassFailure();
    }
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!isKernel(kernel) || kernel->hasAttr(kTileAttr))
        continue;
      GpuTileAttr tile = selectGpuTile(kernel, *gpu, gram == "fp8");
      if (!tile)
        return signalPassFailure();
      kernel->setAttr(kTileAttr, tile);
    }
  }
};
} // namespace
