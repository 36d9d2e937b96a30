//===- KernelKinds.cpp - Which op makes a kernel what it is ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/KernelKinds.h"
#include "dialect/GistClusterOps.h"
#include "dialect/GistExpertOps.h"
#include "dialect/GistIntegerOps.h"
#include "dialect/GistSamplingOps.h"
#include "dialect/GistTileOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/Kernel/HeadOutput.h"
#include "passes/Kernel/Limits.h"
#include "runtime/support/Checked.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gist;

std::optional<KernelKind> gist::getRootKind(Operation *op) {
  using Kind = std::optional<KernelKind>;
  return llvm::TypeSwitch<Operation *, Kind>(op)
      .Case([](QuantizedMatmulOp) { return KernelKind::QuantizedMatmul; })
      .Case([](GuardedMatmulOp) { return KernelKind::GuardedMatmul; })
      .Case([](ExpertMatmulOp) { return KernelKind::ExpertMatmul; })
      .Case([](QuantizedExpertMatmulOp) {
        return KernelKind::QuantizedExpertMatmul;
      })
      // What -gist-gpu-tile-products makes of a product: the kind stays.
      .Case([](TileProductOp) { return KernelKind::Matmul; })
      .Case([](ScaledMatmulOp) { return KernelKind::Matmul; })
      .Case([](AttentionOp) { return KernelKind::Attention; })
      .Case([](AttendOp) { return KernelKind::Attend; })
      .Case([](ClusterAttentionOp) { return KernelKind::ClusterAttention; })
      .Case<ClusterUpdateOp, ClusterAbsorbOp>(
          [](Operation *) { return KernelKind::ClusterUpdate; })
      .Case<GramSelectOp, CascadeUpdateOp>(
          [](Operation *) { return KernelKind::Select; })
      .Case([](GatedProjectionOp) { return KernelKind::GatedProjection; })
      .Case([](SampleOp) { return KernelKind::Sample; })
      .Case([](linalg::LinalgOp op) {
        return linalg::isaContractionOpInterface(op) ? Kind(KernelKind::Matmul)
                                                     : Kind();
      })
      .Default([](Operation *) { return Kind(); });
}

LogicalResult gist::verifyHasBody(func::FuncOp kernel) {
  if (!kernel.isExternal() && llvm::hasSingleElement(kernel.getBody()))
    return success();
  return kernel.emitOpError("is a kernel and needs a body of one block, got ")
         << kernel.getBody().getBlocks().size() << " blocks";
}

LogicalResult gist::verifyStraightLine(func::FuncOp function) {
  if (llvm::hasSingleElement(function.getBody()))
    return success();
  return function.emitOpError("expects straight-line code, got ")
         << function.getBody().getBlocks().size() << " blocks";
}

/// The error in the static sizes of `type`; empty if there is none.
static std::string findBadSize(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return "";
  int64_t elements = 1;
  for (int64_t size : shaped.getShape()) {
    if (ShapedType::isDynamic(size))
      continue;
    if (size == 0)
      return "a tensor that kernels compute or read has elements";
    if (mulOverflows(elements, size, elements) || elements > kMaxElements)
      return "a tensor has at most " + std::to_string(kMaxElements) +
             " elements";
  }
  return "";
}

static std::string findWideVector(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || vector.getNumElements() <= kMaxVector)
    return "";
  return "a vector has at most " + std::to_string(kMaxVector) + " elements";
}

/// Checks every type in `function` and reports the first error.
static LogicalResult verifyTypes(func::FuncOp function,
                                 function_ref<std::string(Type)> findWrong) {
  auto verify = [&](Operation *op, TypeRange types) -> LogicalResult {
    for (Type type : types)
      if (std::string wrong = findWrong(type); !wrong.empty())
        return op->emitError("has a ") << type << "; " << wrong;
    return success();
  };
  if (failed(verify(function, function.getArgumentTypes())))
    return failure();
  WalkResult walk = function.walk([&](Operation *op) {
    return failed(verify(op, op->getResultTypes())) ? WalkResult::interrupt()
                                                    : WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult gist::verifySizes(func::FuncOp function) {
  return verifyTypes(function, findBadSize);
}

LogicalResult gist::verifyVectors(func::FuncOp function) {
  return verifyTypes(function, findWideVector);
}

/// Operands of rank 3 are tokens x heads x head size.
static LogicalResult verifyHeads(Operation *op) {
  for (Type each : op->getOperandTypes()) {
    auto type = dyn_cast<RankedTensorType>(each);
    if (type && type.getRank() == 3 && type.getDimSize(2) > kMaxHeadSize)
      return op->emitOpError("has heads of ")
             << type.getDimSize(2) << " numbers; kernels take at most "
             << kMaxHeadSize;
  }
  return success();
}

/// True for a product that gives one row.
static bool isRowOfOne(Operation *product) {
  auto type = dyn_cast<RankedTensorType>(product->getResult(0).getType());
  return type && type.getRank() == 2 && type.getDimSize(0) == 1;
}

LogicalResult gist::verifyKernelBody(func::FuncOp kernel) {
  if (failed(verifyHasBody(kernel)) || failed(verifySizes(kernel)))
    return failure();
  KernelKind kind = getKernelKind(kernel);
  // The one kind with several products, one for each level of its gate.
  bool hasProducts = kind == KernelKind::GatedProducts;
  KernelKind expected = hasProducts ? KernelKind::Matmul : kind;
  int64_t roots = 0;
  Operation *root = nullptr, *other = nullptr, *output = nullptr;
  if (kind == KernelKind::Attention)
    for (auto attention : kernel.getOps<AttentionOp>())
      if (std::optional<HeadOutput> found = findHeadOutput(attention))
        output = found->product;
  kernel.walk([&](Operation *op) {
    // Attention may store the rows that it makes.
    if (auto update = dyn_cast<ClusterUpdateOp>(op);
        update && update.getAbsorbed() && kind == KernelKind::ClusterAttention)
      return;
    // Attention of one token may make them.
    if (isa<linalg::MatmulOp>(op) && kind == KernelKind::Attention &&
        isRowOfOne(op))
      return;
    // And multiply its heads.
    if (op == output)
      return;
    std::optional<KernelKind> found = getRootKind(op);
    if (found == expected) {
      ++roots;
      root = op;
    }
    if (found && found != expected && !other)
      other = op;
  });
  auto report = [&]() -> InFlightDiagnostic {
    return kernel.emitOpError("is a kernel of kind ")
           << stringifyKernelKind(kind);
  };
  if (other)
    return report() << ", but contains '" << other->getName()
                    << "', which makes it one of kind "
                    << stringifyKernelKind(*getRootKind(other));
  bool hasHeads = llvm::is_contained(
      {KernelKind::Attention, KernelKind::Attend, KernelKind::ClusterAttention,
       KernelKind::ClusterUpdate, KernelKind::Select},
      kind);
  if (root && hasHeads && failed(verifyHeads(root)))
    return failure();
  // A kernel without a root has the kind Rows.
  if (kind == KernelKind::Rows || (hasProducts && roots > 0) || roots == 1)
    return success();
  return report() << " and needs " << (hasProducts ? "at least one" : "one")
                  << " op of that kind, got " << roots;
}
