//===- CpuEntries.cpp - How kernels are cut on CPUs -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistClusterOps.h"
#include "passes/Tile/Cpu/ClusterCache.h"
#include "passes/Tile/Cpu/CpuKernel.h"
#include "passes/Tile/Cpu/Selection.h"

using namespace mlir;
using namespace gist;

namespace gist {
#define GIST_CPU_KERNEL(kind, entry) extern const CpuKernelEntry entry;
#include "passes/Tile/Cpu/CpuKernels.def"
#undef GIST_CPU_KERNEL
} // namespace gist

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static TileAttr chooseRows(func::FuncOp kernel, const TargetInfo &target,
                           const CpuChoices &) {
  return TileAttr::get(kernel.getContext(), {target.rows}, {1}, target.lanes,
                       Instruction::Fma);
}

const CpuKernelEntry gist::kCpuRowsKernel = {
    .choose = chooseRows,
    .distribute = distributeRows,
};

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

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

static TileAttr getFloatMatmulTile(Operation *product,
                                   const TargetInfo &target) {
  auto type = cast<RankedTensorType>(product->getResult(0).getType());
  return getMatmulTile(product->getContext(), target, type.getDimSize(1),
                       target.floatShape.registerColumns,
                       target.floatShape.workgroupColumns, Instruction::Fma);
}

// A contraction that is not x W^T is computed on whole rows.
const CpuKernelEntry gist::kCpuMatmulKernel = {
    .choose = [](func::FuncOp kernel, const TargetInfo &target,
                 const CpuChoices &choices) -> TileAttr {
      linalg::LinalgOp product = findTransposedMatmul(kernel);
      return product ? getFloatMatmulTile(product, target)
                     : chooseRows(kernel, target, choices);
    },
    .distribute = [](RewriterBase &rewriter, func::FuncOp kernel,
                     TileAttr tile) -> FailureOr<scf::ForallOp> {
      return findTransposedMatmul(kernel)
                 ? distributeTail(rewriter, kernel, tile)
                 : distributeRows(rewriter, kernel, tile);
    },
};

const CpuKernelEntry gist::kCpuGuardedMatmulKernel = {
    .choose = [](func::FuncOp kernel, const TargetInfo &target,
                 const CpuChoices &) -> TileAttr {
      return getFloatMatmulTile(findRoot<GuardedMatmulOp>(kernel), target);
    },
    .distribute = distributeTail,
};

const CpuKernelEntry gist::kCpuQuantizedMatmulKernel = {
    .choose = [](func::FuncOp kernel, const TargetInfo &target,
                 const CpuChoices &) -> TileAttr {
      auto op = findRoot<QuantizedMatmulOp>(kernel);
      PackingAttr packing = op.getPackedAttr();
      return getMatmulTile(
          kernel.getContext(), target, op.getType().getDimSize(1),
          packing ? packing.getColumns() : 1,
          op.getType().getDimSize(0) == 1
              ? target.columnsOfOneRow
              : target.integerShape.workgroupColumns,
          packing ? target.integerInstruction : Instruction::Widen);
    },
    .distribute = distributeTail,
};

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Whether attention has many queries, in numbers that lose little in bf16, and
/// heads that fill operands of two by four.
static bool isPairable(Operation *attention) {
  RankedTensorType query, key, value;
  if (auto op = dyn_cast<AttentionOp>(attention))
    std::tie(query, key, value) =
        std::tuple(op.getQuery().getType(), op.getKey().getType(),
                   op.getValue().getType());
  else if (auto op = dyn_cast<ClusterAttentionOp>(attention))
    std::tie(query, key, value) =
        std::tuple(op.getQuery().getType(), op.getKeys().getType(),
                   op.getValues().getType());
  else
    return false;
  return query.isDynamicDim(0) && !key.getElementType().isF32() &&
         key.getShape().back() % 8 == 0 && value.getShape().back() % 8 == 0;
}

static TileAttr getAttentionTile(MLIRContext *context,
                                 const TargetInfo &target) {
  return TileAttr::get(context, {target.attention.queries, 1},
                       {target.floatShape.registerRows, target.attention.keys},
                       target.lanes, Instruction::Fma);
}

// Dense attention, and that on a cache of clusters.
const CpuKernelEntry gist::kCpuAttentionKernel = {
    .choose = [](func::FuncOp kernel, const TargetInfo &target,
                 const CpuChoices &choices) -> TileAttr {
      MLIRContext *context = kernel.getContext();
      Operation *attention = findRoot<AttentionOp>(kernel);
      if (!attention)
        attention = findRoot<ClusterAttentionOp>(kernel);
      if (choices.isReduced && isPairable(attention) &&
          target.attentionInstruction == Instruction::Bfmmla)
        return TileAttr::get(context, {target.attention.queries, 1},
                             {8, target.attention.keys}, target.lanes,
                             Instruction::Bfmmla);
      return getAttentionTile(context, target);
    },
    .distribute = distributeTail,
};

const CpuKernelEntry gist::kCpuAttendKernel = {
    .choose = [](func::FuncOp kernel, const TargetInfo &target,
                 const CpuChoices &) -> TileAttr {
      return getAttentionTile(kernel.getContext(), target);
    },
    .distribute = [](RewriterBase &rewriter, func::FuncOp kernel,
                     TileAttr) -> FailureOr<scf::ForallOp> {
      return distributeAttend(rewriter, findRoot<AttendOp>(kernel));
    },
};

//===----------------------------------------------------------------------===//
// Selections and caches of clusters
//===----------------------------------------------------------------------===//

const CpuKernelEntry gist::kCpuSelectKernel = {
    .choose = chooseRows,
    .distribute = [](RewriterBase &rewriter, func::FuncOp kernel,
                     TileAttr) -> FailureOr<scf::ForallOp> {
      return distributeSelection(rewriter, findSelection(kernel));
    },
};

const CpuKernelEntry gist::kCpuClusterUpdateKernel = {
    .choose = chooseRows,
    .distribute = [](RewriterBase &rewriter, func::FuncOp kernel,
                     TileAttr) -> FailureOr<scf::ForallOp> {
      return distributeClusterUpdate(rewriter,
                                     findRoot<ClusterUpdateOp>(kernel));
    },
};
